import type { Client } from "../../client/client.js";
import type { SessionListView } from "../panes/chats/session-list.js";
import { lastSequenceOf } from "../session/session.js";
import type { SessionState, ViewState } from "../session/view-state.js";
import type { Known, Store } from "../store.js";
import { SeenDatabase } from "./seen-database.js";
import { SeenWriter } from "./seen-writer.js";

/** As much of a chat as anybody reads offline. */
const mostItems = 200;
/** An answer that grows is not written with each word. */
const pauseMs = 1500;

interface Kept<T> {
  readonly at: number;
  readonly value: T;
}

/**
 * Keeps the chats that were seen, and shows them while the gateway is away. Only what came over a connection is kept, so
 * only on a device that is signed in.
 */
export class SeenChats {
  readonly #store: Store;
  readonly #onShown: (at: number | undefined) => void;
  readonly #writer = new SeenWriter(() => this.#open());
  #database: Promise<SeenDatabase | undefined> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unwritten: ViewState | undefined;
  #shown: (Kept<ViewState> & { readonly key: string }) | undefined;
  /** Asked about what was kept, once there is another list of chats than this. */
  #check: { readonly before: SessionListView; readonly client: Client } | undefined;

  /** `onShown` gets when it was kept (Unix ms) that is shown, or undefined once it is no longer. */
  constructor(store: Store, onShown: (at: number | undefined) => void) {
    this.#store = store;
    this.#onShown = onShown;
    store.watch(["session", "chats", "nextAttemptAt"], (known) => {
      if (this.#writer.isOff) return;
      if (known.nextAttemptAt === undefined) this.#keep(known);
      else void this.#show(known).catch(() => undefined);
    });
    store.watch(["deleted"], ({ deleted }) => {
      if (deleted !== undefined) this.forget(deleted.key);
    });
    window.addEventListener("pagehide", () => void this.#write());
  }

  forget(key: string): void {
    if (this.#unwritten?.sessionKey === key) this.#unwritten = undefined;
    void this.#writer.forget(key).catch(() => undefined);
  }

  /** Nothing of it stays, and nothing more is kept until the next {@link begin}. */
  async clear(): Promise<void> {
    clearTimeout(this.#timer);
    [this.#unwritten, this.#shown, this.#timer] = [undefined, undefined, undefined];
    await this.#writer.clear();
  }

  /** Somebody is signed in. What was deleted meanwhile goes from here, too. */
  begin(client: Client): void {
    this.#writer.begin();
    this.#check = { before: this.#store.known.chats, client };
    this.#shown = undefined;
    this.#onShown(undefined);
  }

  #keep({ session, chats }: Pick<Known, "session" | "chats">): void {
    if (this.#check !== undefined && chats !== this.#check.before) {
      void this.#forgetDeleted(chats, this.#check.client).catch(() => undefined);
      this.#check = undefined;
    }
    const isWhole = session !== undefined && !session.isLoading && session.view.lastSequence > 0;
    if (isWhole && session.view !== this.#shown?.value) this.#unwritten = session.view;
    if (this.#unwritten === undefined && chats.entries.length === 0) return;
    this.#timer ??= setTimeout(() => void this.#write(), pauseMs);
  }

  /** A chat that is not listed may be archived, or one of many. */
  async #forgetDeleted({ entries }: SessionListView, client: Client): Promise<void> {
    const listed = new Set(entries.map(({ key }) => key));
    for (const key of (await (await this.#open())?.chatKeys()) ?? [])
      if (!listed.has(key) && (await lastSequenceOf(client, key)) === undefined) this.forget(key);
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const view = this.#unwritten;
    this.#unwritten = undefined;
    const { chats } = this.#store.known;
    const at = Date.now();
    const chat =
      view === undefined
        ? undefined
        : {
            key: view.sessionKey,
            at,
            json: JSON.stringify({ ...view, items: view.items.slice(-mostItems), question: undefined }),
          };
    const list = chats.entries.length === 0 ? undefined : { at, json: JSON.stringify(chats) };
    try {
      await this.#writer.write(chat, list);
    } catch (error) {
      // The disk is full: what was kept before is still there.
      console.info(`What was seen could not be kept: ${String(error)}`);
    }
  }

  async #show({ session, chats }: Pick<Known, "session" | "chats">): Promise<void> {
    if (chats.entries.length === 0) await this.#showList();
    if (session === undefined || session.view.items.length > 0) return;
    const key = session.view.sessionKey;
    const kept = this.#shown?.key === key ? this.#shown : await this.#readChat(key);
    const { session: now, nextAttemptAt } = this.#store.known;
    if (kept === undefined || nextAttemptAt === undefined || now?.view.sessionKey !== key) return;
    if (now.view.items.length > 0 || this.#writer.isOff) return;
    this.#shown = { ...kept, key };
    this.#store.put({
      session: { ...now, view: kept.value, isLoading: false, hasOlder: false } satisfies SessionState,
    });
    this.#onShown(kept.at);
  }

  async #showList(): Promise<void> {
    const kept = await (await this.#open())?.list();
    const { chats, nextAttemptAt } = this.#store.known;
    if (kept === undefined || chats.entries.length > 0 || nextAttemptAt === undefined || this.#writer.isOff) return;
    // This page has written it, by the type of the list.
    this.#store.put({ chats: JSON.parse(kept.json) as SessionListView });
    this.#onShown(kept.at);
  }

  async #readChat(key: string): Promise<Kept<ViewState> | undefined> {
    const kept = await (await this.#open())?.chat(key);
    if (kept === undefined) return undefined;
    // This page has written it. An older version of it may have written something else.
    const view = JSON.parse(kept.json) as ViewState;
    return Array.isArray(view.items) && Array.isArray(view.plans) ? { at: kept.at, value: view } : undefined;
  }

  #open(): Promise<SeenDatabase | undefined> {
    // A browser that keeps nothing reads nothing offline.
    this.#database ??= SeenDatabase.open().catch(() => undefined);
    return this.#database;
  }
}
