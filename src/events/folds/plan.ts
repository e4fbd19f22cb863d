import type { Payload } from "../catalogue.js";
import type { StoredEvent } from "../event.js";

export type PlanUpdate = Payload<"plan_updated">;
export type Plan = PlanUpdate["plan"];
export type PlanStep = Plan["steps"][number];

export interface StepTimes {
  /** ISO 8601. */
  readonly startedAt?: string | undefined;
  readonly completedAt?: string | undefined;
}

/** A session's plan with what its events tell beside it. */
export interface PlanState {
  readonly plan: Plan;
  /** Who wants it: `channel:sender`. */
  readonly by: string | undefined;
  /** Where what others wrote came from while it was made or changed. */
  readonly outside?: string | undefined;
  /** Steps as they were, oldest first: what can be rolled back to. */
  readonly snapshots: readonly Plan["steps"][];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** By step id. */
  readonly times: ReadonlyMap<string, StepTimes>;
  /** Answers of the model while the plan was running. */
  readonly iterations: number;
}

const maxSnapshots = 20;

/** Somebody goes on with it, or will: it has not come to an end. */
export function isActive({ status }: Plan): boolean {
  return status === "pending" || status === "running" || status === "paused";
}

export function isOver({ status }: PlanStep): boolean {
  return status === "completed" || status === "skipped";
}

/** The plan after one more event of its session; the same object where the event changes nothing. Undo is not in it. */
export function planAfter(state: PlanState | undefined, event: StoredEvent): PlanState | undefined {
  switch (event.type) {
    case "plan_updated":
      return afterUpdate(state, event.payload, event.timestamp);
    case "session_history_changed":
      return event.payload.kind === "new" || event.payload.kind === "deletion" ? undefined : state;
    case "assistant_message":
      return state?.plan.status === "running" && event.source !== "gateway" && !event.payload.partial
        ? { ...state, iterations: state.iterations + 1 }
        : state;
    default:
      return state;
  }
}

/** A plan begins when it is entered, or created where there was none that goes on. */
function afterUpdate(state: PlanState | undefined, update: PlanUpdate, at: string): PlanState {
  const { plan, change, by, outside } = update;
  const isNew =
    state === undefined || change === "entered" || (change === "created" && state.plan.status !== "pending");
  const old = isNew ? undefined : state;
  return {
    plan,
    by: by ?? old?.by,
    outside: outside ?? old?.outside,
    snapshots: snapshotsAfter(old, update),
    createdAt: old?.createdAt ?? plan.created_at ?? at,
    updatedAt: at,
    times: new Map(plan.steps.map((step) => [step.id, timesOf(step, old?.times.get(step.id), at)])),
    iterations: old?.iterations ?? 0,
  };
}

/** What replaces steps keeps them as they were before it. */
function snapshotsAfter(old: PlanState | undefined, { plan, change }: PlanUpdate): readonly Plan["steps"][] {
  const kept = old?.snapshots ?? [];
  switch (change) {
    case "snapshot_taken":
      return [...kept, plan.steps].slice(-maxSnapshots);
    case "revised":
    case "adjusted":
      return old === undefined ? kept : [...kept, old.plan.steps].slice(-maxSnapshots);
    case "rolled_back":
      return kept.slice(0, -1);
    default:
      return kept;
  }
}

function timesOf({ status, started_at, completed_at }: PlanStep, old: StepTimes | undefined, at: string): StepTimes {
  if (status === "pending" || status === "ready") return {};
  const startedAt = started_at ?? old?.startedAt ?? at;
  return status === "running" ? { startedAt } : { startedAt, completedAt: completed_at ?? old?.completedAt ?? at };
}
