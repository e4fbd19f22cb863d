import type { InboundMessage } from "../../bus/messages.js";
import { isActive, type PlanState, type PlanUpdate } from "../../events/folds/plan.js";
import { isClosed } from "../../events/folds/session-state.js";
import type { ResidentSession } from "../../sessions/resident-session.js";
import { beginExecution, finishStep, type PlanChanged, resume, rollBack } from "../plan/changes.js";
import { planText } from "../plan/text.js";
import type { AgentPorts } from "../ports.js";
import { readEarlierAttempts } from "../turn/resume.js";
import { parseCommand } from "./chat-command.js";
import type { CommandOutcome, CommandScope } from "./scope.js";

/** What a plan command begins a turn with. */
export interface PlanOpening {
  /** Empty where an earlier attempt has written it. */
  readonly updates: readonly PlanUpdate[];
  /** What the model reads instead of the command. */
  readonly text: string;
}

type Word =
  | { readonly kind: "show" }
  | { readonly kind: "go" }
  | { readonly kind: "pause" }
  | { readonly kind: "continue" }
  | { readonly kind: "undo" }
  | { readonly kind: "snapshot" }
  | { readonly kind: "exit" }
  | { readonly kind: "skip"; readonly step: string }
  | { readonly kind: "enter"; readonly goal: string };

interface PlanScope {
  readonly ports: Pick<AgentPorts, "commands">;
  readonly session: Pick<ResidentSession, "plan" | "openTurn" | "document">;
  readonly message: InboundMessage;
}

const maxGoal = 1000;
const noPlan = "There is no plan here. /plan GOAL begins one.";

/** What begins work, and so is a turn of the model's; undefined for all that is answered at once, refusals included. */
export function planOpening(argument: string, scope: PlanScope): PlanOpening | undefined {
  const word = parse(argument);
  if (word.kind !== "enter" && word.kind !== "go" && word.kind !== "continue") return undefined;
  const text =
    word.kind === "enter" ? word.goal : word.kind === "go" ? "Go ahead with the plan." : "Go on with the plan.";
  const { session, message } = scope;
  if (readEarlierAttempts(session.openTurn, message.id)?.messageIds.includes(message.id)) return { updates: [], text };
  const changed = change(word, scope);
  return "updates" in changed ? { updates: changed.updates, text } : undefined;
}

/** `/plan` and what is answered at once: pause, skip, undo, snapshot, exit, and why something cannot be done. */
export function runPlanCommand(argument: string, scope: CommandScope): CommandOutcome {
  const word = parse(argument);
  const { plan } = stateOf(scope) ?? {};
  if (word.kind === "show") return { reply: plan === undefined ? noPlan : planText(plan), events: [] };
  const changed = change(word, scope);
  if ("problem" in changed) return { reply: changed.problem, events: [] };
  const after = changed.updates.at(-1)?.plan;
  const stays = word.kind === "undo" ? "\n\nWhat was done outside of the plan stays done." : "";
  return {
    reply: `${word.kind === "exit" || after === undefined ? "The plan is left." : planText(after)}${stays}`,
    events: changed.updates.map((update) => scope.log.draft("plan_updated", update)),
  };
}

/** True for a command that ends the work on this plan, so that it does not wait until that is done. */
export function endsPlan(content: string, state: PlanState | undefined): boolean {
  const command = parseCommand(content);
  if (command?.name !== "plan" || state === undefined || !isActive(state.plan)) return false;
  const { kind } = parse(command.argument);
  return kind === "pause" || kind === "exit";
}

/** True for what only shows or saves the plan, or has no plan to change. */
export function leavesPlan(argument: string, state: PlanState | undefined): boolean {
  const { kind } = parse(argument);
  if (kind === "show" || kind === "snapshot") return true;
  return kind !== "enter" && (state === undefined || (kind !== "undo" && !isActive(state.plan)));
}

function change(word: Word, scope: PlanScope): PlanChanged {
  const { ports, message } = scope;
  const state = stateOf(scope);
  const by = `${message.channel}:${message.senderId}`;
  const isOwn = state?.by === undefined || state.by === by;
  const refusal = ports.commands.mayCommand(message, "plan", isOwn);
  if (refusal !== undefined) return { problem: refusal };
  if (word.kind === "enter") return enter(word.goal, state, by);
  if (state === undefined) return { problem: noPlan };
  const { plan } = state;
  if (word.kind === "undo") return rollBack(state);
  if (!isActive(plan)) return { problem: `${noPlan} The last one is ${plan.status}.` };
  switch (word.kind) {
    case "go":
      return plan.status === "pending" ? beginExecution(plan) : resume(plan);
    case "continue":
      return resume(plan);
    case "pause":
      return plan.status === "running"
        ? { updates: [{ plan: { ...plan, status: "paused" }, change: "status_changed" }] }
        : { problem: "The plan is not running." };
    case "skip":
      return finishStep(plan, word.step === "" ? undefined : word.step, "skipped", undefined);
    case "snapshot":
      return { updates: [{ plan, change: "snapshot_taken" }] };
    case "exit":
      return { updates: [{ plan: { ...plan, status: "failed" }, change: "exited" }] };
    case "show":
      return { updates: [] };
    default:
      return word satisfies never;
  }
}

function enter(goal: string, state: PlanState | undefined, by: string): PlanChanged {
  if (state !== undefined && isActive(state.plan))
    return { problem: `A plan is under way already: ${state.plan.goal}. /plan exit leaves it.` };
  if (goal.length > maxGoal) return { problem: `A goal has at most ${maxGoal} characters; say the rest in a message.` };
  return { updates: [{ plan: { goal, status: "pending", steps: [] }, change: "entered", by }] };
}

/** A conversation that is over has no plan any more: whatever comes next begins afresh. */
function stateOf({ session }: Pick<PlanScope, "session">): PlanState | undefined {
  return isClosed(session.document.state) ? undefined : session.plan.current;
}

/** A known word alone is a command; anything else is what to plan for. */
function parse(argument: string): Word {
  const text = argument.trim();
  const skip = /^skip(?:\s+(?:step[_ ]?)?(\d+))?$/i.exec(text);
  if (skip !== null) return { kind: "skip", step: skip[1] ?? "" };
  const word = text.toLowerCase();
  switch (word) {
    case "":
    case "show":
      return { kind: "show" };
    case "go":
    case "start":
      return { kind: "go" };
    case "continue":
    case "resume":
      return { kind: "continue" };
    case "rollback":
    case "undo":
      return { kind: "undo" };
    case "exit":
    case "leave":
    case "cancel":
      return { kind: "exit" };
    case "pause":
      return { kind: "pause" };
    case "snapshot":
      return { kind: "snapshot" };
    default:
      return { kind: "enter", goal: text };
  }
}
