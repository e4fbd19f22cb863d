import { z } from "zod";
import type { ChannelContext } from "../channel.js";
import { KeptPlaces } from "../intake/kept-places.js";
import { isDirect, timestamp, type Where } from "./message.js";

const record = z.object({
  /** Everything up to this message is settled. */
  after: timestamp,
  /** A thread that began with a mention of the bot: all of it is for the bot. */
  isAsked: z.boolean().optional(),
});
type PlaceRecord = z.infer<typeof record>;

/** What was said in a channel before the bot was known to be there is not read further back. */
const newPlaceMs = 24 * 3600 * 1000;

export function keyOf({ channel, root }: Where): string {
  return root === undefined ? channel : `${channel}:${root}`;
}

export function placeOf(key: string): Where {
  const [channel = "", root] = key.split(":");
  return root === undefined ? { channel } : { channel, root };
}

/** Slack's way to write a time, in Unix ms. */
export function toTimestamp(ms: number): string {
  return `${String(Math.floor(ms / 1000)).padStart(10, "0")}.${String(ms % 1000).padStart(3, "0")}000`;
}

export function toMs(ts: string): number {
  return Math.round(Number(ts) * 1000);
}

/**
 * The channels, direct chats and threads of one workspace, and up to where each was heard. What is accepted moves a durable
 * cursor; what is dropped moves the record, now and then. Durable where the gateway gives records.
 */
export class Places {
  readonly #team: string;
  readonly #cursor: (name: string) => Promise<string | undefined>;
  readonly #places: KeptPlaces<PlaceRecord>;
  #begun = "";

  private constructor(team: string, { records, cursor }: Pick<ChannelContext, "records" | "cursor">) {
    this.#team = team;
    this.#cursor = cursor;
    const chatOfThread = (key: string): string | undefined => (key.includes(":") ? key.split(":", 1)[0] : undefined);
    this.#places = new KeptPlaces({ records, idOf: (key) => this.#id(key), chatOfThread });
    for (const { id, value } of records?.list() ?? []) {
      const { data } = record.safeParse(value);
      if (data === undefined || !id.startsWith(`${team}/`)) continue;
      const key = id.slice(team.length + 1);
      if (key === "begun") this.#begun = data.after;
      else this.#places.load(key, data);
    }
  }

  static async open(team: string, context: Pick<ChannelContext, "records" | "cursor">): Promise<Places> {
    const opened = new Places(team, context);
    if (opened.#begun === "") {
      opened.#begun = toTimestamp(Date.now());
      await context.records?.put(opened.#id("begun"), { after: opened.#begun });
    }
    for (const where of opened.newestFirst()) opened.take(where, await opened.position(where));
    return opened;
  }

  cursorName(where: Where): string {
    return `slack:${this.#team}:${keyOf(where)}`;
  }

  isKnown(where: Where): boolean {
    return this.#places.get(keyOf(where)) !== undefined;
  }

  /** Whether this thread began with a mention of the bot. */
  isAsked(where: Where): boolean {
    return this.#places.get(keyOf(where))?.isAsked === true;
  }

  /** All that is known, by where something was heard last. */
  newestFirst(): readonly Where[] {
    return this.#places.newestFirst().map(placeOf);
  }

  /** Everything in this place up to this message is settled. */
  async position(where: Where): Promise<string> {
    const place = this.#places.get(keyOf(where));
    const cursor = timestamp.safeParse(await this.#cursor(this.cursorName(where))).data ?? "";
    const after = place?.after ?? this.#beginOf(where);
    return cursor > after ? cursor : after;
  }

  #beginOf({ channel, root }: Where): string {
    if (root !== undefined) return root;
    const lately = toTimestamp(Date.now() - newPlaceMs);
    return isDirect(channel) || this.#begun > lately ? this.#begun : lately;
  }

  /** Keeps a place before its first message is passed on, so that it is found again whatever comes. True when it is new. */
  async know(where: Where, after: string, isAsked = false): Promise<boolean> {
    return await this.#places.know(keyOf(where), isAsked ? { after, isAsked } : { after });
  }

  async forget(where: Where): Promise<void> {
    await this.#places.forget(keyOf(where));
  }

  /** This message needs nothing more, and no cursor has moved with it. `isFinal`: it must not be taken later. */
  drop(where: Where, ts: string, isFinal = false): void {
    // Of a thread that nobody has called the bot into nothing is kept.
    if (where.root !== undefined && !this.isKnown(where)) return;
    this.take(where, ts);
    this.#places.drop(keyOf(where), ts, isFinal);
  }

  /** This message is durable, and the cursor has moved with it. */
  take(where: Where, ts: string): void {
    const key = keyOf(where);
    if (this.#places.get(key) === undefined) this.#places.load(key, { after: ts });
    else this.#places.take(key, ts);
  }

  /** Writes what has moved by much, or `all`. */
  async write(all = false): Promise<void> {
    await this.#places.write(all);
  }

  #id(key: string): string {
    return `${this.#team}/${key}`;
  }
}
