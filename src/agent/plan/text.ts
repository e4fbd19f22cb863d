import { isOver, type Plan, type PlanStep, type PlanUpdate } from "../../events/folds/plan.js";
import { cutText } from "../../util/text/cut-text.js";
import { currentStep } from "./changes.js";

const longestSummary = 1000;

const marks: Readonly<Record<PlanStep["status"], string>> = {
  pending: "○",
  ready: "○",
  running: "▶",
  completed: "✓",
  skipped: "–",
  failed: "✗",
};

const states: Readonly<Record<Plan["status"], string>> = {
  pending: "waits for your go",
  running: "under way",
  paused: "paused",
  completed: "done",
  failed: "given up",
};

/** What a person can do with a plan in this state. */
const hints: Readonly<Record<Plan["status"], string>> = {
  pending: "/plan go starts it, /plan exit leaves it; or say what to change.",
  running: "/plan pause stops it, /plan skip N leaves a step out.",
  paused: "/plan continue goes on, /plan exit leaves it.",
  completed: "",
  failed: "",
};

/** The whole plan for people, as Markdown. */
export function planText(plan: Plan): string {
  const { goal, status, steps } = plan;
  const lines = steps.map((step, index) => `${marks[step.status]} ${index + 1}. ${step.description}${resultOf(step)}`);
  const body = lines.length > 0 ? lines.join("\n") : "It has no steps yet.";
  return [`**Plan: ${goal}** (${states[status]}${countOf(plan)})`, body, hints[status]]
    .filter((part) => part !== "")
    .join("\n\n");
}

/**
 * One line for a chat about what a call has changed, or undefined where it is not worth one: a step that begins shows
 * in the line of the one before it.
 */
export function progressLine(updates: readonly PlanUpdate[]): string | undefined {
  const [first] = updates;
  const last = updates.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const { plan } = last;
  switch (first.change) {
    case "step_completed":
    case "step_skipped":
      return stepLine(first, plan);
    case "created":
    case "revised":
    case "rolled_back":
      // A plan that waits for its go is shown at the end of the turn, as it is then.
      return plan.status === "pending" ? undefined : planText(plan);
    case "reflected":
      return last.change === "reflected" || plan.status === "pending" ? undefined : planText(plan);
    case "status_changed":
      return `The plan is ${states[plan.status]}${first.note === undefined ? "." : `: ${first.note}`}`;
    default:
      return undefined;
  }
}

/** One line for lists of tool calls. */
export function summaryLine(updates: readonly PlanUpdate[]): string {
  const [first] = updates;
  const last = updates.at(-1);
  if (first === undefined || last === undefined) return "plan";
  const { plan } = last;
  switch (first.change) {
    case "step_completed":
    case "step_skipped":
      return stepLine(first, plan);
    case "step_started": {
      const step = plan.steps.find(({ id }) => id === first.step_id);
      return step === undefined ? "plan: step started" : `▶ ${stepNumber(plan, step)} ${step.description}`;
    }
    case "created":
    case "revised":
    case "rolled_back":
      return `plan ${first.change.replaceAll("_", " ")}: ${plan.goal}${stepsOf(plan)}`;
    case "reflected":
      return last.change === "reflected"
        ? `plan: ${first.note ?? plan.goal}`
        : `plan adjusted: ${plan.goal}${stepsOf(plan)}`;
    default:
      return `plan ${first.change.replaceAll("_", " ")}: ${plan.goal}${countOf(plan)}`;
  }
}

/** `✓ 2/5 Book the train. Next: Pack.` */
function stepLine({ plan, change, step_id }: PlanUpdate, after: Plan): string {
  const step = plan.steps.find(({ id }) => id === step_id);
  const next = currentStep(after);
  const what = step === undefined ? "" : `${stepNumber(plan, step)} ${sentence(step.description)}`;
  const then =
    after.status === "completed"
      ? " The plan is done."
      : next === undefined
        ? ""
        : ` Next: ${sentence(next.description)}`;
  return `${change === "step_completed" ? marks.completed : marks.skipped} ${what}${then}`;
}

/** What the model reads in the head of a message while the plan goes on. */
export function planForModel(plan: Plan): string {
  const lines = plan.steps.map((step) => `[${step.status}] ${step.id} ${step.description}${resultOf(step)}`);
  return `<plan status="${plan.status}">\n${plain([`Goal: ${plan.goal}`, ...lines].join("\n"))}\n${orders[plan.status]}\n</plan>`;
}

/** What the model reads as the result of a call. */
export function planResult(plan: Plan): string {
  const lines = plan.steps.map(({ id, status }) => `${id} ${status}`);
  const next = currentStep(plan);
  const then =
    plan.status !== "running" || next === undefined ? orders[plan.status] : `Now: ${next.id} ${next.description}`;
  return `Plan ${plan.status}: ${lines.join(", ")}. ${then}`;
}

const orders: Readonly<Record<Plan["status"], string>> = {
  pending:
    "Nobody has said go: only look around, and propose the steps with the plan tool (create, revise). Then show them and ask.",
  running: "Work on it step by step and complete each step with the plan tool.",
  paused: "Leave it alone until the person wants to go on.",
  completed: "It is done: tell the person the result.",
  failed: "It was given up.",
};

function stepNumber({ steps }: Plan, step: PlanStep): string {
  return `${steps.findIndex(({ id }) => id === step.id) + 1}/${steps.length}`;
}

/** All of them in one line, for those who see nothing else of it. */
function stepsOf({ steps }: Plan): string {
  const all = steps.map(({ status, description }, index) => `${marks[status]} ${index + 1}. ${description}`);
  return ` (${cutText(all.join("; "), longestSummary)})`;
}

function countOf({ steps }: Plan): string {
  return steps.length === 0 ? "" : `, ${steps.filter(isOver).length} of ${steps.length}`;
}

function resultOf({ result }: PlanStep): string {
  return result === undefined ? "" : ` → ${result}`;
}

function sentence(text: string): string {
  return /[.!?。！？]$/.test(text) ? text : `${text}.`;
}

/** Texts come from models and files: they must not be able to close a mark. */
function plain(text: string): string {
  return text.replace(/[<>]/g, " ");
}
