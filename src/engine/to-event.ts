import type { EventDraft, GatewayEvent, StoredEvent } from "../events/event.js";
import { frozenCopy } from "./frozen-copy.js";

/** Where and when a draft becomes an event. */
interface Stamp {
  readonly sessionKey: string;
  readonly seq: number | null;
  readonly afterSeq?: number;
  readonly time: number;
  readonly instanceId: string;
  /** The last number of what was deleted just before it. */
  readonly dropped?: number | undefined;
}

/** The event that a draft becomes. It shares nothing with the draft, is frozen, and equals what a reader of what is stored gets. */
export function toEvent(draft: EventDraft, stamp: Stamp & { readonly seq: number }): StoredEvent;
export function toEvent(draft: EventDraft, stamp: Stamp): GatewayEvent;
export function toEvent(draft: EventDraft, stamp: Stamp): GatewayEvent {
  const event: Record<string, unknown> = {
    schema_version: "1.0",
    event_id: draft.event_id,
    type: draft.type,
    session_key: stamp.sessionKey,
    seq: stamp.seq,
  };
  // In the order that the journal knows. Field by field: every event comes this way.
  if (stamp.afterSeq !== undefined) event.after_seq = stamp.afterSeq;
  if (draft.delta_index !== undefined) event.delta_index = draft.delta_index;
  event.timestamp = new Date(stamp.time).toISOString();
  event.source = draft.source;
  if (draft.turn_id !== undefined) event.turn_id = draft.turn_id;
  if (draft.correlation_id !== undefined) event.correlation_id = draft.correlation_id;
  if (draft.causation_id !== undefined) event.causation_id = draft.causation_id;
  event.payload = frozenCopy(draft.payload);
  const metadata: Record<string, unknown> = { instance_id: stamp.instanceId };
  if (draft.agent_id !== undefined) metadata.agent_id = draft.agent_id;
  if (stamp.dropped !== undefined) metadata.dropped = stamp.dropped;
  event.metadata = Object.freeze(metadata);
  // The catalogue ties a type to its payload; a draft was made by it.
  return Object.freeze(event) as unknown as GatewayEvent;
}

/** Unix ms at which it happened. Nothing has happened in the future, whatever the clock said there. */
export function timeOf({ at = "" }: Pick<EventDraft, "at">, now: number): number {
  const happened = Date.parse(at);
  return Number.isNaN(happened) ? now : Math.min(happened, now);
}
