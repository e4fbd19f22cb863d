import * as fs from "node:fs";
import type { StoredEvent } from "../../../events/event.js";
import { withPath } from "../../../util/error-code.js";
import { encodeLine } from "../journal/line.js";
import { openIfThere, runBlocking } from "../logs/line-walk.js";
import { checkEnd, eachLogLine, findEnd, type LogEnd } from "../logs/log-reading.js";

export interface FoundEnd extends LogEnd {
  /** Of the file. */
  readonly size: number;
}

/** Where the good lines of a log end. `pending`: everything from this number on may be half on the disk. */
export function findLogEnd(path: string, sessionKey: string | undefined, pending: number | undefined): FoundEnd {
  const nothing = { size: 0, goodEnd: 0, lastSeq: 0, lastTime: 0 };
  return withFile(path, nothing, (fd) => {
    const { size } = fs.fstatSync(fd);
    const log = { size, sessionKey };
    return { ...runBlocking(fd, pending === undefined ? findEnd(log) : checkEnd(log, pending)), size };
  });
}

/**
 * What is behind the good end of a log. `torn`: the beginning of what the journal has too. `garbled`: something in
 * its place that tells nothing. `foreign`: there may be more in it than the journal has.
 */
export function readTornTail(
  path: string,
  { size, goodEnd, lastSeq }: FoundEnd,
  pending: readonly StoredEvent[],
): "torn" | "garbled" | "foreign" {
  const [first] = pending;
  if (first === undefined || first.seq > lastSeq + 1) return "foreign";
  const expected = Buffer.concat(
    pending.filter(({ seq }) => seq > lastSeq).map((event) => encodeLine(JSON.stringify(event))),
  );
  if (size - goodEnd > expected.length) return "foreign";
  return withFile(path, "garbled", (fd) => {
    const bytes = Buffer.alloc(size - goodEnd);
    fs.readSync(fd, bytes, 0, bytes.length, goodEnd);
    if (bytes.equals(expected.subarray(0, bytes.length))) return "torn";
    let hasOlder = false;
    const look = eachLogLine({ size, sessionKey: first.session_key }, ({ start, event }) => {
      hasOlder ||= start >= goodEnd && event !== undefined && event.seq < first.seq;
    });
    runBlocking(fd, look);
    return hasOlder ? "foreign" : "garbled";
  });
}

function withFile<T>(path: string, missing: T, read: (fd: number) => T): T {
  const fd = openIfThere(path);
  if (fd === undefined) return missing;
  try {
    return withPath(path, () => read(fd));
  } finally {
    fs.closeSync(fd);
  }
}
