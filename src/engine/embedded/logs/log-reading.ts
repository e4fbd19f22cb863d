import { EngineError } from "../../../errors.js";
import type { StoredEvent } from "../../../events/event.js";
import { droppedBefore } from "../../left-out.js";
import { decodeLine } from "../journal/line.js";
import { isKnownVersion, isStoredEventShape } from "../journal/operations.js";
import { chunkBytes, type Line, LineWalk, type Reading } from "./line-walk.js";

export interface LogLine {
  readonly start: number;
  readonly end: number;
  /** Undefined when the line is damaged or has no end. */
  readonly event: StoredEvent | undefined;
}

/** What is read. Where the session is named, a line of another one counts as damaged. */
export interface LogToRead {
  readonly size: number;
  readonly sessionKey?: string | undefined;
}

/** The lines of a session log from an offset on, read as events. */
function walkFrom(start: number, { size }: LogToRead): LineWalk {
  return new LineWalk(start, { size: () => size });
}

function* nextOf(walk: LineWalk, { sessionKey }: LogToRead): Reading<LogLine | undefined> {
  const line = yield* walk.next();
  return line === undefined ? undefined : toLogLine(line, sessionKey);
}

function toLogLine({ start, end, bytes }: Line, sessionKey: string | undefined): LogLine {
  return { start, end, event: parseEventLine(bytes, sessionKey) };
}

/** Calls back with each line and its bytes, which are void afterwards. */
export function eachLogLine(log: LogToRead, onLine: (line: LogLine, bytes: Buffer) => void): Reading<void> {
  return walkFrom(0, log).each((line) => onLine(toLogLine(line, log.sessionKey), line.bytes));
}

/**
 * The event of a line; undefined when the line is damaged, not ended, or of another session than the one that is named.
 *
 * @throws {EngineError} `corrupt` for an event of a newer version, which is neither damaged nor to be misread
 */
export function parseEventLine(bytes: Buffer, sessionKey?: string): StoredEvent | undefined {
  if (bytes.at(-1) !== 0x0a) return undefined;
  const value = decodeLine(bytes);
  if (!isStoredEventShape(value)) return undefined;
  if (!isKnownVersion(value)) throw newerEvent(value);
  return sessionKey === undefined || value.session_key === sessionKey ? value : undefined;
}

function newerEvent({ session_key: key, seq, schema_version: version }: StoredEvent): EngineError {
  return new EngineError(
    `Event ${seq} of ${key} has schema version ${String(version)}; this maxclaw reads versions 1.x. It was written by a newer version: update maxclaw, or restore the home from before the update.`,
    { kind: "corrupt" },
  );
}

/** The start of a line before which all events are below `seq`, at most a chunk and some long lines from the first one that is not. */
function* seek(log: LogToRead, seq: number): Reading<number> {
  let low = 0;
  let high = log.size;
  while (high - low > chunkBytes) {
    const middle = low + Math.floor((high - low) / 2);
    const walk = walkFrom(middle, log);
    // Most likely part of a line.
    yield* walk.next();
    let line = yield* nextOf(walk, log);
    // A damaged line tells nothing: ask the ones behind it.
    while (line !== undefined && line.event === undefined && line.start < high) line = yield* nextOf(walk, log);
    if (line?.event !== undefined && line.event.seq < seq) low = line.end;
    else high = middle;
  }
  return low;
}

export interface LogRange {
  /** All that can be read. */
  readonly events: readonly StoredEvent[];
  /** Among the lines of these events is a damaged one, or one that is out of its place. */
  readonly isDamaged: boolean;
}

/** So many events are looked for from the end of a log: all in front of them would be read in vain. */
const fewEvents = 16;
/** What is read at once there. */
const endBytes = 8 * 1024;

/** Up to `limit` events with seq > afterSeq. `lastSeq`: the log's last one, where that is known. */
export function* readRange(log: LogToRead, afterSeq: number, limit: number, lastSeq = Infinity): Reading<LogRange> {
  const wanted = lastSeq - afterSeq;
  if (wanted <= Math.min(limit, fewEvents)) {
    const events = yield* readLast(log, afterSeq, wanted);
    if (events !== undefined) return { events, isDamaged: false };
  }
  const walk = walkFrom(yield* seek(log, afterSeq + 1), log);
  const events: StoredEvent[] = [];
  let last = afterSeq;
  let isDamaged = false;
  while (events.length < limit) {
    const line = yield* nextOf(walk, log);
    if (line === undefined) break;
    if (line.event === undefined) isDamaged = true;
    else if (line.event.seq <= last) {
      // Whatever was damaged before it was not asked for.
      isDamaged = events.length > 0;
    } else {
      last = line.event.seq;
      events.push(line.event);
    }
  }
  return { events, isDamaged };
}

/** The last events of a log, up to a number; undefined unless all lines are good, in order and as many as are expected. */
function* readLast(log: LogToRead, afterSeq: number, count: number): Reading<readonly StoredEvent[] | undefined> {
  const walk = new LineWalk(log.size, { size: () => log.size, pieceBytes: endBytes });
  const events: StoredEvent[] = [];
  for (let seq = afterSeq + count; seq > afterSeq; seq -= 1) {
    const line = yield* walk.previous();
    const event = line === undefined ? undefined : parseEventLine(line.bytes, log.sessionKey);
    if (event?.seq !== seq) return undefined;
    events.push(event);
  }
  return events.reverse();
}

export interface LogEnd {
  /** Behind the last good line. */
  readonly goodEnd: number;
  readonly lastSeq: number;
  /** Unix ms. */
  readonly lastTime: number;
}

const emptyLog: LogEnd = { goodEnd: 0, lastSeq: 0, lastTime: 0 };

/** The last good line, looked for from the end of the file, and the highest number in it or shortly before it. */
export function* findEnd(log: LogToRead): Reading<LogEnd> {
  const walk = walkFrom(log.size, log);
  for (let line = yield* walk.previous(); line !== undefined; line = yield* walk.previous()) {
    const event = parseEventLine(line.bytes, log.sessionKey);
    if (event !== undefined) return highest(line.end, [event, ...eventsBefore(walk, log)]);
  }
  return emptyLog;
}

/** Lines that got out of order must not let a number be given a second time. */
function highest(goodEnd: number, events: readonly StoredEvent[]): LogEnd {
  return {
    goodEnd,
    lastSeq: Math.max(...events.map(({ seq }) => seq)),
    lastTime: Math.max(...events.map(({ timestamp }) => Date.parse(timestamp))),
  };
}

/** Those in front of it that have been read already. */
function eventsBefore(walk: LineWalk, { sessionKey }: LogToRead): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  for (let line = walk.previousRead(); line !== undefined; line = walk.previousRead()) {
    const event = parseEventLine(line.bytes, sessionKey);
    if (event !== undefined) events.push(event);
  }
  return events;
}

/**
 * The end of the good lines, where everything from `seq` on may be half on the disk: from there each line must be
 * undamaged and in sequence.
 */
export function* checkEnd(log: LogToRead, seq: number): Reading<LogEnd> {
  const start = yield* seek(log, seq);
  const walk = walkFrom(start, log);
  let end: LogEnd | undefined;
  for (let line = yield* nextOf(walk, log); line !== undefined; line = yield* nextOf(walk, log)) {
    const isUncertain = (end?.lastSeq ?? 0) >= seq;
    if (line.event === undefined) {
      if (isUncertain) break;
      continue;
    }
    const next = isUncertain && end !== undefined ? end.lastSeq + 1 : seq;
    if (line.event.seq >= seq && line.event.seq - droppedBefore(line.event) > next) break;
    if (isUncertain && line.event.seq < next) break;
    end = { goodEnd: line.end, lastSeq: line.event.seq, lastTime: Date.parse(line.event.timestamp) };
  }
  return end ?? (yield* findEnd({ ...log, size: start }));
}
