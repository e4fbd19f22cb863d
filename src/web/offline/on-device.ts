import type { Client } from "../../client/client.js";
import { createNewVersion } from "../frame/new-version.js";
import { PageWorker } from "../frame/page-worker.js";
import type { Api } from "../gateway/api.js";
import { forgetPush, renewPush } from "../panes/inbox/attention.js";
import type { Store } from "../store.js";
import { createLastUpdated } from "./last-updated.js";
import { SeenChats } from "./seen-chats.js";

/** What the browser keeps of the page for who is signed in: its files, the chats that were seen, and what is pushed. */
export class OnDevice {
  readonly #api: Api;
  readonly #newVersion = createNewVersion();
  readonly #lastUpdated = createLastUpdated();
  readonly #seen: SeenChats;
  readonly #worker: PageWorker;

  /** `onOpenInbox`: the reader has pressed a notification. */
  constructor(store: Store, api: Api, onOpenInbox: (id: string) => void) {
    this.#api = api;
    this.#seen = new SeenChats(store, (at) => this.#lastUpdated.show(at));
    this.#worker = new PageWorker({ onNewVersion: () => this.#newVersion.show(), onOpenInbox });
  }

  /** For the line that says that the gateway is away. */
  get lastUpdated(): HTMLElement {
    return this.#lastUpdated.element;
  }

  get banners(): readonly HTMLElement[] {
    return [this.#newVersion.element];
  }

  /** There is a connection, so somebody is signed in. */
  begin(client: Client): void {
    this.#seen.begin(client);
    void this.#worker.keep();
    // What has changed meanwhile is seen in the inbox, where it is turned on.
    renewPush(this.#api).catch(() => undefined);
  }

  forget(key: string): void {
    this.#seen.forget(key);
  }

  /** Nobody is signed in: nothing of it stays. Resolves once all of it is gone. */
  async leave(): Promise<void> {
    forgetPush();
    await Promise.allSettled([this.#seen.clear(), this.#worker.leave()]);
  }
}
