import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { crc32 } from "node:zlib";
import { z } from "zod";
import { PathChangedError, readOnly, resolveReal } from "../../util/files/real-path.js";
import { writeReal } from "../../util/files/write-real.js";
import { readVersion } from "../../util/version.js";
import { foldCode, foldCodeMark } from "./fold-code.js";
import type { SessionFolds } from "./session-folds.js";

const foldName = "folds.bin";
const lf = 0x0a;
/** Of the form of the file. What is in it changes with the program: its version and a mark of its code are in it too. */
const formatVersion = 2;

/** The program, as its files name it: asked once, since that takes longer than to read a short file. */
const programs = new WeakMap<typeof foldCode, { readonly version: string; readonly code: string }>();

const head = z.object({
  format: z.literal(formatVersion),
  version: z.string(),
  code: z.string(),
  key: z.string(),
  seq: z.number(),
  eventId: z.string(),
  bytes: z.number(),
  checksum: z.number(),
});

/** Where in the log a session was: the event of this number is the last one in it. */
export interface FoldPlace {
  readonly key: string;
  readonly seq: number;
  readonly eventId: string;
}

export interface FoundFolds {
  readonly place: FoldPlace;
  readonly folds: SessionFolds;
  /** Up to here they are in a file. */
  readonly foldedSeq: number;
}

/**
 * What a long session's log has come to, besides what else is kept of the session, so that opening it does not read all of
 * the log. The log stays the truth: a file that is damaged, of another program or of another history counts for
 * nothing, and it goes with the session. Not synced: it can be made again at any time.
 */
export async function writeFolds(folder: string, place: FoldPlace, folds: SessionFolds): Promise<void> {
  const real = await resolveReal(folder);
  if (!real.ok) throw new PathChangedError(folder);
  const body = serialize(folds);
  const first = JSON.stringify({
    format: formatVersion,
    ...ownProgram(),
    ...place,
    bytes: body.length,
    checksum: crc32(body),
  });
  const file = Buffer.concat([Buffer.from(`${first}\n`), body]);
  await writeReal(join(real.path, foldName), file, { sync: false, mode: 0o600, folderMode: 0o700 });
}

/** Undefined when there are none, or none that this program has written as a whole. */
export async function readFolds(folder: string, key: string): Promise<FoundFolds | undefined> {
  const file = await readFile(join(folder, foldName), { flag: readOnly }).catch(() => undefined);
  if (file === undefined) return undefined;
  const end = file.indexOf(lf);
  const body = file.subarray(end + 1);
  try {
    const { version, code, bytes, checksum, ...place } = head.parse(JSON.parse(file.toString("utf8", 0, end)));
    const own = ownProgram();
    if (version !== own.version || code !== own.code || place.key !== key) return undefined;
    if (bytes !== body.length || checksum !== crc32(body)) return undefined;
    // Whole, and written by this very code: it is what `foldsOf` gave.
    return { place, folds: deserialize(body) as SessionFolds, foldedSeq: place.seq };
  } catch {
    return undefined;
  }
}

function ownProgram(): { readonly version: string; readonly code: string } {
  const known = programs.get(foldCode);
  if (known !== undefined) return known;
  const program = { version: readVersion(), code: foldCodeMark() };
  programs.set(foldCode, program);
  return program;
}
