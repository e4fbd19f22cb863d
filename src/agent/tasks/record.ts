import { z } from "zod";
import type { InboundMessage } from "../../bus/messages.js";
import type { Engine } from "../../engine/engine.js";
import { textOf, type Usage } from "../../events/content.js";
import { draft, type EventDraft, type StoredEvent } from "../../events/event.js";
import type { ToolTask } from "../../tools/tool.js";
import { derivedId } from "../../util/ids.js";
import { cutText } from "../../util/text/cut-text.js";

const stored = z.object({
  id: z.string(),
  parentKey: z.string(),
  childKey: z.string(),
  /** The task that the parent itself works on, if it is a sub-agent. */
  parentTaskId: z.string().optional(),
  label: z.string(),
  /** What others had a say in its label and its task by. */
  outside: z.string().optional(),
  state: z.enum(["pending", "running", "completed", "failed"]),
  /** By its parent, who therefore need not be told. */
  wasCancelled: z.boolean(),
  /** Label of a model of its own. */
  model: z.string().optional(),
  /** What its session begins with; dropped at the end. */
  message: z.custom<InboundMessage>((value) => typeof value === "object" && value !== null).optional(),
  error: z.string().optional(),
  /** Unix ms. */
  startedAt: z.number(),
  endedAt: z.number().optional(),
});

/** A task as the engine's records keep it. */
export type TaskRecord = z.infer<typeof stored>;
export type TaskState = TaskRecord["state"];

export function parseTask(value: unknown): TaskRecord | undefined {
  return stored.safeParse(value).data;
}

export function isOver({ state }: Pick<TaskRecord, "state">): boolean {
  return state === "completed" || state === "failed";
}

/** How a sub-agent's session is at its last end of a turn. */
export type TaskOutcome =
  | { readonly state: "completed"; readonly text: string }
  | { readonly state: "failed"; readonly error: string };

/** As tools see it. */
export function toView({ id, label, state, error, wasCancelled, outside }: TaskRecord): ToolTask {
  const isLeaving = wasCancelled && state !== "completed" && state !== "failed";
  return { id, label, state, result: isLeaving ? "It is being cancelled." : error, outside };
}

const summaryLength = 300;
const labelLength = 60;
const pageSize = 200;

export function labelOf(label: string | undefined, task: string): string {
  const [line = ""] = task.trim().split("\n");
  const text = label?.trim() || line.trim();
  return text.length <= labelLength ? text : `${cutText(text, labelLength - 1)}…`;
}

/** The event that tells a parent's people of a change; always the same one for the same change. */
export function changeOf(
  { id, label, childKey, state }: TaskRecord,
  to: TaskState,
  more: { readonly outcome?: TaskOutcome; readonly usage?: Usage; readonly costUsd?: number } = {},
): EventDraft {
  const { outcome, usage, costUsd } = more;
  const payload = {
    task_id: id,
    label,
    child_session_key: childKey,
    from: to === "pending" ? ("none" as const) : state,
    to,
    ...(outcome?.state === "completed" ? { summary: cutText(outcome.text, summaryLength) } : {}),
    ...(outcome?.state === "failed" ? { error: outcome.error } : {}),
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined || costUsd === 0 ? {} : { cost_usd: costUsd }),
  };
  const drafted = draft("subagent_state_changed", payload, { source: "gateway" });
  return { ...drafted, event_id: derivedId("evt", id, to) };
}

/** Reads backwards to the last end of a turn; undefined when no turn has ended. */
export async function readOutcome(
  engine: Pick<Engine, "events" | "lastSequence">,
  sessionKey: string,
): Promise<TaskOutcome | undefined> {
  const newer: StoredEvent[] = [];
  let before = (await engine.lastSequence(sessionKey)) + 1;
  while (before > 1) {
    const afterSeq = Math.max(0, before - 1 - pageSize);
    const { events } = await engine.events(sessionKey, { afterSeq, limit: before - 1 - afterSeq });
    newer.unshift(...events);
    const outcome = outcomeIn(newer);
    if (outcome !== "older") return outcome;
    before = events[0]?.seq ?? 0;
  }
  return undefined;
}

function outcomeIn(events: readonly StoredEvent[]): TaskOutcome | "older" {
  for (const event of events.toReversed()) {
    switch (event.type) {
      case "turn_execution_failed":
        return { state: "failed", error: event.payload.message };
      case "turn_execution_cancelled":
        return { state: "failed", error: "It was stopped." };
      case "turn_execution_complete": {
        const { message_id, stop_reason } = event.payload;
        const answer = events.find(
          (each) => each.type === "assistant_message" && each.payload.message_id === message_id,
        );
        if (answer?.type !== "assistant_message") return "older";
        const text = textOf(answer.payload.content);
        const isWhole = stop_reason === "end_turn" || stop_reason === "max_tokens";
        return isWhole ? { state: "completed", text } : { state: "failed", error: text };
      }
      default:
        break;
    }
  }
  return "older";
}
