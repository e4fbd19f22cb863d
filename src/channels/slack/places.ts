import { z } from "zod";
import type { ChannelContext, ChannelRecords } from "../channel.js";
import { isDirect, timestamp, type Where } from "./message.js";

const record = z.object({
  /** Everything up to this message is settled. */
  after: timestamp,
  /** A thread that began with a mention of the bot: all of it is for the bot. */
  isAsked: z.boolean().optional(),
});
type PlaceRecord = z.infer<typeof record>;

/** Written after so many messages that concerned nobody: few enough to be read again after a restart. */
const writeAfter = 20;
/** What was said in a channel before the bot was known to be there is not read further back. */
const newPlaceMs = 24 * 3600 * 1000;
/** Threads of which it is known what has been heard; older ones begin again with their next message. */
const mostThreads = 200;

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
  readonly #records: ChannelRecords | undefined;
  readonly #cursor: (name: string) => Promise<string | undefined>;
  readonly #places = new Map<string, PlaceRecord>();
  /** Dropped messages since the record was written. */
  readonly #unwritten = new Map<string, number>();
  #begun = "";

  private constructor(team: string, { records, cursor }: Pick<ChannelContext, "records" | "cursor">) {
    this.#team = team;
    this.#records = records;
    this.#cursor = cursor;
    for (const { id, value } of records?.list() ?? []) {
      const { data } = record.safeParse(value);
      if (data === undefined || !id.startsWith(`${team}/`)) continue;
      const key = id.slice(team.length + 1);
      if (key === "begun") this.#begun = data.after;
      else this.#places.set(key, data);
    }
  }

  static async open(team: string, context: Pick<ChannelContext, "records" | "cursor">): Promise<Places> {
    const opened = new Places(team, context);
    if (opened.#begun === "") {
      opened.#begun = toTimestamp(Date.now());
      await context.records?.put(opened.#id("begun"), { after: opened.#begun });
    }
    for (const [key, place] of opened.#places) place.after = await opened.position(placeOf(key));
    return opened;
  }

  cursorName(where: Where): string {
    return `slack:${this.#team}:${keyOf(where)}`;
  }

  isKnown(where: Where): boolean {
    return this.#places.has(keyOf(where));
  }

  /** Whether this thread began with a mention of the bot. */
  isAsked(where: Where): boolean {
    return this.#places.get(keyOf(where))?.isAsked === true;
  }

  /** All that is known, by where something was heard last. */
  newestFirst(): readonly Where[] {
    const all = [...this.#places].sort(([, a], [, b]) => (a.after < b.after ? 1 : -1));
    return all.map(([key]) => placeOf(key));
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
    const key = keyOf(where);
    if (this.#places.has(key)) return false;
    const place: PlaceRecord = isAsked ? { after, isAsked } : { after };
    await this.#records?.put(this.#id(key), place);
    this.#places.set(key, place);
    if (where.root !== undefined) await this.#forgetOldThreads();
    return true;
  }

  async forget(where: Where): Promise<void> {
    const key = keyOf(where);
    if (!this.#places.delete(key)) return;
    this.#unwritten.delete(key);
    await this.#records?.delete(this.#id(key));
  }

  /** This message needs nothing more, and no cursor has moved with it. `isFinal`: it must not be taken later. */
  drop(where: Where, ts: string, isFinal = false): void {
    const key = keyOf(where);
    // Of a thread that nobody has called the bot into nothing is kept.
    if (where.root !== undefined && !this.#places.has(key)) return;
    this.take(where, ts);
    this.#unwritten.set(key, (this.#unwritten.get(key) ?? 0) + (isFinal ? writeAfter : 1));
  }

  /** This message is durable, and the cursor has moved with it. */
  take(where: Where, ts: string): void {
    const key = keyOf(where);
    const place = this.#places.get(key);
    if (place === undefined) this.#places.set(key, { after: ts });
    else if (ts > place.after) place.after = ts;
  }

  /** Writes what has moved by much, or `all`. */
  async write(all = false): Promise<void> {
    const due = [...this.#unwritten].filter(([, count]) => all || count >= writeAfter).map(([key]) => key);
    for (const key of due) this.#unwritten.delete(key);
    await Promise.all(
      due.map(async (key) => {
        const place = this.#places.get(key);
        if (place !== undefined) await this.#records?.put(this.#id(key), { ...place });
      }),
    );
  }

  async #forgetOldThreads(): Promise<void> {
    const threads = this.newestFirst().filter(({ root }) => root !== undefined);
    for (const old of threads.slice(mostThreads)) await this.forget(old);
  }

  #id(key: string): string {
    return `${this.#team}/${key}`;
  }
}
