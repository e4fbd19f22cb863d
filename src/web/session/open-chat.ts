import type { Client } from "../../client/client.js";
import type { GatewayEvent } from "../../events/event.js";
import type { GatewayHttp } from "../gateway/gateway-http.js";
import type { Store } from "../store.js";
import { Session } from "./session.js";
import { newSessionKey } from "./session-key.js";
import type { PendingMessage } from "./view-state.js";

interface OpenChatListeners {
  onLive(event: GatewayEvent): void;
  onFailure(error: unknown): void;
}

/** The chat that is open. What it knows goes to the store; what a chat could not send before it was left is kept for it. */
export class OpenChat {
  readonly #http: GatewayHttp;
  readonly #store: Store;
  readonly #listeners: OpenChatListeners;
  /** Chats that begin on this page and that the gateway does not know yet. */
  readonly #freshKeys = new Set<string>();
  readonly #unsent = new Map<string, readonly PendingMessage[]>();
  /** Written before the page knew where to send it. */
  readonly #early: Parameters<Session["send"]>[] = [];
  #session: Session | undefined;

  constructor(http: GatewayHttp, store: Store, listeners: OpenChatListeners) {
    this.#http = http;
    this.#store = store;
    this.#listeners = listeners;
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
      pending: this.#unsent.get(key) ?? [],
      client,
      http: this.#http,
      onChange: () => this.#store.put({ session: this.#session?.state }),
      onLive: (event) => {
        this.#freshKeys.delete(event.session_key);
        this.#listeners.onLive(event);
      },
      onFailure: this.#listeners.onFailure,
    });
    for (const message of this.#early.splice(0)) this.#session.send(...message);
    this.#store.put({ current: key, session: this.#session.state });
  }

  leave(): void {
    this.#close();
    this.#store.put({ current: undefined, session: undefined });
  }

  /** The chat is gone: nothing is sent to it any more. */
  forget(key: string): void {
    this.#unsent.delete(key);
  }

  send(...message: Parameters<Session["send"]>): void {
    if (this.#session === undefined) this.#early.push(message);
    else this.#session.send(...message);
  }

  #close(): void {
    if (this.#session === undefined) return;
    this.#unsent.set(this.#session.key, this.#session.state.view.pending);
    this.#session.close();
    this.#session = undefined;
  }
}
