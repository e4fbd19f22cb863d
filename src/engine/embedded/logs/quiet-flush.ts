import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import type { SessionLogs } from "./session-logs.js";
import type { SessionTable } from "./session-table.js";

const sessionsPerTick = 20;
const retryMs = 5000;

/** Writes session logs once their sessions are quiet: in the background, a few at a time. */
export class QuietFlush {
  readonly #logs: SessionLogs;
  readonly #table: SessionTable;
  readonly #quietMs: number;
  readonly #log: Logger;
  /** When each session is due, by the monotonic clock; the earliest first. */
  readonly #due = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  /** While a segment is being replaced, nothing may enter the logs that is not synced with them. */
  isHeld = false;

  constructor(logs: SessionLogs, table: SessionTable, quietMs: number, log: Logger) {
    this.#logs = logs;
    this.#table = table;
    this.#quietMs = quietMs;
    this.#log = log;
  }

  /** The session has a new event. */
  touch(key: string, delayMs = this.#quietMs): void {
    this.#due.delete(key);
    this.#due.set(key, performance.now() + delayMs);
    this.#timer ??= setTimeout(() => this.#run(), delayMs).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#due.clear();
    this.isHeld = true;
  }

  #run(): void {
    this.#timer = undefined;
    let room = this.isHeld ? 0 : sessionsPerTick;
    for (const [key, due] of this.#due) {
      const waitMs = due - performance.now();
      if (room === 0 || waitMs > 0) {
        this.#timer = setTimeout(() => this.#run(), Math.max(10, waitMs)).unref();
        return;
      }
      room -= 1;
      this.#due.delete(key);
      this.#flush(key);
    }
  }

  #flush(key: string): void {
    const session = this.#table.find(key);
    if (session === undefined) return;
    try {
      if (!this.#logs.flush(session)) this.touch(key);
    } catch (error) {
      this.#log.warn("a session log could not be written; its events stay in the journal", {
        session: key,
        error: messageOf(error),
      });
      this.touch(key, retryMs);
    }
  }
}
