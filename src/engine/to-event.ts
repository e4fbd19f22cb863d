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
  // The catalogue ties a type to its payload; a draft was made by it.
  const event = {
    schema_version: "1.0",
    event_id: draft.event_id,
    type: draft.type,
    session_key: stamp.sessionKey,
    seq: stamp.seq,
    after_seq: stamp.afterSeq,
    delta_index: draft.delta_index,
    timestamp: new Date(stamp.time).toISOString(),
    source: draft.source,
    turn_id: draft.turn_id,
    correlation_id: draft.correlation_id,
    causation_id: draft.causation_id,
    payload: draft.payload,
    metadata: { instance_id: stamp.instanceId, agent_id: draft.agent_id, dropped: stamp.dropped },
  };
  return frozenCopy(event) as GatewayEvent;
}

/** Unix ms at which it happened. Nothing has happened in the future, whatever the clock said there. */
export function timeOf({ at = "" }: Pick<EventDraft, "at">, now: number): number {
  const happened = Date.parse(at);
  return Number.isNaN(happened) ? now : Math.min(happened, now);
}
