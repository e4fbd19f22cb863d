import { type Client, createClient } from "../../client/client.js";
import { ClientError } from "../../client/client-error.js";
import type { UploadedFile } from "../../client/upload.js";
import type { EventType } from "../../events/catalogue.js";
import type { EventOf, GatewayEvent } from "../../events/event.js";
import { inboxEvents } from "../../events/inbox-events.js";
import type { Store } from "../store.js";
import { Unauthorized } from "./api.js";
import type { GatewayHttp } from "./gateway-http.js";

interface ConnectionListeners {
  onOpen(client: Client): void;
  onUnauthorized(error: Unauthorized): void;
  /** Something has happened in one of the chats, be it open or not. */
  onChatsChanged(): void;
  /** Something may wait for a person that did not before, or wait no more. */
  onInboxChanged(): void;
  onSetting(event: EventOf<"settings_changed">): void;
}

/** Events after which the list of chats may look different. */
const listEvents: readonly EventType[] = [
  "user_message_queued",
  "assistant_message",
  "session_title_generated",
  "session_history_changed",
  "session_state_changed",
  "session_marks_changed",
];

const uploadMs = 120_000;
const lookMs = 30_000;

/** The page's connection to the gateway. It tells the store how the gateway is and when the next attempt starts. */
export class Connection {
  readonly #http: GatewayHttp;
  readonly #store: Store;
  readonly #listeners: ConnectionListeners;
  #client: Client | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(http: GatewayHttp, store: Store, listeners: ConnectionListeners) {
    this.#http = http;
    this.#store = store;
    this.#listeners = listeners;
    window.addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.retryNow();
    });
  }

  /** Absent before the first `open`, and while the reader has to sign in. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** Connects and goes on trying. */
  open(): Client {
    let wasOpen = false;
    const client = createClient({ url: socketUrl() });
    client.onOpen(() => {
      wasOpen = true;
      this.#store.put({ nextAttemptAt: undefined });
      this.#listeners.onOpen(client);
      this.readStatus().catch(() => undefined);
    });
    client.onClose(({ retryInMs }) => {
      if (retryInMs === undefined || this.#client !== client) return;
      this.#store.put({ nextAttemptAt: Date.now() + retryInMs });
      if (!wasOpen) this.#findRefusal();
      wasOpen = false;
    });
    this.#follow(client);
    this.#client = client;
    return client;
  }

  close(): void {
    clearTimeout(this.#again);
    this.#client?.close();
    this.#client = undefined;
  }

  retryNow(): void {
    this.#client?.retryNow();
  }

  /** `signal` ends it; without one, two minutes do. */
  async upload(content: Blob, name: string, signal = AbortSignal.timeout(uploadMs)): Promise<UploadedFile> {
    if (this.#client === undefined) throw new ClientError("lost", "The gateway is not there yet");
    return await this.#client.upload(content, name, { signal });
  }

  /** @throws {Unauthorized} the gateway wants a token, or another one */
  async readStatus(): Promise<void> {
    const status = await this.#http.status();
    this.#store.put({ status });
    clearTimeout(this.#again);
    if (status.problems.length > 0) this.#readAgain();
  }

  /** A problem that somebody mends outside of the gateway is over without an event. */
  #readAgain(): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      if (document.hidden || this.#client === undefined) this.#readAgain();
      else this.readStatus().catch(() => this.#readAgain());
    }, lookMs);
  }

  #follow(client: Client): void {
    const { onChatsChanged, onInboxChanged, onSetting } = this.#listeners;
    const ofChats = (event: GatewayEvent): void => {
      if (listEvents.includes(event.type)) onChatsChanged();
      if (event.type === "session_state_changed" && event.payload.to === "deleted")
        this.#store.put({ deleted: { key: event.session_key } });
      // Somebody has begun it again.
      else if (event.type === "user_message_queued" && event.session_key === this.#store.known.deleted?.key)
        this.#store.put({ deleted: undefined });
      if (inboxEvents.includes(event.type) && !isOnItsWay(event)) onInboxChanged();
    };
    client.subscribe<EventType>("*", ofChats, { types: [...listEvents, ...inboxEvents] });
    const ofSettings = (event: EventOf<"settings_changed">): void => {
      onSetting(event);
      // Changed in another browser, in the file, or here.
      if (event.payload.key === "config") this.readStatus().catch(() => undefined);
    };
    client.subscribe("system", ofSettings, { types: ["settings_changed"] });
  }

  /** A refused upgrade does not say why: the HTTP side does. */
  #findRefusal(): void {
    this.#http.status().catch((error: unknown) => {
      if (error instanceof Unauthorized) this.#listeners.onUnauthorized(error);
    });
  }
}

/** Each message goes through these on its way out: nobody waits for it. */
function isOnItsWay(event: GatewayEvent): boolean {
  if (event.type !== "outbound_delivery_changed") return false;
  return event.payload.status !== "dead_letter" && event.payload.status !== "refused";
}

/** Always the gateway that served this page: the address bar has no say in where the token goes. */
function socketUrl(): string {
  const url = new URL("ws", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = "";
  url.hash = "";
  return url.href;
}
