import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { EngineError } from "../../errors.js";
import { codeOf } from "./files.js";
import { applyLines } from "./load.js";
import { journalFolder, listSegments, parseSegment, readIfThere, type SegmentContent } from "./segment.js";
import { LiveRecords } from "./state.js";

/** The files of an engine that does not run, or that holds them still. */
export interface StoredFiles {
  readonly home: string;
  /** All session logs, the gateway's own included. */
  readonly logs: readonly string[];
  /** What of the journal counts, while an engine holds its files; else all of it. */
  readonly segment?: { readonly path: string; readonly bytes: number } | undefined;
}

export interface StoredJournal {
  /** Undefined when there is no journal. */
  readonly path: string | undefined;
  readonly content: SegmentContent | undefined;
  readonly records: LiveRecords;
  /** What keeps it from being read as a whole. */
  readonly problem: string | undefined;
}

/** What the journal says, up to the first damage in it. Changes nothing. @throws {EngineError} `corrupt` for a newer format */
export function readStoredJournal({ home, segment }: StoredFiles): StoredJournal {
  const records = new LiveRecords();
  const folder = segment === undefined ? journalFolder(home) : dirname(segment.path);
  const files = fs.existsSync(folder) ? listSegments(folder).reverse() : [];
  let problem: string | undefined;
  for (const { path } of files) {
    if (segment !== undefined && basename(path) !== basename(segment.path)) continue;
    const bytes = readIfThere(path)?.subarray(0, segment?.bytes);
    if (bytes === undefined) throw new EngineError(`${path} is gone: a gateway has replaced it`, { kind: "closed" });
    const content = parseSegment(path, bytes);
    const isDamaged = content.goodEnd < Math.min(content.size, content.synced);
    if (isDamaged || (content.checkpointEnd === undefined && path === files.at(-1)?.path))
      problem ??= `${path} is damaged at byte ${content.goodEnd}. Run "maxclaw repair".`;
    if (content.checkpointEnd === undefined) continue;
    applyLines(records, content, content.goodEnd);
    return { path, content, records, problem };
  }
  return { path: undefined, content: undefined, records, problem };
}

/**
 * Calls back with each line of a file, its LF included where it has one, reading a piece at a time. Does nothing when
 * there is no such file.
 */
export async function eachLine(
  path: string,
  onLine: (bytes: Buffer, place: { readonly line: number; readonly byte: number }) => void,
  signal?: AbortSignal,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let byte = 0;
  const take = (bytes: Buffer): void => {
    onLine(bytes, { line, byte });
    line += 1;
    byte += bytes.length;
  };
  try {
    for await (const chunk of fs.createReadStream(path, { highWaterMark: 1024 * 1024 })) {
      signal?.throwIfAborted();
      const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let lf = bytes.indexOf(0x0a); lf !== -1; lf = bytes.indexOf(0x0a, start)) {
        take(bytes.subarray(start, lf + 1));
        start = lf + 1;
      }
      rest = bytes.subarray(start);
    }
  } catch (error) {
    // Its session was deleted meanwhile.
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if (rest.length > 0) take(rest);
}
