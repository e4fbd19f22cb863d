import type { ChannelRecords } from "../channel.js";

/** Written after so many messages that concerned nobody: few enough to be read again after a restart. */
const writeAfter = 20;
/** Threads of which it is known what has been heard; older ones begin again with their next message. */
const mostThreads = 200;

export interface KeptPlacesOptions {
  /** Absent: they are kept in memory. */
  readonly records: ChannelRecords | undefined;
  /** Of a place's record, by the place's key. */
  readonly idOf: (key: string) => string;
  /** The chat that a thread is in, by its key; undefined: it is not a thread. */
  readonly chatOfThread: (key: string) => string | undefined;
}

/** Chats and threads with a record each that says up to where it was heard. `after` grows with the platform's time. */
export class KeptPlaces<Place extends { after: string | number }> {
  readonly #options: KeptPlacesOptions;
  readonly #all = new Map<string, Place>();
  /** Dropped messages since the record was written. */
  readonly #unwritten = new Map<string, number>();

  constructor(options: KeptPlacesOptions) {
    this.#options = options;
  }

  get(key: string): Place | undefined {
    return this.#all.get(key);
  }

  /** By where something was heard last. */
  newestFirst(): readonly string[] {
    return [...this.#all].sort(([, a], [, b]) => (a.after < b.after ? 1 : -1)).map(([key]) => key);
  }

  /** What an earlier process has left, or what need not be durable. */
  load(key: string, place: Place): void {
    this.#all.set(key, place);
  }

  /** Keeps a place before its first message is passed on, so that it is found again whatever comes. True when it is new. */
  async know(key: string, place: Place): Promise<boolean> {
    if (this.#all.has(key)) return false;
    const { records, idOf, chatOfThread } = this.#options;
    await records?.put(idOf(key), place);
    this.#all.set(key, place);
    if (chatOfThread(key) !== undefined) await this.#forgetOldThreads();
    return true;
  }

  async forget(key: string): Promise<void> {
    if (!this.#all.delete(key)) return;
    this.#unwritten.delete(key);
    await this.#options.records?.delete(this.#options.idOf(key));
  }

  /** All up to here is settled, and durable elsewhere. */
  take(key: string, after: Place["after"]): void {
    const place = this.#all.get(key);
    if (place !== undefined && after > place.after) place.after = after;
  }

  /** All up to here is settled, and the record has to say so. `isDue`: it must not be read again. */
  drop(key: string, after: Place["after"], isDue = false): void {
    if (!this.#all.has(key)) return;
    this.take(key, after);
    this.#unwritten.set(key, (this.#unwritten.get(key) ?? 0) + (isDue ? writeAfter : 1));
  }

  /** Writes what has moved by much, or `all`. */
  async write(all = false): Promise<void> {
    const due = [...this.#unwritten].filter(([, count]) => all || count >= writeAfter).map(([key]) => key);
    for (const key of due) this.#unwritten.delete(key);
    const { records, idOf } = this.#options;
    await Promise.all(
      due.map(async (key) => {
        const place = this.#all.get(key);
        if (place !== undefined) await records?.put(idOf(key), { ...place });
      }),
    );
  }

  /** Of the chat that has most of them: who begins many takes nothing away from others. */
  async #forgetOldThreads(): Promise<void> {
    const byChat = new Map<string, string[]>();
    let count = 0;
    for (const key of this.newestFirst()) {
      const chat = this.#options.chatOfThread(key);
      if (chat === undefined) continue;
      const threads = byChat.get(chat);
      if (threads === undefined) byChat.set(chat, [key]);
      else threads.push(key);
      count += 1;
    }
    for (; count > mostThreads; count -= 1) {
      const [fullest] = [...byChat.values()].sort((one, other) => other.length - one.length);
      await this.forget(fullest?.pop() ?? "");
    }
  }
}
