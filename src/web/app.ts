import type { GatewayEvent } from "../events/event.js";
import { Conversation } from "./chat/conversation.js";
import { createBanners } from "./frame/banners.js";
import { chatTitle } from "./frame/chat-title.js";
import { followRoute, type Route, takeInvitation } from "./frame/route.js";
import { createShell, type Shell } from "./frame/shell.js";
import { signIn } from "./frame/sign-in.js";
import { createStrangers } from "./frame/strangers.js";
import { createApi, Unauthorized } from "./gateway/api.js";
import { Connection } from "./gateway/connection.js";
import { createGatewayHttp, type GatewayHttp } from "./gateway/gateway-http.js";
import { Chats } from "./panes/chats.js";
import { DeviceButtons } from "./panes/devices/device-buttons.js";
import { createJobsPane } from "./panes/jobs-pane.js";
import { OpenChat } from "./session/open-chat.js";
import { Store } from "./store.js";

/** Builds the page into `root` and keeps it up to date. */
export function startApp(root: HTMLElement): void {
  const app = new App();
  root.append(app.element);
  void app.start();
}

/** Puts the page together: what comes from the gateway goes to the store, and the parts of the page show what is there. */
class App {
  readonly #api = createApi();
  readonly #store = new Store();
  readonly #http: GatewayHttp;
  readonly #connection: Connection;
  readonly #chat: OpenChat;
  readonly #route: Route;
  readonly #conversation: Conversation;
  readonly #chats: Chats;
  readonly #banners = createBanners(() => this.#connection.retryNow());
  readonly #strangers: ReturnType<typeof createStrangers>;
  readonly #shell: Shell;
  readonly #devices: DeviceButtons;
  #invitation = takeInvitation();
  #isAsking = false;

  constructor() {
    const store = this.#store;
    const onFailure = (error: unknown): void => this.#failed(error);
    this.#http = createGatewayHttp(this.#api);
    this.#devices = new DeviceButtons(this.#api, { onSignedOut: () => this.#onSignedOut(), onFailure });
    this.#connection = new Connection(this.#http, store, {
      onOpen: () => this.#onOpen(),
      onUnauthorized: onFailure,
      onChatsChanged: () => this.#chats.refreshSoon(),
    });
    this.#chat = new OpenChat(this.#http, store, { onLive: (event) => this.#onLive(event), onFailure });
    this.#route = followRoute((key) => this.#show(key));
    this.#conversation = new Conversation({
      store,
      chat: this.#chat,
      upload: (file, signal) => this.#connection.upload(file, signal),
      announce: (text) => this.#shell.announce(text),
    });
    this.#strangers = createStrangers(this.#http, onFailure);
    this.#banners.element.append(this.#strangers.element);
    this.#chats = new Chats({
      store,
      client: () => this.#connection.client,
      open: (key) => this.#go(key),
      newChat: () => this.#go(this.#chat.freshKey()),
      onRemoved: (key) => this.#onRemoved(key),
      onFailure,
    });
    this.#shell = this.#build();
    this.#watch();
  }

  get element(): HTMLElement {
    return this.#shell.element;
  }

  /** Looks who answers, then connects. Also the way back in for who has just signed in. */
  async start(): Promise<void> {
    this.#connection.close();
    try {
      await this.#connection.readStatus();
      this.#devices.refresh();
      this.#strangers.refresh();
    } catch (error) {
      if (error instanceof Unauthorized) return this.#signIn();
      // Not there yet: the connection goes on trying.
    }
    const key = this.#route.key ?? this.#chat.freshKey();
    this.#connection.open();
    this.#route.settle(key);
    this.#show(key);
  }

  #build(): Shell {
    const pane = this.#chats.element;
    pane.append(
      createJobsPane(this.#http.jobs, (key) => this.#go(key)),
      this.#devices.element,
    );
    return createShell({ pane, banners: this.#banners.element, conversation: this.#conversation.elements });
  }

  #watch(): void {
    this.#store.watch(["status"], ({ status }) => {
      if (status === undefined) return;
      this.#shell.showModel(status);
      this.#banners.showProblems(status.problems);
    });
    this.#store.watch(["nextAttemptAt"], ({ nextAttemptAt }) => this.#banners.showOffline(nextAttemptAt));
    this.#store.watch(["session", "chats"], ({ session, chats }) => {
      if (session === undefined) return;
      const { items, pending } = session.view;
      const isEmpty = items.length === 0 && pending.length === 0 && !session.isLoading;
      this.#shell.showSession({ title: chatTitle(session, chats), isEmpty });
    });
  }

  /** Shows a chat; the address follows. */
  #go(key: string): void {
    this.#shell.closeDrawer();
    // At once: what is typed before a hashchange is told would go to the chat of before.
    this.#route.go(key);
    this.#show(key);
    this.#conversation.focus();
  }

  #show(key: string): void {
    const { client } = this.#connection;
    if (client !== undefined && this.#chat.session?.key !== key) this.#chat.open(key, client);
  }

  #onOpen(): void {
    this.#chat.session?.resume();
    this.#chats.refresh();
    this.#strangers.refresh();
  }

  #onLive(event: GatewayEvent): void {
    if (event.type !== "assistant_message" || !event.payload.final) return;
    this.#shell.announce(event.payload.content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  }

  #onRemoved(key: string): void {
    if (this.#chat.session?.key === key) this.#go(this.#chat.freshKey());
    this.#chat.forget(key);
    this.#conversation.forget(key);
  }

  #failed(error: unknown): void {
    if (error instanceof Unauthorized) void this.#signIn();
    else this.#banners.showFailure(error instanceof Error ? error.message : String(error));
  }

  async #signIn(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#conceal();
    const invitation = this.#invitation;
    this.#invitation = undefined;
    await signIn(this.#api, invitation);
    this.#isAsking = false;
    await this.start();
  }

  /** Who is not signed in sees nothing of what was said; what is not sent yet waits. */
  #conceal(): void {
    this.#connection.close();
    this.#chat.leave();
    this.#chats.clear();
    this.#shell.announce("");
    this.#shell.showSession({ title: "Token needed", isEmpty: false });
  }

  /** Whatever else the page holds goes with the reload. */
  #onSignedOut(): void {
    this.#connection.close();
    this.#route.clear();
    location.reload();
  }
}
