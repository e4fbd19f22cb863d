import * as fs from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { EngineError } from "../../../errors.js";
import type { StoredEvent } from "../../../events/event.js";
import { decodeLine } from "../journal/line.js";
import { isKnownVersion, isStoredEventShape } from "../journal/operations.js";

const chunkBytes = 64 * 1024;

interface ReadRequest {
  readonly position: number;
  readonly length: number;
}

/** A way through a file, told as the reads it needs: run it with blocking reads or without. */
type Reading<T> = Generator<ReadRequest, T, Buffer>;

export function runBlocking<T>(fd: number, reading: Reading<T>): T {
  let step = reading.next();
  while (!step.done) {
    const { position, length } = step.value;
    const buffer = Buffer.allocUnsafe(length);
    step = reading.next(buffer.subarray(0, fs.readSync(fd, buffer, 0, length, position)));
  }
  return step.value;
}

export async function run<T>(file: FileHandle, reading: Reading<T>): Promise<T> {
  let step = reading.next();
  while (!step.done) {
    const { position, length } = step.value;
    const buffer = Buffer.allocUnsafe(length);
    const { bytesRead } = await file.read(buffer, 0, length, position);
    step = reading.next(buffer.subarray(0, bytesRead));
  }
  return step.value;
}

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

/** The lines of a session log from an offset on. */
class LineCursor {
  #start: number;
  readonly #log: LogToRead;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(start: number, log: LogToRead) {
    this.#start = start;
    this.#log = log;
  }

  /** Moves behind the next LF. */
  *skipLine(): Reading<void> {
    yield* this.#nextBytes();
  }

  *next(onLine?: (line: LogLine, bytes: Buffer) => void): Reading<LogLine | undefined> {
    const start = this.#start;
    const bytes = yield* this.#nextBytes();
    if (bytes === undefined) return undefined;
    const line = { start, end: this.#start, event: parseEventLine(bytes, this.#log.sessionKey) };
    onLine?.(line, bytes);
    return line;
  }

  *#nextBytes(): Reading<Buffer | undefined> {
    for (let searched = 0; ; ) {
      const lf = this.#buffer.indexOf(0x0a, searched);
      if (lf !== -1) return this.#take(lf + 1);
      searched = this.#buffer.length;
      const position = this.#start + searched;
      const length = Math.min(this.#log.size - position, Math.max(chunkBytes, searched));
      const chunk = length > 0 ? yield { position, length } : undefined;
      if (chunk === undefined || chunk.length === 0) return searched === 0 ? undefined : this.#take(searched);
      this.#buffer = searched === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    }
  }

  #take(length: number): Buffer {
    const bytes = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    this.#start += length;
    return bytes;
  }
}

/** Calls back with each line and its bytes, which are void afterwards. */
export function* eachLogLine(log: LogToRead, onLine: (line: LogLine, bytes: Buffer) => void): Reading<void> {
  const cursor = new LineCursor(0, log);
  while ((yield* cursor.next(onLine)) !== undefined);
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
    const cursor = new LineCursor(middle, log);
    yield* cursor.skipLine();
    let line = yield* cursor.next();
    // A damaged line tells nothing: ask the ones behind it.
    while (line !== undefined && line.event === undefined && line.start < high) line = yield* cursor.next();
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

/** Up to `limit` events with seq > afterSeq. */
export function* readRange(log: LogToRead, afterSeq: number, limit: number): Reading<LogRange> {
  const cursor = new LineCursor(yield* seek(log, afterSeq + 1), log);
  const events: StoredEvent[] = [];
  let last = afterSeq;
  let isDamaged = false;
  while (events.length < limit) {
    const line = yield* cursor.next();
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

export interface LogEnd {
  /** Behind the last good line. */
  readonly goodEnd: number;
  readonly lastSeq: number;
  /** Unix ms. */
  readonly lastTime: number;
}

const emptyLog: LogEnd = { goodEnd: 0, lastSeq: 0, lastTime: 0 };

/** The last good line, looked for from the end of the file, and the highest number in it or shortly before it. */
export function* findEnd({ size, sessionKey }: LogToRead): Reading<LogEnd> {
  let end = size;
  let bytes: Buffer = Buffer.alloc(0);
  while (end > 0) {
    const lf = bytes.length < 2 ? -1 : bytes.lastIndexOf(0x0a, bytes.length - 2);
    const start = end - bytes.length;
    if (lf === -1 && start > 0) {
      const length = Math.min(start, Math.max(chunkBytes, bytes.length));
      bytes = Buffer.concat([yield { position: start - length, length }, bytes]);
      continue;
    }
    const event = parseEventLine(bytes.subarray(lf + 1), sessionKey);
    if (event !== undefined) return highest(end, [event, ...eventsIn(bytes.subarray(0, lf + 1), sessionKey)]);
    end = start + lf + 1;
    bytes = bytes.subarray(0, lf + 1);
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

function eventsIn(bytes: Buffer, sessionKey: string | undefined): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start) + 1;
    if (end === 0) break;
    const event = parseEventLine(bytes.subarray(start, end), sessionKey);
    if (event !== undefined) events.push(event);
    start = end;
  }
  return events;
}

/**
 * The end of the good lines, where everything from `seq` on may be half on the disk: from there each line must be
 * undamaged and in sequence.
 */
export function* checkEnd(log: LogToRead, seq: number): Reading<LogEnd> {
  const start = yield* seek(log, seq);
  const cursor = new LineCursor(start, log);
  let end: LogEnd | undefined;
  for (let line = yield* cursor.next(); line !== undefined; line = yield* cursor.next()) {
    const isUncertain = (end?.lastSeq ?? 0) >= seq;
    if (line.event === undefined) {
      if (isUncertain) break;
      continue;
    }
    if (line.event.seq >= seq && line.event.seq !== (isUncertain && end !== undefined ? end.lastSeq + 1 : seq)) break;
    end = { goodEnd: line.end, lastSeq: line.event.seq, lastTime: Date.parse(line.event.timestamp) };
  }
  return end ?? (yield* findEnd({ ...log, size: start }));
}
