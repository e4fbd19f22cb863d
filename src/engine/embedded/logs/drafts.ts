import { specOf } from "../../../events/catalogue.js";
import type { EventDraft, GatewayEvent, StoredEvent } from "../../../events/event.js";
import { frozenCopy } from "../files.js";
import { asKnown } from "./known-ids.js";
import type { SessionLogs } from "./session-logs.js";
import type { Session } from "./session-table.js";

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

/** The event that a draft becomes. It shares nothing with the draft, is frozen, and equals what a reader of the file gets. */
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

/** Nothing has happened in the future, whatever the clock said there. */
function timeOf({ at = "" }: EventDraft, now: number): number {
  const happened = Date.parse(at);
  return Number.isNaN(happened) ? now : Math.min(happened, now);
}

/** The events that some drafts become at the end of a session. */
export interface NumberedEvents {
  readonly events: readonly StoredEvent[];
  /** One for each draft: an earlier event's seq where the event id was known. */
  readonly seqs: readonly number[];
  /** Drafts with the id of an earlier event that tells something else. */
  readonly changed: readonly EventDraft[];
}

/**
 * Idempotent by event id, over restarts as well. The first event behind a deletion says so itself: a log that has to do without
 * the journal shows then what was deleted, and nobody takes that for a loss.
 */
export function numberDrafts(
  logs: Pick<SessionLogs, "find">,
  session: Session,
  drafts: readonly EventDraft[],
  { now, instanceId, deletedSeq }: { readonly now: number; readonly instanceId: string; readonly deletedSeq: number },
): NumberedEvents {
  const events: StoredEvent[] = [];
  const seqs: number[] = [];
  const changed: EventDraft[] = [];
  let time = session.lastTime;
  const numbered = new Map<string, StoredEvent>();
  for (const draft of drafts) {
    if (!specOf(draft.type).stored) throw new TypeError(`Events of type ${draft.type} are never stored: publish them`);
    const before = numbered.get(draft.event_id);
    const known = before === undefined ? logs.find(session, draft) : asKnown(before, draft);
    const seq = known?.seq ?? session.lastSeq + events.length + 1;
    seqs.push(seq);
    if (known?.isChanged === true) changed.push(draft);
    if (known !== undefined) continue;
    time = Math.max(time, timeOf(draft, now));
    const dropped = deletedSeq > 0 && seq === deletedSeq + 1 ? deletedSeq : undefined;
    const event = toEvent(draft, { sessionKey: session.key, seq, time, instanceId, dropped });
    numbered.set(draft.event_id, event);
    events.push(event);
  }
  return { events, seqs, changed };
}
