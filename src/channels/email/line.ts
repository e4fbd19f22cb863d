import { type LinkedAbort, linked } from "../../util/linked.js";
import { sleep } from "../../util/sleep.js";

/** A mail that the mailbox has shown and that is not settled yet, or stands behind one that is not. */
interface Entry {
  readonly uid: number;
  isDone: boolean;
  /** Resolves when it is done or left for the next run. Never rejects. */
  settled: Promise<void>;
}

/** What has become of one try: it is settled, or is tried again after a while. */
export type Try = { readonly isDone: true } | { readonly isDone: false; readonly waitMs: number };

/**
 * The mails under way. Those of one chat are tried one after the other, in the order of the mailbox; chats do not wait
 * for each other. Knows up to where all are settled.
 */
export class Line {
  readonly #closing: LinkedAbort;
  readonly #entries = new Map<number, Entry>();
  readonly #latest = new Map<string, Entry>();
  readonly #onFault: (error: unknown) => void;
  #newest: number;

  /** `start`: everything up to this UID is settled. `onFault` hears of the first try that rejects, which ends all others. */
  constructor(start: number, onFault: (error: unknown) => void, signal: AbortSignal) {
    this.#newest = start;
    this.#onFault = onFault;
    this.#closing = linked(signal);
  }

  /** The newest mail that was taken in or skipped. */
  get newest(): number {
    return this.#newest;
  }

  /** Mails that are not settled. */
  get open(): number {
    return [...this.#entries.values()].filter(({ isDone }) => !isDone).length;
  }

  /** The UID up to which all are settled, this one counted as settled. */
  positionAfter(uid?: number): number {
    for (const entry of this.#entries.values()) if (!entry.isDone && entry.uid !== uid) return entry.uid - 1;
    return this.#newest;
  }

  skip(uid: number): void {
    this.#newest = Math.max(this.#newest, uid);
  }

  take(uid: number, chat: string, attempt: (signal: AbortSignal) => Promise<Try>): void {
    const entry: Entry = { uid, isDone: false, settled: Promise.resolve() };
    const before = this.#latest.get(chat);
    this.#entries.set(uid, entry);
    this.#latest.set(chat, entry);
    this.skip(uid);
    entry.settled = this.#settle(entry, before, attempt)
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#closing.abort();
        this.#onFault(error);
      })
      .then(() => {
        if (this.#latest.get(chat) === entry) this.#latest.delete(chat);
        this.#forgetSettled();
      });
  }

  async #settle(
    entry: Entry,
    before: Entry | undefined,
    attempt: (signal: AbortSignal) => Promise<Try>,
  ): Promise<void> {
    await before?.settled;
    if (before?.isDone === false) return;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const result = await attempt(signal);
      entry.isDone = result.isDone;
      if (result.isDone) return;
      await sleep(result.waitMs, signal).catch(() => undefined);
    }
  }

  #forgetSettled(): void {
    for (const entry of this.#entries.values()) {
      if (!entry.isDone) return;
      this.#entries.delete(entry.uid);
    }
  }

  /** Resolves when fewer than `limit` mails are under way. */
  async room(limit: number): Promise<void> {
    while (this.open >= limit && !this.#closing.signal.aborted)
      await Promise.race([...this.#entries.values()].filter(({ isDone }) => !isDone).map(({ settled }) => settled));
  }

  /** Resolves when no try is under way any more; what is not settled stays in the mailbox for the next run. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#entries.values()].map(({ settled }) => settled));
    this.#closing[Symbol.dispose]();
  }
}
