import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { EngineError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { syncPath } from "../../../util/files/sync-path.js";
import { Spread, type SpreadCounts } from "../../../util/spread.js";
import { writeFully } from "../files.js";
import { encodeLine } from "./line.js";
import { encodeTransaction, type Operation } from "./operations.js";
import { Reserve } from "./reserve.js";
import { encodeHead, type SegmentFile, segmentPath } from "./segment.js";

const fdatasync = promisify(fs.fdatasync);
const lazySyncMs = 200;
const probeMs = 500;
const watchMs = 2000;
const probeBytes = 16 * 1024;
/** One look at the lock serves the writes of so long: a message makes ten of them, and a look takes longer than to write a line. */
const oldestLookMs = 5;
/** In seconds: from a good SSD to a card that is about to die. */
const syncBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

interface OpenSegment extends SegmentFile {
  readonly fd: number;
  /** End of the last good line. */
  size: number;
  synced: number;
  readonly checkpointEnd: number;
  /** The folder entry survives a power cut. */
  isListed: boolean;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly isCounted: boolean;
}

interface JournalOptions {
  /** Learns up to which transaction the journal is on the disk. */
  readonly mark: { note(tx: number): void; close(): void };
  readonly log: Logger;
  readonly onFatal: (error: Error) => void;
  /** The disk takes writes again. */
  readonly onWritable: () => void;
  /** Throws when another process may write here too. */
  readonly assertHeld?: (() => void) | undefined;
}

/**
 * The commit file. `write` appends one transaction and returns once the bytes are with the operating system; `sync`
 * resolves once everything written before the call is on the disk, one fdatasync for all who wait.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #reserve: Reserve;
  readonly #syncSeconds = new Spread(syncBounds);
  #segment: OpenSegment;
  #tx: number;
  /** Bytes of transactions written and synced since opening, over all segments. */
  #written = 0;
  #synced = 0;
  /** The highest offset that some line of this segment names as synced. */
  #announced = 0;
  #waiters: Waiter[] = [];
  #isSyncing = false;
  #syncs = 0;
  #refusal: string | undefined;
  #failure: Error | undefined;
  #lazySync: NodeJS.Timeout | undefined;
  #probe: NodeJS.Timeout | undefined;
  readonly #watch: NodeJS.Timeout;
  #isEnding = false;
  /** When the lock was last known to be ours, by the clock that never stands still while this process does. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(
    start: {
      readonly segment: SegmentFile;
      readonly size: number;
      readonly checkpointEnd: number;
      /** The last one; all of it is on the disk. */
      readonly tx: number;
    },
    options: JournalOptions,
  ) {
    this.#options = options;
    this.#tx = start.tx;
    const fd = fs.openSync(start.segment.path, "a", 0o600);
    this.#segment = {
      ...start.segment,
      fd,
      size: start.size,
      synced: start.size,
      checkpointEnd: start.checkpointEnd,
      isListed: true,
    };
    this.#reserve = new Reserve(dirname(dirname(start.segment.path)));
    options.mark.note(start.tx);
    this.#watch = setInterval(() => this.#isAlone(), watchMs).unref();
  }

  get syncs(): number {
    return this.#syncs;
  }

  /** How long each sync took, in seconds, those that nobody waited for included. */
  get syncSeconds(): SpreadCounts {
    return this.#syncSeconds.read();
  }

  /** Why writes are refused at the moment. */
  get refusal(): string | undefined {
    return this.#failure === undefined ? this.#refusal : this.#failure.message;
  }

  /** Bytes behind the checkpoint of the current segment. */
  get segmentBytes(): number {
    return this.#segment.size - this.#segment.checkpointEnd;
  }

  /** The current segment and how much of it is on the disk, in whole transactions. */
  get syncedFile(): { readonly path: string; readonly bytes: number } {
    return { path: this.#segment.path, bytes: this.#segment.synced };
  }

  get syncedPosition(): number {
    return this.#synced;
  }

  /**
   * Appends one transaction; returns its position in the stream of journal bytes. `isReceipt`: it notes what has happened
   * outside already. A full disk has room for some of those, which is kept for them as long as anything else is written.
   *
   * @throws {EngineError} `persistence`: nothing of it is in the file
   */
  write(operations: readonly Operation[], isReceipt = false): number {
    this.#assertUsable(isReceipt);
    this.#assertAlone(oldestLookMs);
    const segment = this.#segment;
    const line = encodeLine(encodeTransaction(this.#tx + 1, segment.synced, operations));
    try {
      this.#append(segment, line, isReceipt);
    } catch (error) {
      throw this.#refuse(segment, error);
    }
    this.#tx += 1;
    segment.size += line.length;
    this.#written += line.length;
    this.#announced = segment.synced;
    this.#lazySync ??= setTimeout(() => void this.#syncLazily(), lazySyncMs).unref();
    return this.#written;
  }

  /**
   * To be asked before each write to a file that belongs to this journal's engine.
   *
   * @throws {EngineError} `persistence` when another process may use the files: this one stops
   */
  assertAlone(): void {
    this.#assertAlone(0);
  }

  /** `lookMs`: how old the last look at the lock may be. */
  #assertAlone(lookMs: number): void {
    if (this.#failure === undefined && this.#isAlone(lookMs)) return;
    throw this.#stopped(this.#failure ?? new Error("The journal is closed"));
  }

  #append(segment: OpenSegment, line: Buffer, isReceipt: boolean): void {
    try {
      writeFully(segment.fd, line);
    } catch (error) {
      if (!isReceipt || !this.#reserve.isKept) throw error;
      this.#refuse(segment, error);
      this.#assertUsable(isReceipt);
      this.#reserve.giveBack();
      writeFully(segment.fd, line);
    }
  }

  /** Resolves once everything written so far is on the disk. `isCounted`: somebody relies on it. */
  sync(isCounted = true): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#stopped(this.#failure));
    if (this.#synced >= this.#written && this.#segment.isListed) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject, isCounted });
      if (this.#isSyncing) return;
      this.#isSyncing = true;
      // Everybody who writes in this tick takes part.
      queueMicrotask(() => void this.#runSyncs());
    });
  }

  /**
   * Begins a new segment with these live records at its head; all later transactions go there. The old segment must
   * stay until a sync has succeeded: then pass it to `drop`.
   */
  startSegment(operations: Iterable<Operation>): SegmentFile & { readonly fd: number } {
    this.#assertUsable();
    this.assertAlone();
    const old = this.#segment;
    const number = old.number + 1;
    const path = segmentPath(dirname(old.path), number);
    const head = encodeHead(number, this.#tx, operations);
    const fd = fs.openSync(path, "ax", 0o600);
    try {
      writeFully(fd, head);
    } catch (error) {
      fs.closeSync(fd);
      fs.unlinkSync(path);
      throw new EngineError(`Could not begin the journal segment ${path}: ${messageOf(error)}`, {
        kind: "persistence",
        cause: error,
      });
    }
    this.#segment = { number, path, fd, size: head.length, synced: 0, checkpointEnd: head.length, isListed: false };
    this.#announced = 0;
    return old;
  }

  async drop(old: SegmentFile & { readonly fd: number }): Promise<void> {
    fs.closeSync(old.fd);
    fs.rmSync(old.path, { force: true });
    await syncPath(dirname(old.path));
  }

  async close(): Promise<void> {
    try {
      if (this.#failure === undefined) await this.sync(false);
      this.#announce();
    } finally {
      clearTimeout(this.#lazySync);
      clearTimeout(this.#probe);
      clearInterval(this.#watch);
      // Else the file may be another process's by now.
      if (this.#isAlone()) this.#reserve.giveBack();
      this.#failure ??= new Error("The journal is closed");
      fs.closeSync(this.#segment.fd);
      this.#options.mark.close();
    }
  }

  async #runSyncs(): Promise<void> {
    while (this.#waiters.length > 0) {
      const batch = this.#waiters;
      this.#waiters = [];
      const segment = this.#segment;
      const { size } = segment;
      const written = this.#written;
      const tx = this.#tx;
      const begunAt = performance.now();
      try {
        await fdatasync(segment.fd);
        if (!segment.isListed) await syncPath(dirname(segment.path));
      } catch (error) {
        this.#waiters.unshift(...batch);
        this.fail(new Error(`The journal could not be synced: ${messageOf(error)}`, { cause: error }));
        return;
      }
      this.#syncSeconds.observe((performance.now() - begunAt) / 1000);
      // Anyone who has taken the lock meanwhile does not have to have seen what was just written.
      if (!this.#isAlone()) {
        for (const { reject } of batch) reject(this.#stopped(this.#failure ?? new Error("The journal is closed")));
        return;
      }
      segment.isListed = true;
      segment.synced = size;
      this.#synced = Math.max(this.#synced, written);
      this.#options.mark.note(tx);
      if (batch.some(({ isCounted }) => isCounted)) this.#syncs += 1;
      for (const { resolve } of batch) resolve();
    }
    this.#isSyncing = false;
  }

  /** The engine closes: who loses the lock from now on need not be stopped. */
  end(): void {
    this.#isEnding = true;
    clearInterval(this.#watch);
  }

  /** After a failed fsync nobody knows what is on the disk: nothing more may be written by this process. */
  fail(error: Error, isFatal = true): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    clearTimeout(this.#lazySync);
    clearTimeout(this.#probe);
    clearInterval(this.#watch);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { reject } of waiters) reject(this.#stopped(error));
    if (isFatal) this.#options.onFatal(error);
    else this.#options.log.error(`the journal is not written any more: ${error.message}`, { error });
  }

  /** False, and nothing is written any more, when the lock is lost or somebody else has written or removed the segment. */
  #isAlone(lookMs = 0): boolean {
    if (this.#failure !== undefined) return false;
    const { fd, path, size } = this.#segment;
    try {
      const now = performance.now();
      if (now - this.#lookedAt >= lookMs) {
        this.#options.assertHeld?.();
        this.#lookedAt = now;
      }
      const found = fs.fstatSync(fd);
      if (found.nlink === 0) throw new Error(`${path} was removed`);
      if (found.size !== size) throw new Error(`${path} has ${found.size} bytes instead of ${size}`);
      return true;
    } catch (error) {
      const isLock = error instanceof EngineError;
      const fault = isLock
        ? error
        : new Error(`Another program has changed the journal: ${messageOf(error)}`, { cause: error });
      this.fail(fault, !this.#isEnding);
      return false;
    }
  }

  async #syncLazily(): Promise<void> {
    // What is written while the disk works is synced by the next one.
    this.#lazySync = undefined;
    try {
      if (this.#synced < this.#written) await this.sync(false);
    } catch {
      return; // `fail` has logged it.
    }
    this.#announce();
  }

  /** Names the synced offset in the file, so that later damage before it is not taken for a torn tail. */
  #announce(): void {
    const segment = this.#segment;
    if (this.#failure !== undefined || this.#refusal !== undefined || !this.#isAlone()) return;
    if (segment.synced <= this.#announced || segment.size !== segment.synced) return;
    const line = encodeLine(encodeTransaction(this.#tx, segment.synced, []));
    try {
      writeFully(segment.fd, line);
      this.#announced = segment.synced;
      segment.size += line.length;
    } catch (error) {
      this.#refuse(segment, error);
    }
  }

  #assertUsable(isReceipt = false): void {
    if (this.#failure !== undefined) throw this.#stopped(this.#failure);
    if (this.#refusal !== undefined && !isReceipt) throw new EngineError(this.#refusal, { kind: "persistence" });
  }

  #stopped(error: Error): EngineError {
    return new EngineError(`Nothing can be stored any more: ${error.message}`, {
      kind: "persistence",
      cause: error,
      retryable: false,
    });
  }

  /** Takes back a write that failed, and looks from time to time whether the disk has room again. */
  #refuse(segment: OpenSegment, cause: unknown): EngineError {
    this.#refusal = `The disk refuses writes to ${segment.path}: ${messageOf(cause)}. Free some space; the gateway goes on by itself.`;
    try {
      fs.ftruncateSync(segment.fd, segment.size);
    } catch (error) {
      this.fail(
        new Error(`A failed write could not be taken back from ${segment.path}: ${messageOf(error)}`, { cause: error }),
      );
    }
    if (this.#failure === undefined) {
      this.#options.log.error("the disk refuses writes: nothing is accepted until there is room", {
        file: segment.path,
        error: cause,
      });
      this.#probe ??= setTimeout(() => this.#tryAgain(), probeMs).unref();
    }
    return new EngineError(this.#refusal, { kind: "persistence", cause });
  }

  #tryAgain(): void {
    this.#probe = undefined;
    const path = join(dirname(this.#segment.path), "probe.tmp");
    try {
      fs.writeFileSync(path, Buffer.alloc(probeBytes), { mode: 0o600 });
      this.#reserve.keep();
    } catch {
      this.#probe = setTimeout(() => this.#tryAgain(), probeMs).unref();
      return;
    } finally {
      fs.rmSync(path, { force: true });
    }
    this.#refusal = undefined;
    this.#options.log.info("the disk takes writes again", { file: this.#segment.path });
    this.#options.onWritable();
  }
}
