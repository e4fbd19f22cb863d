import { EngineError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import type { Journal } from "./journal.js";
import type { QuietFlush } from "./quiet-flush.js";
import type { SessionLogs } from "./session-logs.js";
import { pendingOf } from "./session-table.js";
import type { LiveRecords } from "./state.js";

interface MaintenanceOptions {
  readonly journal: Journal;
  readonly records: LiveRecords;
  readonly logs: SessionLogs;
  readonly quiet: QuietFlush;
  readonly log: Logger;
  readonly segmentBytes: number;
  readonly boundary: (name: string) => void;
}

/** Moves events from the journal to the session logs and begins new segments: one of these at a time. */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  #last: Promise<unknown> = Promise.resolve();
  #isRotating = false;
  #rotateAbove: number;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#rotateAbove = options.segmentBytes;
  }

  /** Begins a new segment soon, if the current one is full. */
  check(): void {
    const { journal, log, segmentBytes } = this.#options;
    if (this.#isRotating || journal.segmentBytes <= this.#rotateAbove) return;
    this.#isRotating = true;
    this.#serially(() => this.#rotate()).then(
      () => {
        this.#rotateAbove = segmentBytes;
        this.#isRotating = false;
      },
      (error: unknown) => {
        log.error("the journal could not begin a new segment; it goes on with the old one", { error });
        this.#rotateAbove = journal.segmentBytes + segmentBytes / 4;
        this.#isRotating = false;
      },
    );
  }

  /** Everything is in the session logs and on the disk afterwards. */
  flush(): Promise<void> {
    return this.#serially(() => this.#flushAll());
  }

  /** The same, and the next start finds a short journal. */
  async compact(): Promise<void> {
    await this.#serially(async () => {
      await this.#flushAll();
      if (this.#options.journal.segmentBytes > 0) await this.#rotate();
    });
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
    const { journal, records, logs, quiet, log, boundary } = this.#options;
    boundary("rotate:before");
    quiet.isHeld = true;
    try {
      await journal.sync(false);
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
      await this.#syncLogs();
      const old = journal.startSegment(records.checkpoint());
      boundary("rotate:checkpoint-written");
      records.sessions.startSegment();
      await journal.sync(false);
      await journal.drop(old);
      boundary("rotate:old-dropped");
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
    const done = this.#last.then(job, job);
    this.#last = done.catch(() => {});
    return done;
  }
}
