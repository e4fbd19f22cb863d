import { type LinkedAbort, linked } from "../../util/async/linked.js";
import { sleep } from "../../util/async/sleep.js";

/** A mail that the mailbox has shown and that is not settled yet, or is behind one that is not. */
interface Entry {
  readonly uid: number;
  readonly chat: string;
  isDone: boolean;
  /** Nothing of it is in memory: it is read when its turn comes. */
  isLater: boolean;
  /** It is being read, or waits for its chat's turn to be; not while it waits for its next try. */
  isUnderWay: boolean;
  /** Resolves when it is read, and later mails of its chat may be. Never rejects. */
  read: Promise<void>;
  /** Resolves when it is done or left for the next run. Never rejects. */
  settled: Promise<void>;
  /** Resolves when it and all before it in its chat are settled, with whether all are done. Never rejects. */
  turn: Promise<boolean>;
}

/** What has happened to one try: it is settled, or is tried again after a while. */
export type Try = { readonly isDone: true } | { readonly isDone: false; readonly waitMs: number };

/** What is to be done for a mail. */
export interface Tries {
  /** Until it is done: reads the mail. Its chat's later ones are read after it. */
  read(signal: AbortSignal): Promise<Try>;
  /** Once it is read and its turn has come, until it is done: passes it on. */
  pass(signal: AbortSignal): Promise<Try>;
  /** Once it is read: whether it waits for no other mail of its chat, and whether there is anything to pass on. */
  isNext(): boolean;
  isOver(): boolean;
}

/**
 * The mails under way. Those of one chat are read and passed on one after the other, in the order of the mailbox; chats
 * do not wait for each other, and what acts at once waits only to be read. Knows up to where all are settled.
 */
export class Line {
  readonly #closing: LinkedAbort;
  readonly #entries = new Map<number, Entry>();
  readonly #latest = new Map<string, Entry>();
  readonly #onFault: (error: unknown) => void;
  #newest: number;
  #makeRoom: () => void = () => {};

  /** `start`: everything up to this UID is settled. `onFault` hears about the first try that rejects, which ends all others. */
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

  /** `isLater`: it is read only when all before it are settled. */
  take(uid: number, chat: string, tries: Tries, isLater = false): void {
    const done = Promise.resolve();
    const entry: Entry = {
      uid,
      chat,
      isDone: false,
      isLater,
      isUnderWay: true,
      read: done,
      settled: done,
      turn: done.then(() => true),
    };
    const before = this.#latest.get(chat);
    this.#entries.set(uid, entry);
    this.#latest.set(chat, entry);
    this.skip(uid);
    const reading = this.#read(entry, before, tries);
    entry.read = reading.catch(() => undefined);
    entry.settled = reading
      .then(() => this.#settle(entry, before, tries))
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#closing.abort();
        this.#makeRoom();
        this.#onFault(error);
      })
      .then(() => this.#forgetSettled());
    // One that acted at once may be settled long before those that it has passed.
    entry.turn = entry.settled.then(async () => {
      const isWhole = (await before?.turn) !== false && entry.isDone;
      if (this.#latest.get(chat) === entry) this.#latest.delete(chat);
      return isWhole;
    });
  }

  async #read(entry: Entry, before: Entry | undefined, tries: Tries): Promise<void> {
    await (entry.isLater ? before?.turn : before?.read);
    entry.isLater = false;
    await this.#untilDone(async (signal) => {
      entry.isUnderWay = true;
      try {
        return await tries.read(signal);
      } finally {
        entry.isUnderWay = false;
        this.#makeRoom();
      }
    });
  }

  async #settle(entry: Entry, before: Entry | undefined, tries: Tries): Promise<void> {
    // What is left for the next run comes there before this.
    if (!tries.isNext() && (await before?.turn) === false) return;
    if (this.#closing.signal.aborted) return;
    entry.isDone = tries.isOver() || (await this.#untilDone((signal) => tries.pass(signal)));
  }

  /** False: the end came first. */
  async #untilDone(attempt: (signal: AbortSignal) => Promise<Try>): Promise<boolean> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const result = await attempt(signal);
      if (result.isDone) return true;
      await sleep(result.waitMs, signal).catch(() => undefined);
    }
    return false;
  }

  #forgetSettled(): void {
    this.#makeRoom();
    for (const entry of this.#entries.values()) {
      if (!entry.isDone) return;
      this.#entries.delete(entry.uid);
    }
  }

  /** Mails of this chat that are not settled. */
  openOf(chat: string): number {
    return [...this.#entries.values()].filter((entry) => !entry.isDone && entry.chat === chat).length;
  }

  /** Resolves when fewer than `reading` mails are being read, and fewer than `held` are read and not settled. */
  async room({ reading, held }: { readonly reading: number; readonly held: number }): Promise<void> {
    const isFull = (): boolean => {
      const open = [...this.#entries.values()].filter(({ isDone, isLater }) => !isDone && !isLater);
      return open.length >= held || open.filter(({ isUnderWay }) => isUnderWay).length >= reading;
    };
    while (isFull() && !this.#closing.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#makeRoom = resolve;
      });
  }

  /** Resolves when no try is under way any more; what is not settled stays in the mailbox for the next run. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#makeRoom();
    await Promise.all([...this.#entries.values()].map(({ settled }) => settled));
    this.#closing[Symbol.dispose]();
  }
}
