import * as fs from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { codeOf } from "../files.js";
import { decodeLine, encodeLine } from "../journal/line.js";

/** A file in the home that names a transaction of the journal which was safe on the disk. */
export const markName = "journal.mark";

const mark = z.object({ tx: z.number() });

/** Up to which transaction the journal was on the disk for sure; undefined when nothing tells. */
export function readMark(home: string, log: Logger): number | undefined {
  const path = join(home, markName);
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") log.warn("the journal's mark could not be read", { file: path, error });
    return undefined;
  }
  const parsed = mark.safeParse(decodeLine(bytes));
  if (parsed.success) return parsed.data.tx;
  log.warn("the journal's mark is damaged: it is written anew", { file: path });
  return undefined;
}

/** Puts the mark where the journal is now, whatever it was. */
export function resetMark(home: string, tx: number): void {
  fs.writeFileSync(join(home, markName), encodeMark(tx), { mode: 0o600 });
}

/**
 * Keeps the mark. It is written after the journal was synced and is never synced itself, so that it may lag behind, but is
 * never ahead of what a power cut leaves.
 */
export class JournalMark {
  readonly #path: string;
  readonly #log: Logger;
  #fd: number | undefined;
  #hasFailed = false;

  constructor(home: string, log: Logger) {
    this.#path = join(home, markName);
    this.#log = log;
  }

  note(tx: number): void {
    try {
      this.#fd ??= fs.openSync(this.#path, fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o600);
      const line = encodeMark(tx);
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

/** Of one length, so that a smaller number in the place of a larger one leaves nothing of it. */
function encodeMark(tx: number): Buffer {
  return encodeLine(JSON.stringify({ tx }).padEnd(32));
}
