import type { EventOf, StoredEvent } from "../../../events/event.js";
import { eachLine } from "../logs/line-walk.js";
import { parseEventLine } from "../logs/log-reading.js";
import { readStoredJournal, type StoredFiles, type StoredJournal } from "./stored-files.js";

/** Where in a file an event is. */
export type TracedPosition =
  | { readonly file: string; readonly line: number; readonly byte: number }
  /** In the journal, until its segment is dropped. `isSynced`: a later line names it as safe on the disk. */
  | { readonly file: string; readonly transaction: number; readonly byte: number; readonly isSynced: boolean };

/** A platform message that goes back to the same cause, and what happened to it. */
export interface TracedDelivery {
  readonly outboundId: string;
  /** `outbound_delivery_changed`, oldest first. */
  readonly changes: readonly (EventOf<"outbound_delivery_changed"> & StoredEvent)[];
  /** Where it is now. */
  readonly state: "waiting" | "dead letter" | "done";
}

export interface EventTrace {
  readonly event: StoredEvent;
  /** The last number of its session. */
  readonly lastSeq: number;
  readonly places: readonly TracedPosition[];
  /** What it follows from, the nearest first. */
  readonly causes: readonly StoredEvent[];
  /** Set when the chain ends in an event that is not there. */
  readonly missingCause?: string;
  /** What follows from it directly, oldest first. */
  readonly effects: readonly StoredEvent[];
  readonly deliveries: readonly TracedDelivery[];
  /** Whether the message that it tells about still waits for its answer; undefined for other events. */
  readonly message?: "waiting" | "dead letter" | "done";
}

/** Where an event is, what caused it and what it led to. Undefined when no file holds it. Changes nothing. */
export async function traceStoredEvent(
  files: StoredFiles,
  eventId: string,
  options: { readonly logPathOf: (sessionKey: string) => string; readonly signal: AbortSignal },
): Promise<EventTrace | undefined> {
  const journal = readStoredJournal(files);
  const inJournal = positionsInJournal(journal, eventId);
  let key = inJournal.event?.session_key;
  for (const file of key === undefined ? files.logs : []) {
    key = await keyOfLogWith(file, eventId, options.signal);
    if (key !== undefined) break;
  }
  if (key === undefined) return undefined;
  const file = options.logPathOf(key);
  const { events, position } = await readSession(file, journal, key, eventId, options.signal);
  const event = events.find((one) => one.event_id === eventId);
  if (event === undefined) return undefined;
  const { causes, missingCause } = causesOf(event, events);
  return {
    event,
    lastSeq: events.at(-1)?.seq ?? event.seq,
    places: [...(position === undefined ? [] : [position]), ...inJournal.positions],
    causes,
    ...(missingCause === undefined ? {} : { missingCause }),
    effects: events.filter((one) => one.causation_id === eventId),
    deliveries: deliveriesOf(event, events, journal),
    ...(event.type === "user_message_queued" ? { message: stateOf(journal, "inbound", event.payload.message_id) } : {}),
  };
}

function positionsInJournal(
  { path, content }: StoredJournal,
  eventId: string,
): { readonly event?: StoredEvent; readonly positions: readonly TracedPosition[] } {
  if (path === undefined || content === undefined) return { positions: [] };
  let event: StoredEvent | undefined;
  const positions: TracedPosition[] = [];
  let transaction = 0;
  for (const { offset, bytes, line } of content.lines) {
    if (offset >= content.goodEnd) break;
    if (line.kind === "header" || line.kind === "transaction") transaction = line.tx;
    if (line.kind !== "transaction" && line.kind !== "checkpoint") continue;
    for (const operation of line.ops) {
      if (operation.o !== "event" || operation.event.event_id !== eventId) continue;
      event = operation.event;
      positions.push({ file: path, transaction, byte: offset, isSynced: offset + bytes <= content.synced });
    }
  }
  return { ...(event === undefined ? {} : { event }), positions };
}

async function keyOfLogWith(file: string, eventId: string, signal: AbortSignal): Promise<string | undefined> {
  const sought = Buffer.from(`"event_id":${JSON.stringify(eventId)}`);
  let key: string | undefined;
  await eachLine(
    file,
    (bytes) => {
      if (key !== undefined || !bytes.includes(sought)) return;
      const event = parseEventLine(bytes);
      if (event?.event_id === eventId) key = event.session_key;
    },
    signal,
  );
  return key;
}

/** The session's events from its log and from the journal, and where in the log the one is that is traced. */
async function readSession(
  file: string,
  { records }: StoredJournal,
  key: string,
  eventId: string,
  signal: AbortSignal,
): Promise<{ readonly events: readonly StoredEvent[]; readonly position: TracedPosition | undefined }> {
  const events: StoredEvent[] = [];
  let position: TracedPosition | undefined;
  const after = records.sessions.tombstones.get(key)?.seq ?? 0;
  await eachLine(
    file,
    (bytes, { line, byte }) => {
      const event = parseEventLine(bytes, key);
      if (event === undefined || event.seq <= after) return;
      if (event.event_id === eventId) position = { file, line, byte };
      events.push(event);
    },
    signal,
  );
  const last = events.at(-1)?.seq ?? 0;
  for (const { event } of records.sessions.find(key)?.tail ?? []) if (event.seq > last) events.push(event);
  return { events, position };
}

function causesOf(
  event: StoredEvent,
  events: readonly StoredEvent[],
): { readonly causes: readonly StoredEvent[]; readonly missingCause?: string } {
  const byId = new Map(events.map((one) => [one.event_id, one]));
  const causes: StoredEvent[] = [];
  const seen = new Set([event.event_id]);
  for (let { causation_id: id } = event; id !== undefined && !seen.has(id); ) {
    const cause = byId.get(id);
    if (cause === undefined) return { causes, missingCause: id };
    seen.add(id);
    causes.push(cause);
    id = cause.causation_id;
  }
  return { causes };
}

/** Of the event itself, else those of its turn, else those of the message that it is about. */
function deliveriesOf(
  event: StoredEvent,
  events: readonly StoredEvent[],
  journal: StoredJournal,
): readonly TracedDelivery[] {
  const isRelated = (one: StoredEvent): boolean => {
    if (event.turn_id !== undefined) return one.turn_id === event.turn_id;
    return event.correlation_id !== undefined && one.correlation_id === event.correlation_id;
  };
  const byId = new Map<string, (EventOf<"outbound_delivery_changed"> & StoredEvent)[]>();
  for (const one of events) {
    if (one.type !== "outbound_delivery_changed") continue;
    const { outbound_id: id } = one.payload;
    const isWanted =
      event.type === "outbound_delivery_changed" ? id === event.payload.outbound_id : byId.has(id) || isRelated(one);
    if (isWanted) byId.set(id, [...(byId.get(id) ?? []), one]);
  }
  return [...byId].map(([outboundId, changes]) => ({
    outboundId,
    changes,
    state: stateOf(journal, "outbound", outboundId),
  }));
}

function stateOf(
  { records }: StoredJournal,
  queue: "inbound" | "outbound",
  id: string,
): "waiting" | "dead letter" | "done" {
  if (records.work.item(queue, id) !== undefined) return "waiting";
  return records.work.dead.has(id) ? "dead letter" : "done";
}
