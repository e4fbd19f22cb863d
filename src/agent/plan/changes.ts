import {
  isActive,
  isOver,
  type Plan,
  type PlanState,
  type PlanStep,
  type PlanUpdate,
} from "../../events/folds/plan.js";
import type { PlanAdjustment, PlanRequest } from "../../tools/tool.js";
import { cutText } from "../../util/text/cut-text.js";

/** What happens to a plan: events to tell, in order, or one sentence that says why not. */
export type PlanChanged = { readonly updates: readonly PlanUpdate[] } | { readonly problem: string };

type Steps = Plan["steps"];

const maxSteps = 50;
const maxText = 500;
const noPlan = "There is no plan. Begin one with create.";

/** What a model asks for. `by`: who its turn answers. Nothing is changed by halves. */
export function changePlan(state: PlanState | undefined, request: PlanRequest, by: string): PlanChanged {
  const { action } = request;
  if (action === "create") return create(state, request, by);
  if (state === undefined || !isActive(state.plan)) return { problem: noPlan };
  const refusal = refusalOf(state.plan, action);
  if (refusal !== undefined) return { problem: refusal };
  const { plan } = state;
  switch (action) {
    case "revise":
      return revise(plan, request);
    case "start":
      return start(plan, request.step);
    case "complete":
    case "skip":
      return finishStep(plan, request.step, action === "complete" ? "completed" : "skipped", request.text);
    case "reflect":
      return reflect(plan, request);
    case "snapshot":
      return { updates: [{ plan, change: "snapshot_taken", ...noteOf(request.text) }] };
    case "rollback":
      return rollBack(state, request.text);
    case "pause":
      return { updates: [{ plan: { ...plan, status: "paused" }, change: "status_changed", ...noteOf(request.text) }] };
    case "continue":
      return resume(plan);
    case "fail":
      return fail(plan, request.text);
    default:
      return action satisfies never;
  }
}

/** Only a person can say go, and what is paused waits to be continued. */
function refusalOf({ status }: Plan, action: PlanRequest["action"]): string | undefined {
  const shapes = action === "revise" || action === "reflect" || action === "snapshot" || action === "rollback";
  if (status === "pending" && !shapes)
    return "The person has not said go yet (/plan go): show them the plan and wait for it.";
  if (status === "paused" && !shapes && action !== "continue" && action !== "fail")
    return "The plan is paused. Use continue once the person wants that.";
  return undefined;
}

/** A plan that a person asked for waits for their go; one that the model makes for itself begins at once. */
function create(state: PlanState | undefined, { goal, steps = [] }: PlanRequest, by: string): PlanChanged {
  const isEntered = state?.plan.status === "pending";
  if (!isEntered && state !== undefined && isActive(state.plan))
    return { problem: `A plan is under way: ${state.plan.goal}. Use revise to change it, or fail to give it up.` };
  const wanted = cut(goal) || (isEntered ? state.plan.goal : "");
  if (wanted === "") return { problem: "goal: say what the plan is for." };
  const texts = textsOf(steps);
  if (texts.length === 0) return { problem: "steps: name at least one." };
  if (texts.length > maxSteps) return { problem: tooMany };
  const plan: Plan = { goal: wanted, status: isEntered ? "pending" : "running", steps: numbered(texts, 1) };
  const created: PlanUpdate = { plan, change: "created", ...(isEntered ? {} : { by }) };
  return { updates: [created, ...readied(plan)] };
}

/** The person's go. */
export function beginExecution(plan: Plan): PlanChanged {
  if (plan.steps.length === 0) return { problem: "The plan has no steps yet." };
  const running: Plan = { ...plan, status: "running" };
  return { updates: [{ plan: running, change: "execution_started" }, ...readied(running)] };
}

export function resume(plan: Plan): PlanChanged {
  if (plan.status === "running") return { problem: "The plan is running already." };
  if (plan.status !== "paused") return { problem: "The plan is not paused." };
  const running: Plan = { ...plan, status: "running" };
  return { updates: [{ plan: running, change: "status_changed" }, ...advanced(running)] };
}

/** Steps as they were at the last snapshot. What was done outside of the plan stays done. */
export function rollBack({ plan, snapshots }: PlanState, note?: string): PlanChanged {
  const steps = snapshots.at(-1);
  if (steps === undefined) return { problem: "There is no snapshot to roll back to." };
  const restored: Plan = { ...plan, status: isActive(plan) ? plan.status : "paused", steps };
  return { updates: [{ plan: restored, change: "rolled_back", ...noteOf(note) }, ...advanced(restored)] };
}

export function finishStep(
  plan: Plan,
  wanted: string | undefined,
  status: "completed" | "skipped",
  result: string | undefined,
): PlanChanged {
  const step = wanted === undefined ? currentStep(plan) : findStep(plan.steps, wanted);
  if (step === undefined) return { problem: unknownStep(plan, wanted) };
  if (isOver(step)) return { problem: `${step.id} is ${step.status} already.` };
  const text = cut(result);
  const steps = replaced(plan.steps, { ...step, status, ...(text === "" ? {} : { result: text }) });
  const done: Plan = { ...plan, steps };
  const change = status === "completed" ? "step_completed" : "step_skipped";
  return { updates: [{ plan: done, change, step_id: step.id }, ...advanced(done)] };
}

function start(plan: Plan, wanted: string | undefined): PlanChanged {
  const step = wanted === undefined ? currentStep(plan) : findStep(plan.steps, wanted);
  if (step === undefined) return { problem: unknownStep(plan, wanted) };
  if (step.status !== "ready" && step.status !== "pending") return { problem: `${step.id} is ${step.status} already.` };
  const started: Plan = { ...plan, steps: replaced(plan.steps, { ...step, status: "running" }) };
  return { updates: [{ plan: started, change: "step_started", step_id: step.id }] };
}

function revise(plan: Plan, { goal, steps = [], text }: PlanRequest): PlanChanged {
  const texts = textsOf(steps);
  if (texts.length === 0) return { problem: "steps: name those that are left to do." };
  const kept = plan.steps.filter((step) => isOver(step) || step.status === "running");
  if (kept.length + texts.length > maxSteps) return { problem: tooMany };
  const revised: Plan = {
    ...plan,
    goal: cut(goal) || plan.goal,
    steps: [...kept, ...numbered(texts, nextNumber(plan.steps))],
  };
  return { updates: [{ plan: revised, change: "revised", ...noteOf(text) }, ...advanced(revised)] };
}

function reflect(plan: Plan, { text, adjust = [] }: PlanRequest): PlanChanged {
  if (cut(text) === "") return { problem: "text: say what you found." };
  const reflected: PlanUpdate = { plan, change: "reflected", ...noteOf(text) };
  if (adjust.length === 0) return { updates: [reflected] };
  let steps = plan.steps;
  for (const one of adjust) {
    const next = adjusted(steps, one);
    if (typeof next === "string") return { problem: next };
    steps = next;
  }
  if (steps.length > maxSteps) return { problem: tooMany };
  const after: Plan = { ...plan, steps };
  return { updates: [reflected, { plan: after, change: "adjusted" }, ...advanced(after)] };
}

function adjusted(steps: Steps, { step: wanted, text }: PlanAdjustment): Steps | string {
  const words = cut(text);
  if (wanted === undefined) {
    if (words === "") return "adjust: each needs a step or a text.";
    return [...steps, ...numbered([words], nextNumber(steps))];
  }
  const step = findStep(steps, wanted);
  if (step === undefined) return `adjust: there is no step ${wanted}.`;
  if (isOver(step)) return `adjust: ${step.id} is ${step.status} already.`;
  return replaced(steps, words === "" ? { ...step, status: "skipped" } : { ...step, description: words });
}

function fail(plan: Plan, text: string | undefined): PlanChanged {
  const current = currentStep(plan);
  const result = cut(text);
  const steps =
    current === undefined
      ? plan.steps
      : replaced(plan.steps, { ...current, status: "failed", ...(result === "" ? {} : { result }) });
  return { updates: [{ plan: { ...plan, status: "failed", steps }, change: "status_changed", ...noteOf(text) }] };
}

/** What follows by itself in a running plan: its end, or that the next step is ready. */
function advanced(plan: Plan): readonly PlanUpdate[] {
  if (plan.status !== "running") return [];
  return plan.steps.every(isOver) ? [{ plan: { ...plan, status: "completed" }, change: "completed" }] : readied(plan);
}

function readied(plan: Plan): readonly PlanUpdate[] {
  if (plan.status !== "running" || plan.steps.some(({ status }) => status === "ready" || status === "running"))
    return [];
  const next = plan.steps.find(({ status }) => status === "pending");
  if (next === undefined) return [];
  const steps = replaced(plan.steps, { ...next, status: "ready" });
  return [{ plan: { ...plan, steps }, change: "step_ready", step_id: next.id }];
}

/** The one under way, else the one that is ready, else the first that is left. */
export function currentStep({ steps }: Plan): PlanStep | undefined {
  return (
    steps.find(({ status }) => status === "running") ??
    steps.find(({ status }) => status === "ready") ??
    steps.find((step) => !isOver(step))
  );
}

function findStep(steps: Steps, wanted: string): PlanStep | undefined {
  return steps.find((step) => step.id === wanted.trim()) ?? steps.find((step) => isCalled(step, wanted));
}

/** `step_2`, `2`, `Step 2`. */
function isCalled({ id }: PlanStep, wanted: string): boolean {
  return id === wanted.trim() || id === `step_${/^(?:step[_ ]?)?(\d+)$/i.exec(wanted.trim())?.[1] ?? ""}`;
}

function unknownStep({ steps }: Plan, wanted: string | undefined): string {
  return wanted === undefined
    ? "No step is left."
    : `There is no step ${wanted}. Steps: ${steps.map(({ id }) => id).join(", ") || "none"}.`;
}

/** A new step is called like none that is there, nor like one that it replaces. */
function nextNumber(steps: Steps): number {
  return Math.max(0, ...steps.map(({ id }) => Number(/^step_(\d+)$/.exec(id)?.[1] ?? 0))) + 1;
}

function numbered(texts: readonly string[], from: number): PlanStep[] {
  return texts.map((description, index) => ({ id: `step_${from + index}`, description, status: "pending" }));
}

function textsOf(steps: readonly string[]): readonly string[] {
  return steps.map(cut).filter((text) => text !== "");
}

function replaced(steps: Steps, step: PlanStep): PlanStep[] {
  return steps.map((each) => (each.id === step.id ? step : each));
}

function noteOf(text: string | undefined): { readonly note?: string } {
  const note = cut(text);
  return note === "" ? {} : { note };
}

function cut(text: string | undefined): string {
  const line = (text ?? "").replace(/\s+/g, " ").trim();
  return line.length > maxText ? `${cutText(line, maxText - 1)}…` : line;
}

const tooMany = `A plan has at most ${maxSteps} steps. Put some of them together.`;
