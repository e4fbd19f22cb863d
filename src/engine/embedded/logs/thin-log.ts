import * as fs from "node:fs";
import { open } from "node:fs/promises";
import type { StoredEvent } from "../../../events/event.js";
import { terminalTypes } from "../../../events/sets.js";
import { codeOf } from "../../../util/error-code.js";
import { detailTypes, LeftOut, withoutThinking } from "../../left-out.js";
import { writeFully } from "../files.js";
import { encodeLine } from "../journal/line.js";
import { LineWalk, type Reading, run } from "./line-walk.js";
import { parseEventLine } from "./log-reading.js";

const ends: ReadonlySet<string> = new Set(terminalTypes);
/** A log is written again for an eighth of what it holds of old turns: not each day for a few lines. */
const leastShare = 1 / 8;
const batchBytes = 256 * 1024;

export interface LogToThin {
  readonly path: string;
  readonly size: number;
  /** Only turns that ended before this, in Unix ms. */
  readonly beforeMs: number;
}

/** A log without the details of its old turns, in a file of its own, on the disk. */
export interface ThinnedLog {
  readonly sessionKey: string;
  readonly draft: string;
  readonly size: number;
}

/** Where a log is written again. */
export function thinningPath(path: string): string {
  return `${path}.thinning`;
}

/**
 * Writes a log again, beside it, without what only tells how its old turns went on: details, and the thinking in answers. An event
 * says how many numbers before it are gone, and has as its cause what its cause had followed from. Undefined when there is too
 * little to leave out, or a line is damaged.
 */
export async function writeThinned(log: LogToThin): Promise<ThinnedLog | undefined> {
  const from = await open(log.path, "r").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (from === undefined) return undefined;
  const draft = thinningPath(log.path);
  try {
    const old = await run(from, findOld(log));
    if (old === undefined) return undefined;
    const to = fs.openSync(draft, "w", 0o600);
    try {
      const size = await run(from, copyWithout(log, old, to));
      if (size !== undefined) {
        const { atime, mtime } = await from.stat();
        fs.futimesSync(to, atime, mtime);
        fs.fdatasyncSync(to);
        return { sessionKey: old.sessionKey, draft, size };
      }
    } finally {
      fs.closeSync(to);
    }
    fs.rmSync(draft, { force: true });
    return undefined;
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  } finally {
    await from.close();
  }
}

interface OldPart {
  readonly sessionKey: string;
  /** Behind the end of the last old turn. */
  readonly end: number;
}

/** The old turns of a log, where leaving something out of them is worth a new file. */
function* findOld({ size, beforeMs }: LogToThin): Reading<OldPart | undefined> {
  const walk = new LineWalk(0, { size: () => size, pieceBytes: batchBytes });
  let old: OldPart | undefined;
  let spare = 0;
  let spareInOld = 0;
  for (let line = yield* walk.next(); line !== undefined; line = yield* walk.next()) {
    const event = parseEventLine(line.bytes, old?.sessionKey);
    if (event === undefined) return undefined;
    if (Date.parse(event.timestamp) >= beforeMs) break;
    spare += spareBytes(event, line.bytes.length);
    if (!ends.has(event.type)) continue;
    old = { sessionKey: event.session_key, end: line.end };
    spareInOld = spare;
  }
  return old !== undefined && spareInOld > old.end * leastShare ? old : undefined;
}

function spareBytes(event: StoredEvent, lineBytes: number): number {
  if (detailTypes.has(event.type)) return lineBytes;
  if (event.type !== "assistant_message") return 0;
  const thinking = event.payload.content.filter((part) => part.type === "thinking");
  return thinking.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(thinking));
}

/** Gives the size of the copy; undefined when a line is damaged. */
function* copyWithout({ size }: LogToThin, { sessionKey, end }: OldPart, to: number): Reading<number | undefined> {
  const walk = new LineWalk(0, { size: () => size, pieceBytes: batchBytes });
  const left = new LeftOut();
  let batch: Buffer[] = [];
  let waiting = 0;
  let written = 0;
  const flush = (): void => {
    writeFully(to, Buffer.concat(batch));
    written += waiting;
    batch = [];
    waiting = 0;
  };
  for (let line = yield* walk.next(); line !== undefined; line = yield* walk.next()) {
    const event = parseEventLine(line.bytes, sessionKey);
    if (event === undefined) return undefined;
    const isOld = line.end <= end;
    if (isOld && detailTypes.has(event.type)) {
      left.add(event);
      continue;
    }
    const kept = left.mend(isOld ? withoutThinking(event) : event);
    const bytes = kept === event ? Buffer.from(line.bytes) : encodeLine(JSON.stringify(kept));
    batch.push(bytes);
    waiting += bytes.length;
    if (waiting >= batchBytes) flush();
  }
  flush();
  return written;
}
