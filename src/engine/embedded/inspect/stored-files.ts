import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { EngineError } from "../../../errors.js";
import { applyLines } from "../journal/load.js";
import { journalFolder, listSegments, parseSegment, readIfThere, type SegmentContent } from "../journal/segment.js";
import { LiveRecords } from "../state.js";

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
