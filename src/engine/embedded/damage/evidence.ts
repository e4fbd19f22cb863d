import * as fs from "node:fs";
import type { InboundMessage } from "../../../bus/messages.js";
import type { EventOf, StoredEvent } from "../../../events/event.js";
import { messageIn } from "../../../events/queued-message.js";
import type { Operation } from "../journal/operations.js";
import { eachLine } from "../logs/line-walk.js";
import { parseEventLine } from "../logs/log-reading.js";
import { rememberedMs } from "../seen/seen-ids.js";
import type { LiveRecords } from "../state.js";

type Accepted = EventOf<"user_message_queued"> & StoredEvent;

/** What the session logs tell that a journal does not know which has lost its end. */
export interface Evidence {
  /** Accepted messages without an end that the journal does not hold. */
  readonly unanswered: readonly Accepted[];
  /** Ids of messages that the journal would have answered once more. */
  readonly answered: readonly string[];
  /** Ids of replies that the journal would send once more. */
  readonly sent: readonly string[];
  /** Replies that were to be sent, without a receipt, that the journal does not hold. */
  readonly unsent: readonly { readonly id: string; readonly sessionKey: string }[];
  /** When each message of the last days was accepted, by its id. */
  readonly accepted: ReadonlyMap<string, number>;
}

/** Reads the logs that were changed in the days for which ids are remembered. Changes nothing. `over`: messages that have ended. */
export async function gatherEvidence(
  records: LiveRecords,
  logs: readonly string[],
  now: number,
  over: ReadonlySet<string> = new Set(),
): Promise<Evidence> {
  const since = now - rememberedMs;
  const queued = new Map<string, Accepted>();
  const ended = new Set(over);
  const replies = new Map<string, { readonly sessionKey: string; readonly isOver: boolean }>();
  const note = (event: StoredEvent): void => {
    if (event.seq <= (records.sessions.tombstones.get(event.session_key)?.seq ?? 0)) return;
    if (event.type === "user_message_queued") queued.set(event.payload.message_id, event);
    for (const id of endedBy(event)) ended.add(id);
    if (event.type !== "outbound_delivery_changed") return;
    const { outbound_id: id, status } = event.payload;
    const isOver = status === "sent" || status === "refused" || status === "dead_letter";
    replies.set(id, { sessionKey: event.session_key, isOver: isOver || replies.get(id)?.isOver === true });
  };
  for (const path of logs) {
    if ((fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < since) continue;
    await eachLine(path, (bytes) => {
      const event = parseEventLine(bytes);
      if (event !== undefined) note(event);
    });
  }
  // What has not come into the logs yet.
  for (const { tail } of records.sessions.all()) for (const { event } of tail) note(event);
  const isKnown = (queue: "inbound" | "outbound", id: string): boolean =>
    records.work.item(queue, id) !== undefined || records.work.dead.has(id);
  return {
    unanswered: [...queued.values()].filter(
      ({ payload: { message_id: id }, timestamp }) =>
        !ended.has(id) && !isKnown("inbound", id) && Date.parse(timestamp) >= since,
    ),
    answered: [...ended].filter((id) => records.work.item("inbound", id) !== undefined),
    sent: [...replies].flatMap(([id, { isOver }]) =>
      isOver && records.work.item("outbound", id) !== undefined ? [id] : [],
    ),
    unsent: [...replies].flatMap(([id, { isOver, sessionKey }]) =>
      isOver || isKnown("outbound", id) ? [] : [{ id, sessionKey }],
    ),
    accepted: new Map([...queued].map(([id, { timestamp }]) => [id, Date.parse(timestamp)])),
  };
}

function endedBy(event: StoredEvent): readonly string[] {
  switch (event.type) {
    case "turn_execution_complete":
    case "turn_execution_failed":
    case "turn_execution_cancelled":
      return event.payload.message_ids;
    case "error_occurred":
      return event.correlation_id !== undefined && !event.payload.recoverable ? [event.correlation_id] : [];
    default:
      return [];
  }
}

/** What makes a journal know what the logs prove: nothing is answered or sent twice, and what waits is worked on. */
export function operationsFor({ answered, sent, accepted, unanswered }: Evidence): readonly Operation[] {
  return [
    ...answered.map((id) => ({ o: "ack" as const, queue: "inbound" as const, id })),
    ...sent.map((id) => ({ o: "ack" as const, queue: "outbound" as const, id })),
    { o: "seen", ids: [...accepted].map(([id, at]) => [`w:${id}`, at]) },
    ...unanswered.filter(canBeRestored).map((event) => {
      const { message_id: id } = event.payload;
      const { session_key: sessionKey } = event;
      const work = { queue: "inbound" as const, id, key: sessionKey, sessionKey, body: messageOf(event) };
      return { o: "work" as const, work, at: Date.parse(event.timestamp) };
    }),
  ];
}

/** Work of sub-agents and jobs needs more than the log tells. */
export function canBeRestored({ payload, source, session_key: key }: Accepted): boolean {
  const isOfChat = source === `channel:${payload.channel}` && key.startsWith(`${payload.channel}:`);
  return isOfChat && !key.includes(":spawn:") && payload.result_of === undefined;
}

/** The log does not tell what of it others wrote: so all of it counts as theirs. */
function messageOf(event: Accepted): InboundMessage {
  const outside = "a message that was brought back after damage";
  return { ...messageIn(event.session_key, event), mode: event.payload.mode, outside };
}
