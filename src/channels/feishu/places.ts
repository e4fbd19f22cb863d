import { z } from "zod";
import type { ChannelContext, ChannelRecords } from "../channel.js";
import type { FeishuMessage, Where } from "./message.js";

const record = z.object({
  /** As Feishu counts it, also of a direct chat. */
  chat: z.string().min(1),
  isDirect: z.boolean(),
  /** Of Feishu's, of a thread. */
  threadId: z.string().optional(),
  /** Everything that was written before is settled. Unix ms. */
  after: z.number().int().min(0),
});
type PlaceRecord = z.output<typeof record>;

/** Written after so many messages that concerned nobody: few enough to be read again after a restart. */
const writeAfter = 20;
/** Threads of which it is known what has been heard; older ones begin again with their next message. */
const mostThreads = 200;
const prefix = "place:";

export function keyOf({ chatId, root }: Where): string {
  return root === undefined ? chatId : `${chatId}/${root}`;
}

function whereIn(key: string): Where {
  const [chatId = "", root] = key.split("/");
  return root === undefined ? { chatId } : { chatId, root };
}

/**
 * The chats and threads where somebody has written to the bot, and up to where each was heard. What is accepted moves a
 * durable cursor; what is dropped moves the record, now and then.
 */
export class Places {
  readonly #appId: string;
  readonly #records: ChannelRecords;
  readonly #cursor: ChannelContext["cursor"];
  readonly #places = new Map<string, PlaceRecord>();
  /** Dropped messages since the record was written. */
  readonly #unwritten = new Map<string, number>();
  #isOpen = false;

  constructor(
    appId: string,
    { records, cursor }: { readonly records: ChannelRecords } & Pick<ChannelContext, "cursor">,
  ) {
    this.#appId = appId;
    this.#records = records;
    this.#cursor = cursor;
  }

  /** Reads what an earlier process has left. */
  async open(): Promise<void> {
    if (this.#isOpen) return;
    for (const { id, value } of this.#records.list()) {
      const { data } = record.safeParse(value);
      if (data !== undefined && id.startsWith(prefix)) this.#places.set(id.slice(prefix.length), data);
    }
    for (const [key, place] of this.#places) place.after = await this.position(whereIn(key));
    this.#isOpen = true;
  }

  find(where: Where): Readonly<PlaceRecord> | undefined {
    return this.#places.get(keyOf(where));
  }

  cursorName(where: Where): string {
    return `feishu:${this.#appId}:${keyOf(where)}`;
  }

  /** All that is known, by where something was heard last. */
  newestFirst(): readonly Where[] {
    return [...this.#places].sort(([, a], [, b]) => b.after - a.after).map(([key]) => whereIn(key));
  }

  /** Everything that was written in this place before is settled. */
  async position(where: Where): Promise<number> {
    const cursor = Number((await this.#cursor(this.cursorName(where))) ?? 0);
    return Math.max(Number.isSafeInteger(cursor) ? cursor : 0, this.find(where)?.after ?? 0);
  }

  /** Keeps a place before its first message is passed on, so that it is found again whatever comes. True when it is new. */
  async know(where: Where, { chat, isDirect, threadId, at }: FeishuMessage): Promise<boolean> {
    const key = keyOf(where);
    if (this.#places.has(key)) return false;
    const thread = where.root === undefined || threadId === undefined ? {} : { threadId };
    const place: PlaceRecord = { chat, isDirect, ...thread, after: at - 1 };
    await this.#records.put(prefix + key, place);
    this.#places.set(key, place);
    if (where.root !== undefined) await this.#forgetOldThreads();
    return true;
  }

  async forget(where: Where): Promise<void> {
    const key = keyOf(where);
    if (!this.#places.delete(key)) return;
    this.#unwritten.delete(key);
    await this.#records.delete(prefix + key);
  }

  /** This message needs nothing more, and no cursor has moved with it. */
  drop(where: Where, at: number): void {
    const key = keyOf(where);
    if (!this.#places.has(key)) return;
    this.take(where, at);
    this.#unwritten.set(key, (this.#unwritten.get(key) ?? 0) + 1);
  }

  /** This message is durable, and the cursor has moved with it. */
  take(where: Where, at: number): void {
    const place = this.#places.get(keyOf(where));
    if (place !== undefined && at > place.after) place.after = at;
  }

  /** Writes what has moved by much, or `all`. */
  async write(all = false): Promise<void> {
    const due = [...this.#unwritten].filter(([, count]) => all || count >= writeAfter).map(([key]) => key);
    for (const key of due) this.#unwritten.delete(key);
    await Promise.all(
      due.map(async (key) => {
        const place = this.#places.get(key);
        if (place !== undefined) await this.#records.put(prefix + key, { ...place });
      }),
    );
  }

  async #forgetOldThreads(): Promise<void> {
    const threads = this.newestFirst().filter(({ root }) => root !== undefined);
    for (const old of threads.slice(mostThreads)) await this.forget(old);
  }
}
