import { z } from "zod";
import type { ChannelContext, ChannelRecords } from "../channel.js";
import { KeptPlaces } from "../intake/kept-places.js";
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
  readonly #places: KeptPlaces<PlaceRecord>;
  #isOpen = false;

  constructor(
    appId: string,
    { records, cursor }: { readonly records: ChannelRecords } & Pick<ChannelContext, "cursor">,
  ) {
    this.#appId = appId;
    this.#records = records;
    this.#cursor = cursor;
    const chatOfThread = (key: string): string | undefined => (key.includes("/") ? whereIn(key).chatId : undefined);
    this.#places = new KeptPlaces({ records, idOf: (key) => prefix + key, chatOfThread });
  }

  /** Reads what an earlier process has left. */
  async open(): Promise<void> {
    if (this.#isOpen) return;
    for (const { id, value } of this.#records.list()) {
      const { data } = record.safeParse(value);
      if (data !== undefined && id.startsWith(prefix)) this.#places.load(id.slice(prefix.length), data);
    }
    for (const where of this.newestFirst()) this.take(where, await this.position(where));
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
    return this.#places.newestFirst().map(whereIn);
  }

  /** Everything that was written in this place before is settled. */
  async position(where: Where): Promise<number> {
    const cursor = Number((await this.#cursor(this.cursorName(where))) ?? 0);
    return Math.max(Number.isSafeInteger(cursor) ? cursor : 0, this.find(where)?.after ?? 0);
  }

  /** Keeps a place before its first message is passed on, so that it is found again whatever comes. True when it is new. */
  async know(where: Where, { chat, isDirect, threadId, at }: FeishuMessage): Promise<boolean> {
    const thread = where.root === undefined || threadId === undefined ? {} : { threadId };
    return await this.#places.know(keyOf(where), { chat, isDirect, ...thread, after: at - 1 });
  }

  async forget(where: Where): Promise<void> {
    await this.#places.forget(keyOf(where));
  }

  /** This message needs nothing more, and no cursor has moved with it. */
  drop(where: Where, at: number): void {
    this.#places.drop(keyOf(where), at);
  }

  /** This message is durable, and the cursor has moved with it. */
  take(where: Where, at: number): void {
    this.#places.take(keyOf(where), at);
  }

  /** Writes what has moved by much, or `all`. */
  async write(all = false): Promise<void> {
    await this.#places.write(all);
  }
}
