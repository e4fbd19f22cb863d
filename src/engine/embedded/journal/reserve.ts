import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { notPlain } from "../../../util/error-code.js";

/** Room for the receipts of some thirty messages that are under way. */
const reserveBytes = 32 * 1024;

/**
 * Room on the disk that nobody else can take: a file that is given back when a write finds no other room. On a file
 * system with quotas or copies of what was, the room may be gone all the same: then the write fails as it would have.
 */
export class Reserve {
  readonly #path: string;
  #isKept = false;

  /** @throws when there is no room for it */
  constructor(home: string) {
    this.#path = join(home, "reserve.tmp");
    this.keep();
  }

  get isKept(): boolean {
    return this.#isKept;
  }

  /** @throws when there is no room for it: then there is no file */
  keep(): void {
    if (this.#isKept) return;
    const found = fs.lstatSync(this.#path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw notPlain(this.#path, found);
    try {
      // Not of zeros, which some file systems do not store.
      fs.writeFileSync(this.#path, randomBytes(reserveBytes), { mode: 0o600 });
    } catch (error) {
      fs.rmSync(this.#path, { force: true });
      throw error;
    }
    this.#isKept = true;
  }

  giveBack(): void {
    this.#isKept = false;
    fs.rmSync(this.#path, { force: true });
  }
}
