import { specOf } from "../../../events/catalogue.js";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import { timeOf, toEvent } from "../../to-event.js";
import { asKnown } from "./known-ids.js";
import type { SessionLogs } from "./session-logs.js";
import type { Session } from "./session-table.js";

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
