import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { codeOf } from "../../../util/error-code.js";
import { readOnly } from "../../../util/files/real-path.js";
import { decodeLine, encodeLine } from "../journal/line.js";

/** A file in the home that names a transaction of the journal which was safe on the disk. */
export const markName = "journal.mark";

const writable = fs.constants.O_WRONLY | fs.constants.O_CREAT | (fs.constants.O_NONBLOCK ?? 0);

// A later transaction needs a number too.
const content = z.object({
  tx: z
    .number()
    .int()
    .min(0)
    .max(2 ** 52),
});

/** Where the marks of a journal are: the one in the home first. */
export function markPaths(home: string, logsMark: string | undefined): readonly string[] {
  return logsMark === undefined ? [join(home, markName)] : [join(home, markName), logsMark];
}

/** What the marks of a journal tell. */
export interface Marks {
  /** A transaction that was safe on the disk: the highest that one of them names; undefined when none tells. */
  readonly tx: number | undefined;
  /** The mark that names it. */
  readonly path: string;
  /** The mark in the home names it, or there is no other. */
  readonly isOfHome: boolean;
  /** Each of them tells. */
  readonly isComplete: boolean;
}

/** Up to which transaction the journal was on the disk for sure. `logsMark`: the one beside the session logs. */
export function readMarks(home: string, logsMark: string | undefined, log: Logger): Marks {
  const [path = "", ...others] = markPaths(home, logsMark);
  const tx = readMark(path, log);
  let marks: Marks = { tx, path, isOfHome: true, isComplete: tx !== undefined };
  for (const other of others) {
    const found = readMark(other, log);
    if (found === undefined) marks = { ...marks, isComplete: false };
    else if (found > (marks.tx ?? -1)) marks = { ...marks, tx: found, path: other, isOfHome: false };
  }
  return marks;
}

function readMark(path: string, log: Logger): number | undefined {
  let bytes: Buffer;
  try {
    bytes = readBytes(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") log.warn("the journal's mark could not be read", { file: path, error });
    return undefined;
  }
  const parsed = content.safeParse(decodeLine(bytes));
  if (parsed.success) return parsed.data.tx;
  log.warn("the journal's mark is damaged: it is written again", { file: path });
  return undefined;
}

function readBytes(path: string): Buffer {
  const fd = fs.openSync(path, readOnly);
  try {
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Puts the marks where the journal is now, whatever they were. Where there are no session logs, none is put beside them. */
export function resetMarks(home: string, logsMark: string | undefined, tx: number): void {
  for (const path of markPaths(home, logsMark))
    if (fs.existsSync(dirname(path))) fs.writeFileSync(path, encodeMark(tx), { mode: 0o600 });
}

/**
 * Keeps the marks. They are written after the journal was synced and are never synced themselves, so that they may lag
 * behind, but are never ahead of what a power cut leaves. One that cannot be written does not hold up the other.
 */
export class JournalMarks {
  readonly #files: readonly MarkFile[];

  constructor(home: string, logsMark: string | undefined, log: Logger) {
    this.#files = markPaths(home, logsMark).map((path) => new MarkFile(path, log));
  }

  note(tx: number): void {
    const line = encodeMark(tx);
    for (const file of this.#files) file.write(line);
  }

  close(): void {
    for (const file of this.#files) file.close();
  }
}

class MarkFile {
  readonly #path: string;
  readonly #log: Logger;
  #fd: number | undefined;
  #hasFailed = false;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  write(line: Buffer): void {
    try {
      this.#fd ??= fs.openSync(this.#path, writable, 0o600);
      fs.writeSync(this.#fd, line, 0, line.length, 0);
    } catch (error) {
      if (!this.#hasFailed)
        this.#log.warn(`the journal's mark cannot be written: ${messageOf(error)}`, { file: this.#path });
      this.#hasFailed = true;
    }
  }

  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** Of one length, so that a smaller number instead of a larger one leaves nothing of it. */
function encodeMark(tx: number): Buffer {
  return encodeLine(JSON.stringify({ tx }).padEnd(32));
}
