import { newId } from "../util/ids.js";
import type { Payload } from "./catalogue.js";
import { draft, type EventDraft, type StoredEvent, toSameDraft } from "./event.js";
import { readOpenEnds } from "./folds/open-ends.js";

/** Fields of payloads that hold ids of ours. Ids that a provider gave stay: they are in what the model sees. */
const idFields = [
  "message_id",
  "retry_of",
  "partial_message_id",
  "tool_execution_id",
  "outbound_id",
  "request_id",
  "task_id",
  "artifact_id",
] as const;

const leftBehind =
  "interrupted: this conversation was copied while the call ran, so its outcome is unknown. Check before doing it again.";

/**
 * The events of a log, as the beginning of another session: new ids instead of the old ones, and the causes that
 * they name with them. Messages that still wait stay behind; a turn, call or question that is not over in these events
 * is ended, so that nothing goes on in the copy. What is copied keeps its time. The last draft tells where it all comes from.
 */
export function forkLog(
  events: readonly StoredEvent[],
  from: { readonly key: string; readonly seq: number },
): EventDraft[] {
  const ends = readOpenEnds(events);
  const copied = events.filter(
    (event) => event.type !== "user_message_queued" || !ends.waiting.has(event.payload.message_id),
  );
  const ids = new Ids();
  const known = new Set(copied.map(({ event_id }) => event_id));
  const drafts = copied.map((event) => copy(event, ids, known, copied));
  const context = () => inTurn(drafts, ends.turn && ids.of(ends.turn.id));
  for (const call of ends.calls) drafts.push(draft("tool_execution_complete", endOf(call, ids), context()));
  for (const { request_id, kind } of ends.questions) {
    const answer = {
      request_id: ids.of(request_id),
      kind,
      outcome: "cancelled",
      answer: "",
      responder_id: "gateway",
    } as const;
    drafts.push(draft("human_input_answered", answer, context()));
  }
  if (ends.state !== "created" && ends.state !== "idle")
    drafts.push(draft("session_state_changed", { from: ends.state, to: "idle", reason: "fork" }, context()));
  if (ends.agentState !== "idle")
    drafts.push(draft("agent_state_changed", { from: ends.agentState, to: "idle", cause: "fork" }, context()));
  if (ends.turn !== undefined) {
    const message_ids = ends.turn.messageIds.map((id) => ids.of(id));
    drafts.push(draft("turn_execution_cancelled", { message_ids, reason: "abort", mode: "fork" }, context()));
  }
  drafts.push(draft("session_history_changed", { kind: "fork", forked_from: { ...from } }, { source: "gateway" }));
  return drafts;
}

/** As any event of a turn: part of what its first message produced, caused by the event before it. */
function inTurn(drafts: readonly EventDraft[], turnId: string | undefined) {
  const last = drafts.findLast(({ turn_id }) => turn_id !== undefined && turn_id === turnId);
  if (turnId === undefined || last === undefined) return { source: "gateway" };
  const { correlation_id } = last;
  return {
    source: "gateway",
    turn_id: turnId,
    causation_id: last.event_id,
    ...(correlation_id === undefined ? {} : { correlation_id }),
  };
}

/** New ids by old ones. */
class Ids {
  readonly #new = new Map<string, string>();

  of(old: string): string {
    // Outbound ids: `<reply>#<n>`.
    const [stem = old, ...rest] = old.split("#");
    let id = this.#new.get(stem);
    if (id === undefined) {
      id = newId(/^([a-z]+)_[0-9a-f]{20}$/.exec(stem)?.[1] ?? "msg");
      this.#new.set(stem, id);
    }
    return [id, ...rest].join("#");
  }
}

function copy(event: StoredEvent, ids: Ids, known: ReadonlySet<string>, copied: readonly StoredEvent[]): EventDraft {
  const { turn_id, correlation_id, causation_id, ...rest } = toSameDraft(event);
  // The payload keeps its shape: only ids in it are others.
  return {
    ...rest,
    at: event.timestamp,
    event_id: ids.of(event.event_id),
    ...(turn_id === undefined ? {} : { turn_id: ids.of(turn_id) }),
    ...(correlation_id === undefined ? {} : { correlation_id: ids.of(correlation_id) }),
    ...(causation_id === undefined || !known.has(causation_id) ? {} : { causation_id: ids.of(causation_id) }),
    payload: copyPayload(event, ids, copied),
  } as EventDraft;
}

function copyPayload(event: StoredEvent, ids: Ids, copied: readonly StoredEvent[]): object {
  const payload: Record<string, unknown> = { ...event.payload };
  for (const field of idFields) {
    const id = payload[field];
    if (typeof id === "string") payload[field] = ids.of(id);
  }
  if ("message_ids" in event.payload) payload.message_ids = event.payload.message_ids.map((id) => ids.of(id));
  if (event.type === "session_history_changed" && event.payload.to_seq !== undefined) {
    const { to_seq } = event.payload;
    // Seqs of the copy begin at 1 and have no gaps where something stayed behind.
    payload.to_seq = copied.filter(({ seq }) => seq <= to_seq).length;
  }
  return payload;
}

function endOf(call: Payload<"tool_execution_start">, ids: Ids): Payload<"tool_execution_complete"> {
  return {
    tool_execution_id: ids.of(call.tool_execution_id),
    tool_call_id: call.tool_call_id,
    tool_name: call.tool_name,
    output: leftBehind,
    is_error: true,
    error_code: "TOOL_ERROR",
    duration_ms: 0,
    summary: `${call.tool_name} was left behind by the copy`,
  };
}
