import { statSync } from "node:fs";
import { EngineError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { InOrder } from "../../util/async/in-order.js";
import { closedError } from "../engine-life.js";
import type { HeldFiles } from "../held-files.js";
import type { ThinReport, ThinSpan } from "../left-out.js";
import type { Journal } from "./journal/journal.js";
import type { QuietFlush } from "./logs/quiet-flush.js";
import type { SessionLogs } from "./logs/session-logs.js";
import { pendingOf } from "./logs/session-table.js";
import type { SeenKeeper } from "./seen/seen-keeper.js";
import type { LiveRecords } from "./state.js";

interface MaintenanceOptions {
  readonly journal: Journal;
  readonly records: LiveRecords;
  readonly logs: SessionLogs;
  readonly quiet: QuietFlush;
  readonly seen: SeenKeeper;
  readonly log: Logger;
  readonly segmentBytes: number;
  readonly forgetMs: number;
  readonly boundary: (name: string) => void;
}

/** The journal may grow by so many segments while its files are held. */
const mostHeldSegments = 32;

/** Moves events from the journal to the session logs and begins new segments: one of these at a time. */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  /** Tells who holds the files that they are taken back. */
  #lost: AbortController | undefined;
  #mayHold = true;
  readonly #inOrder = new InOrder();
  #isRotating = false;
  #rotateAbove: number;
  #forgetTimer: NodeJS.Timeout | undefined;
  /** The present segment holds what has been deleted since it began. */
  #mustForget = false;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#rotateAbove = options.segmentBytes;
  }

  /** Begins a new segment soon, if the current one is full. */
  check(): void {
    const { journal, log, segmentBytes } = this.#options;
    if (journal.segmentBytes > mostHeldSegments * segmentBytes) this.#takeBack("the journal has grown too long");
    if (this.#isRotating || journal.segmentBytes <= this.#rotateAbove) return;
    this.#isRotating = true;
    this.#serially(() => this.#rotate()).then(
      () => {
        this.#rotateAbove = segmentBytes;
        this.#isRotating = false;
        void this.#serially(() => this.#options.seen.merge());
      },
      (error: unknown) => {
        log.error("the journal could not begin a new segment; it goes on with the old one", { error });
        this.#rotateAbove = journal.segmentBytes + segmentBytes / 4;
        this.#isRotating = false;
      },
    );
  }

  /** Soon the journal holds no more of what was deleted: it begins a new segment, one for all deletions of a moment. */
  forgetSoon(): void {
    this.#mustForget = true;
    this.#forgetTimer ??= setTimeout(() => {
      // What is deleted from here on may be too late for the segment that begins now.
      this.#forgetTimer = undefined;
      this.#serially(async () => {
        if (this.#mustForget) await this.#rotate();
      }).catch((error: unknown) => {
        this.#options.log.error("the journal could not be written again; it still holds what was deleted", { error });
      });
    }, this.#options.forgetMs);
  }

  /** Everything is in the session logs and on the disk afterwards. */
  flush(): Promise<void> {
    return this.#serially(() => this.#flushAll());
  }

  /** The same, and the next start finds a short journal. */
  async compact(): Promise<void> {
    clearTimeout(this.#forgetTimer);
    await this.#serially(async () => {
      await this.#flushAll();
      if (this.#options.journal.segmentBytes > 0) await this.#rotate();
    });
  }

  /**
   * Leaves old details out of these logs, as {@link SessionLogs.thin} says, one after the other and never while the files are held. The
   * journal first lets go of what is in the logs, so that nothing brings it back.
   */
  async thin(paths: readonly string[], { sinceMs, beforeMs }: ThinSpan, signal: AbortSignal): Promise<ThinReport> {
    const report = { freed: 0, failed: 0 };
    let isRotated = false;
    for (const path of paths) {
      // Others go on between two logs.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) break;
      if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < sinceMs) continue;
      try {
        if (!isRotated) await this.#serially(() => this.#rotate());
        isRotated = true;
        report.freed += await this.#serially(() => this.#options.logs.thin(path, beforeMs));
      } catch (error) {
        report.failed += 1;
        this.#options.log.warn("old details could not be left out of a session log; it stays as it is", {
          file: path,
          error: messageOf(error),
        });
      }
    }
    return report;
  }

  /** Brings the files up to date; until the result is disposed only the journal's segment changes, by growing. */
  hold(): Promise<HeldFiles> {
    return new Promise((resolve, reject) => {
      const ended: Promise<void> = this.#serially(() =>
        this.#holdFiles(
          (held) => resolve(held),
          () => ended,
        ),
      );
      ended.catch(reject);
    });
  }

  /** True while somebody holds the files. */
  get isHeld(): boolean {
    return this.#lost !== undefined;
  }

  /** Takes the files back from who holds them, and gives them to nobody any more. */
  stopHolding(): void {
    this.#mayHold = false;
    this.#options.seen.stop();
    this.#takeBack("the gateway stops");
  }

  #takeBack(why: string): void {
    this.#lost?.abort(new EngineError(`The files can no longer be held: ${why}`, { kind: "closed" }));
  }

  async #holdFiles(onHeld: (held: HeldFiles) => void, whenEnded: () => Promise<void>): Promise<void> {
    const { journal, quiet } = this.#options;
    if (!this.#mayHold) throw closedError();
    const lost = new AbortController();
    // A backup would keep what was deleted a moment ago for good.
    if (this.#mustForget) await this.#rotate();
    quiet.isHeld = true;
    try {
      await journal.sync(false);
      await this.#flushEach();
      await this.#syncLogs();
      await new Promise<void>((release) => {
        this.#lost = lost;
        lost.signal.addEventListener("abort", () => release(), { once: true });
        onHeld({
          segment: journal.syncedFile,
          lost: lost.signal,
          async [Symbol.asyncDispose]() {
            release();
            await whenEnded();
          },
        });
      });
    } finally {
      this.#lost = undefined;
      quiet.isHeld = false;
    }
  }

  /** A log that cannot be written keeps its events in the journal, and holds up no other. */
  async #flushEach(): Promise<void> {
    const { records, logs, log } = this.#options;
    for (const session of [...records.sessions.all()]) {
      if (pendingOf(session).length === 0) continue;
      try {
        logs.flush(session);
      } catch (error) {
        log.warn("a session log could not be written; its events stay in the journal", {
          session: session.key,
          error,
        });
      }
      // Other lanes go on between two sessions.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #flushAll(): Promise<void> {
    const { journal, records, logs } = this.#options;
    await journal.sync(false);
    for (const session of [...records.sessions.all()]) logs.flush(session);
    await this.#syncLogs();
  }

  /**
   * What the session logs do not have by now, as well as all other live records, goes to the head of the new segment.
   * The old one stays until that is on the disk; a crash at any point leaves one of the two complete.
   */
  async #rotate(): Promise<void> {
    const { journal, records, quiet, seen, boundary } = this.#options;
    boundary("rotate:before");
    quiet.isHeld = true;
    try {
      await journal.sync(false);
      await this.#flushEach();
      await this.#syncLogs();
      const countSealed = await seen.seal();
      countSealed();
      const old = journal.startSegment(records.checkpoint());
      this.#mustForget = false;
      boundary("rotate:checkpoint-written");
      records.sessions.startSegment();
      await journal.sync(false);
      await journal.drop(old);
      boundary("rotate:old-dropped");
      seen.removeOthers();
    } finally {
      quiet.isHeld = false;
    }
  }

  async #syncLogs(): Promise<void> {
    try {
      await this.#options.logs.sync();
    } catch (error) {
      if (!(error instanceof EngineError)) {
        this.#options.journal.fail(
          new Error(`A session log could not be synced: ${messageOf(error)}`, { cause: error }),
        );
      }
      throw error;
    }
  }

  #serially<T>(job: () => Promise<T>): Promise<T> {
    return this.#inOrder.run(job);
  }
}
