import type { Client } from "../../client/client.js";
import type { GatewayEvent } from "../../events/event.js";
import type { GatewayHttp } from "../gateway/gateway-http.js";
import type { Outbox, Written } from "../outbox/outbox.js";
import type { Store } from "../store.js";
import { Session } from "./session.js";
import { newSessionKey } from "./session-key.js";

interface OpenChatListeners {
  onLive(event: GatewayEvent): void;
  onFailure(error: unknown): void;
}

/** The chat that is open. What it knows goes to the store. */
export class OpenChat {
  readonly #http: GatewayHttp;
  readonly #store: Store;
  readonly #listeners: OpenChatListeners;
  /** Chats that begin on this page and that the gateway does not know yet. */
  readonly #freshKeys = new Set<string>();
  readonly #outbox: Outbox;
  /** Written before the page knew where to send it. */
  readonly #early: Written[] = [];
  #session: Session | undefined;
  /** Of the chat that was deleted last, until somebody begins it again. */
  #gone: string | undefined;

  constructor(http: GatewayHttp, store: Store, outbox: Outbox, listeners: OpenChatListeners) {
    this.#http = http;
    this.#store = store;
    this.#outbox = outbox;
    this.#listeners = listeners;
    store.watch(["deleted"], ({ deleted }) => {
      const isBegun = deleted === undefined;
      const key = isBegun ? this.#gone : deleted.key;
      this.#gone = deleted?.key;
      if (this.#session === undefined || key !== this.#session.key) return;
      if (isBegun) this.#session.beginAgain();
      else this.#session.end();
    });
  }

  /** Absent before the first `open` and after `leave`. */
  get session(): Session | undefined {
    return this.#session;
  }

  freshKey(): string {
    const key = newSessionKey();
    this.#freshKeys.add(key);
    return key;
  }

  open(key: string, client: Client): void {
    this.#close();
    this.#session = new Session({
      key,
      isNew: this.#freshKeys.has(key),
      outbox: this.#outbox,
      client,
      http: this.#http,
      onChange: () => this.#store.put({ session: this.#session?.state }),
      onLive: (event) => {
        this.#freshKeys.delete(event.session_key);
        this.#listeners.onLive(event);
      },
      onGone: () => this.#store.put({ deleted: { key } }),
      onFailure: this.#listeners.onFailure,
    });
    for (const message of this.#early.splice(0)) this.#sendTo(key, message);
    this.#store.put({ current: key, session: this.#session.state });
  }

  leave(): void {
    this.#close();
    this.#store.put({ current: undefined, session: undefined });
  }

  send(message: Written): void {
    if (this.#session === undefined) this.#early.push(message);
    else this.#sendTo(this.#session.key, message);
  }

  #sendTo(key: string, message: Written): void {
    // Who comes back to it later finds it with the gateway, also without having seen that it arrived.
    this.#freshKeys.delete(key);
    this.#outbox.send(key, message);
  }

  #close(): void {
    this.#session?.close();
    this.#session = undefined;
  }
}
