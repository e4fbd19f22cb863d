import * as fs from "node:fs";
import { performance } from "node:perf_hooks";
import { EngineError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { codeOf } from "../../../util/error-code.js";
import { toStartFailure } from "../start-failure.js";
import { type LockContent, readLockFile, writeOpenLock } from "./lock-file.js";

/** Beats within the length of a lease. */
const beats = 7;

interface HeldLockOptions {
  readonly log: Logger;
  /** Taken from a lease that was over: who had it may still be in the middle of a write. */
  readonly isFromLease: boolean;
}

/** The lock file that this process holds open, and with it the lock. */
export class HeldLock {
  readonly isFromLease: boolean;
  readonly #path: string;
  readonly #fd: number;
  readonly #log: Logger;
  /** Which file it is: the path may come to mean another one. */
  readonly #file: { readonly dev: number; readonly ino: number };
  readonly #timer: NodeJS.Timeout | undefined;
  #content: LockContent;
  /** When the lease was last known to be ours, by both clocks: one stands still while the machine sleeps, the other may be set. */
  #renewed = now();
  #isReleased = false;
  #isBeatLogged = false;

  constructor(
    path: string,
    { fd, content }: { readonly fd: number; readonly content: LockContent },
    { log, isFromLease }: HeldLockOptions,
  ) {
    this.isFromLease = isFromLease;
    this.#path = path;
    this.#fd = fd;
    this.#content = content;
    this.#log = log;
    this.#file = fs.fstatSync(fd);
    const { hold, leaseMs } = content;
    if (hold === "lease" && leaseMs !== undefined)
      this.#timer = setInterval(() => this.#beat(), leaseMs / beats).unref();
  }

  /** Tells others where the holder's API is, and what it calls itself. @throws {EngineError} `persistence` */
  setAddress(address: string, instanceId?: string): void {
    if (this.#isReleased || !this.#isOurs()) return;
    try {
      this.#write({ ...this.#content, address, instanceId });
    } catch (error) {
      throw toStartFailure(this.#path, error);
    }
  }

  /**
   * To be asked before each write that the lock protects.
   *
   * @throws {EngineError} `locked` when the lock is not ours any more, for good
   */
  assertHeld(): void {
    if (this.#isReleased) throw new EngineError(`${this.#path} was released`, { kind: "locked", retryable: false });
    if (!this.#isOurs()) throw this.#lost();
  }

  /** Lets go. Does nothing when called again. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearInterval(this.#timer);
    if (this.#isPathOurs()) fs.rmSync(this.#path, { force: true });
    fs.closeSync(this.#fd);
  }

  #isOurs(): boolean {
    if (!this.#isPathOurs()) return false;
    const { hold, leaseMs = 0 } = this.#content;
    if (hold !== "lease" || isWithin(this.#renewed, leaseMs / 2)) return true;
    // Somebody may have taken it meanwhile, and a network file system may not have told us: an open file is asked again.
    const isOurs = this.#isOursWhenOpened();
    if (isOurs) this.#beat();
    return isOurs;
  }

  #isPathOurs(): boolean {
    const found = fs.statSync(this.#path, { throwIfNoEntry: false });
    return found !== undefined && found.dev === this.#file.dev && found.ino === this.#file.ino;
  }

  #isOursWhenOpened(): boolean {
    return readLockFile(this.#path)?.id === this.#content.id && this.#isPathOurs();
  }

  #beat(): void {
    try {
      if (!this.#isOursWhenOpened()) return;
      this.#write({ ...this.#content, beat: (this.#content.beat ?? 0) + 1 });
      this.#renewed = now();
      this.#isBeatLogged = false;
    } catch (error) {
      if (!this.#isBeatLogged)
        this.#log.error("the lock could not be renewed: another maxclaw may take it, and this one then stops", {
          file: this.#path,
          error,
        });
      this.#isBeatLogged = true;
    }
  }

  #write(content: LockContent): void {
    writeOpenLock(this.#fd, content);
    this.#content = content;
  }

  #lost(): EngineError {
    const { pid, address, place: runsOn } = this.#found() ?? {};
    const at = address === undefined ? "" : ` at ${address}`;
    const by =
      pid === undefined
        ? "was deleted or replaced while this maxclaw used it"
        : `was taken by another maxclaw (pid ${pid} on ${runsOn?.host ?? "this machine"}${at})`;
    return new EngineError(
      `The lock ${this.#path} ${by}. This maxclaw (pid ${process.pid}) stops and writes nothing more, so that two never use one folder. Start it again once no other one runs.`,
      { kind: "locked", retryable: false },
    );
  }

  #found(): LockContent | undefined {
    try {
      return readLockFile(this.#path)?.content;
    } catch (error) {
      this.#log.debug("the lock file could not be read", { error: messageOf(error), code: codeOf(error) });
      return undefined;
    }
  }
}

interface Moment {
  readonly steady: number;
  readonly wall: number;
}

function now(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

function isWithin(since: Moment, ms: number): boolean {
  const { steady, wall } = now();
  return steady - since.steady < ms && Math.abs(wall - since.wall) < ms;
}
