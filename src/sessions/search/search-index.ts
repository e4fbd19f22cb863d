import type { Engine } from "../../engine/engine.js";
import { messageOf, RequestError } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import { channelOf } from "../../events/session-key.js";
import type { Logger } from "../../log.js";
import { InOrder } from "../../util/async/in-order.js";
import { settledWithin } from "../../util/async/within.js";
import type { SessionSummary } from "../session.js";
import { findPlaces, type Wanted } from "./find.js";
import { matchesIn } from "./fold-text.js";
import { encodedKey, type Place } from "./line.js";
import { newsOf } from "./news.js";
import { placeOf, tokenOf } from "./place-token.js";
import { needlesOf } from "./query.js";
import type { ConversationSearch, SearchHit, SearchPage, SearchQuery } from "./search.js";
import { SearchFile } from "./search-file.js";
import { SearchLines } from "./search-lines.js";
import { snippetOf } from "./snippet.js";
import { spokenIn } from "./spoken.js";

export interface SearchSources {
  readonly engine: Pick<Engine, "events">;
  readonly bus: EventConsumer;
  readonly sessions: {
    /** Every session and up to where its log reaches. */
    reached(): Promise<Iterable<readonly [key: string, seq: number]>>;
    summaries(keys: readonly string[]): Promise<ReadonlyMap<string, SessionSummary>>;
    exists(key: string): Promise<boolean>;
  };
  readonly path: string;
  readonly log: Logger;
}

/** A search waits so long for what is new to be read. */
const readMs = 1500;
const keepUpMs = 60_000;
const restMs = 120_000;

/**
 * The search over one file of folded text, which is made from the logs and kept up with them: what a session has said
 * since is read before each search, and every minute while something is said. Between searches nothing is in memory.
 */
export class SearchIndex implements ConversationSearch, AsyncDisposable {
  readonly #sources: SearchSources;
  readonly #file: SearchFile;
  readonly #lines: SearchLines;
  readonly #inOrder = new InOrder();
  /** Sessions with something new. */
  #changed = new Set<string>();
  #keepUpTimer: NodeJS.Timeout | undefined;
  #restTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #unsubscribe: () => void;

  constructor(sources: SearchSources) {
    this.#sources = sources;
    this.#file = new SearchFile(sources.path);
    this.#lines = new SearchLines(this.#file);
    this.#unsubscribe = sources.bus.on(
      ["user_message_queued", "assistant_message", "session_title_generated", "session_history_changed"],
      ({ session_key }) => this.#note(session_key),
    );
  }

  async find(query: SearchQuery): Promise<SearchPage> {
    const needles = needlesOf(query.text);
    if (needles.length === 0)
      throw new RequestError("q needs at least one word to look for.", { status: 400, code: "bad_request" });
    const wanted = {
      needles,
      key: keyOf(query),
      after: query.before === undefined ? undefined : placeOf(query.before),
    };
    const isRead = await settledWithin(this.#readAll(true), { ms: readMs });
    const { hits, next } = await this.#hits(wanted, query.limit);
    this.#restLater();
    return { hits, ...(next === undefined ? {} : { next }), isComplete: isRead && this.#lines.isWhole };
  }

  async forget(sessionKey: string): Promise<void> {
    await this.#inOrder.run(() => this.#lines.dropSession(sessionKey));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    clearTimeout(this.#keepUpTimer);
    clearTimeout(this.#restTimer);
    await this.#inOrder.settled();
  }

  #note(key: string): void {
    if (key.startsWith("system:")) return;
    this.#changed.add(key);
    this.#keepUpTimer ??= setTimeout(() => {
      this.#keepUpTimer = undefined;
      void this.#readAll(false);
      this.#restLater();
    }, keepUpMs).unref();
  }

  #restLater(): void {
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => void this.#inOrder.run(() => this.#lines.release()), restMs).unref();
  }

  /**
   * Never rejects: what cannot be read is not found. One session at a time, so that a deletion waits for no more than one.
   *
   * @param compares also with what was said before this began
   */
  async #readAll(compares: boolean): Promise<void> {
    try {
      const isToCompare = await this.#inOrder.run(async () => {
        await this.#lines.open();
        const isNeeded = compares && !this.#lines.isWhole;
        if (isNeeded) await this.#compare();
        return isNeeded;
      });
      for (const key of [...this.#changed]) await this.#inOrder.run(() => this.#readChanged(key));
      await this.#inOrder.run(async () => {
        if (isToCompare && !this.#isClosed) this.#lines.noteWhole();
        await this.#lines.tidy();
      });
    } catch (error) {
      this.#sources.log.warn(`The file of the search cannot be used: ${messageOf(error)}`);
    }
  }

  /** What was said before this began is to be read, and sessions that are gone leave the file. */
  async #compare(): Promise<void> {
    const { sessions } = this.#sources;
    const reached = await sessions.reached();
    const cursors = await this.#lines.open();
    const gone = new Set(cursors.keys());
    for (const [key, seq] of reached) {
      gone.delete(key);
      if (!key.startsWith("system:") && cursors.get(key)?.seq !== seq) this.#changed.add(key);
    }
    for (const key of gone) if (!(await sessions.exists(key))) await this.#lines.dropSession(key);
  }

  async #readChanged(key: string): Promise<void> {
    // First: what is said from here on makes it change again.
    if (this.#isClosed || !this.#changed.delete(key)) return;
    try {
      await this.#read(key);
    } catch (error) {
      this.#sources.log.warn(`What was said in ${key} cannot be searched: ${messageOf(error)}`, { session: key });
    }
  }

  async #read(key: string): Promise<void> {
    const known = await this.#lines.cursorOf(key);
    for await (const { isOther, undone, lines, cursor } of newsOf(this.#sources.engine, key, known)) {
      if (this.#isClosed) return;
      if (isOther) await this.#lines.dropSession(key);
      await this.#lines.dropUndone(key, undone);
      await this.#lines.add(key, lines, cursor);
    }
  }

  /** Places whose text is gone from the log by now are left out. */
  async #hits(wanted: Wanted, limit: number): Promise<Pick<SearchPage, "hits" | "next">> {
    const hits: SearchHit[] = [];
    const count = limit + 20;
    for (let { after } = wanted; ; ) {
      const places = await findPlaces(this.#file, { ...wanted, after }, count);
      const summaries = await this.#sources.sessions.summaries([...new Set(places.map(({ key }) => key))]);
      for (const [index, place] of places.entries()) {
        const hit = await this.#hitAt(place, wanted.needles, summaries.get(place.key)?.title);
        if (hit !== undefined) hits.push(hit);
        const hasMore = index < places.length - 1 || places.length === count;
        if (hits.length === limit) return { hits, ...(hasMore ? { next: tokenOf(place) } : {}) };
      }
      after = places.at(-1);
      if (places.length < count) return { hits };
    }
  }

  async #hitAt(
    { key, seq, part }: Place,
    needles: readonly string[],
    title: string | undefined,
  ): Promise<SearchHit | undefined> {
    const { events } = await this.#sources.engine.events(key, { afterSeq: seq - 1, limit: 1 });
    const [event] = events;
    const spoken = event?.seq === seq ? spokenIn(event)[part] : undefined;
    const matches = spoken && matchesIn(spoken.text, needles);
    // A title that was given up is not a title.
    if (spoken === undefined || matches === undefined || (spoken.who === "title" && spoken.text !== title))
      return undefined;
    const { who, at, messageId } = spoken;
    return {
      sessionKey: key,
      channel: channelOf(key),
      ...(title === undefined ? {} : { title }),
      seq,
      ...(messageId === undefined ? {} : { messageId }),
      who,
      at: new Date(at).toISOString(),
      ...snippetOf(spoken.text, matches),
    };
  }
}

function keyOf({ sessionKey, channel }: SearchQuery): Wanted["key"] {
  if (sessionKey !== undefined) return { encoded: Buffer.from(encodedKey(sessionKey)), rest: "\t" };
  return channel === undefined ? undefined : { encoded: Buffer.from(encodedKey(`${channel}:`)), rest: "" };
}
