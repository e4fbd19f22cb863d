import { heartbeatJob } from "./job.js";

/** Conversations of beats are kept for so long. */
const keptMs = 30 * 24 * 3600 * 1000;

interface Conversations {
  keys(isWanted: (key: string) => boolean): Promise<readonly string[]>;
  delete(key: string): Promise<void>;
}

/** The heartbeat has one conversation a day. */
export class HeartbeatConversations {
  readonly #dayOf: (at: number) => string;
  readonly #sessions: Conversations;
  #tidiedDay = "";

  constructor(
    /** The day of a moment, `YYYY-MM-DD`. */
    dayOf: (at: number) => string,
    sessions: Conversations,
  ) {
    this.#dayOf = dayOf;
    this.#sessions = sessions;
  }

  /** The session of the beats around this moment, Unix ms. */
  keyAt(at: number): string {
    return `cron:${heartbeatJob}-${this.#dayOf(at)}`;
  }

  /** Deletes what is older than it is kept, once a day. */
  async tidy(now: number): Promise<void> {
    const today = this.#dayOf(now);
    if (this.#tidiedDay === today) return;
    this.#tidiedDay = today;
    const oldest = this.keyAt(now - keptMs);
    const isOld = (key: string): boolean => key < oldest && /^cron:heartbeat-[\d-]+$/.test(key);
    for (const key of await this.#sessions.keys(isOld)) await this.#sessions.delete(key);
  }
}
