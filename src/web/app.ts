import type { Client, SearchHit } from "../client/client.js";
import type { GatewayEvent } from "../events/event.js";
import { loadDrawing } from "./chat/answer.js";
import { Conversation } from "./chat/conversation.js";
import { loadChoices } from "./commands/choices.js";
import { loadOwnWords, sentenceOf } from "./failures/said.js";
import { writeDown } from "./files/write-down.js";
import { createBanners } from "./frame/banners/banners.js";
import { createChatHead } from "./frame/chat-head.js";
import { FirstRun } from "./frame/first-run.js";
import { createInstallButton } from "./frame/install-button.js";
import { changeLanguage, createLanguageButton } from "./frame/language-button.js";
import { Leaving } from "./frame/leaving.js";
import type { Place } from "./frame/places/place.js";
import { takeInvitation } from "./frame/places/route.js";
import { Way } from "./frame/places/way.js";
import { createRail, createSettingsList } from "./frame/rail.js";
import { createShell, type Shell } from "./frame/shell.js";
import { showKnown } from "./frame/show-known.js";
import { SideLists } from "./frame/side-lists.js";
import { signIn } from "./frame/sign-in.js";
import { createStrangers } from "./frame/strangers.js";
import { frameWords } from "./frame/words.js";
import { createApi, Unauthorized } from "./gateway/api.js";
import { Connection } from "./gateway/connection.js";
import { createGatewayHttp, type GatewayHttp } from "./gateway/gateway-http.js";
import { PagePresence } from "./gateway/presence.js";
import { OnDevice } from "./offline/on-device.js";
import { Drafts } from "./outbox/drafts.js";
import { Outbox } from "./outbox/outbox.js";
import type { OutboxStore } from "./outbox/outbox-store.js";
import { PaletteOpener } from "./palette/opener.js";
import type { PaletteWorld } from "./palette/palette-world.js";
import { Chats } from "./panes/chats/chats.js";
import { DeviceButtons } from "./panes/devices/device-buttons.js";
import { createAttention } from "./panes/inbox/attention.js";
import { Inbox } from "./panes/inbox/inbox.js";
import { panes } from "./panes/list.js";
import { PaneOpener } from "./panes/opener.js";
import type { PaneWorld } from "./panes/world.js";
import { ask } from "./parts/dialogs.js";
import { h } from "./parts/dom.js";
import { OpenChat } from "./session/open-chat.js";
import { ReadMarks } from "./session/read-marks.js";
import { Store } from "./store.js";

/** Builds the page into `root` and keeps it up to date. */
export function startApp(root: HTMLElement, kept: OutboxStore): void {
  const app = new App(kept);
  root.append(app.element);
  void app.start();
}

/** Puts the page together: what comes from the gateway goes to the store, and the parts of the page show what is there. */
class App {
  readonly #kept: OutboxStore;
  readonly #api = createApi();
  readonly #store = new Store();
  readonly #http: GatewayHttp;
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  readonly #keptDrafts: Drafts;
  readonly #chat: OpenChat;
  readonly #way: Way;
  readonly #conversation: Conversation;
  readonly #chats: Chats;
  readonly #inbox: Inbox;
  readonly #onDevice = new OnDevice(this.#store, this.#api, (id) => this.#goToPane("inbox", id));
  readonly #banners = createBanners(() => this.#connection.retryNow(), this.#onDevice.lastUpdated);
  readonly #panes = new PaneOpener({
    root: () => this.#shell.paneRoot,
    world: () => this.#world(),
    isAway: () => this.#store.known.nextAttemptAt !== undefined,
  });
  readonly #strangers: ReturnType<typeof createStrangers>;
  readonly #shell: Shell;
  readonly #palette: PaletteOpener;
  readonly #firstRun: FirstRun;
  readonly #rail: ReturnType<typeof createRail>;
  readonly #sides: SideLists;
  readonly #devices: DeviceButtons;
  readonly #presence = new PagePresence({
    api: this.#api,
    at: () => this.#placeName(),
    isConnected: () => this.#isConnected,
  });
  #isConnected = false;
  #invitation = takeInvitation();
  #isAsking = false;
  readonly #leaving = new Leaving(() => this.#leave());

  constructor(kept: OutboxStore) {
    const store = this.#store;
    const onFailure = (error: unknown): void => this.#failed(error);
    this.#kept = kept;
    this.#http = createGatewayHttp(this.#api);
    this.#devices = new DeviceButtons(this.#api, {
      onSignedOut: () => this.#leaving.begin(),
      hasUnsent: () => !this.#outbox.isEmpty || !this.#keptDrafts.isEmpty,
      onFailure,
    });
    this.#connection = new Connection(this.#http, store, {
      onOpen: (client) => this.#onOpen(client),
      onUnauthorized: onFailure,
      onChatsChanged: () => this.#chats.refreshSoon(),
      onInboxChanged: () => this.#inbox.refreshSoon(),
      onSetting: (event) => this.#inbox.onSetting(event),
    });
    this.#outbox = new Outbox({
      store: kept,
      gateway: () => this.#connection.client,
      ready: (key) => (this.#chat.session?.key === key ? this.#chat.session.ready() : undefined),
      onChange: (key) => {
        if (this.#chat.session?.key === key) this.#chat.session.refresh();
      },
    });
    this.#keptDrafts = new Drafts(kept, (key, text) => this.#conversation.onSentElsewhere(key, text));
    this.#chat = new OpenChat(this.#http, store, this.#outbox, { onLive: (event) => this.#onLive(event), onFailure });
    this.#way = new Way((place, isFirst) => this.#showPlace(place, isFirst));
    this.#conversation = new Conversation({
      store,
      chat: this.#chat,
      upload: (content, name, signal) => this.#connection.upload(content, name, signal),
      commands: () => loadChoices(this.#api),
      writeDown: (recording) => writeDown(this.#connection, this.#api, recording),
      outbox: this.#outbox,
      keptDrafts: this.#keptDrafts,
      announce: (text) => this.#shell.announce(text),
      open: (key) => this.#go(key),
      onFailure,
    });
    this.#inbox = new Inbox({
      store,
      api: this.#api,
      onNew: createAttention((id) => this.#goToPane("inbox", id)),
      onFailure,
    });
    this.#strangers = createStrangers((code) => this.#letIn(code), onFailure);
    this.#banners.element.append(...this.#onDevice.banners, this.#strangers.element);
    this.#chats = new Chats({
      store,
      client: () => this.#connection.client,
      api: this.#api,
      open: (key) => this.#go(key),
      openHit: (hit) => this.#goToHit(hit),
      newChat: () => this.#go(this.#chat.freshKey()),
      onRemoved: (key) => this.#onRemoved(key),
      onFailure,
    });
    const openPane = (id: string): void => this.#goToPane(id);
    const openSettings = (): void => this.#sides.openSettings();
    this.#rail = createRail(panes, { openChats: () => this.#goToChats(), openSettings, openPane });
    const settings = createSettingsList(panes, openPane);
    this.#sides = new SideLists(panes, { rail: this.#rail, chats: this.#chats.element, settings, openPane });
    new ReadMarks(store, () => this.#connection.client);
    this.#palette = this.#createPalette();
    this.#shell = this.#build();
    this.#firstRun = new FirstRun(this.#shell.setupRoot, () => this.#world());
    this.#watch();
  }

  get element(): HTMLElement {
    return this.#shell.element;
  }

  /** Looks who answers, then connects. Also the way back in for who has just signed in. */
  async start(): Promise<void> {
    this.#connection.close();
    const drawing = loadDrawing();
    try {
      await Promise.all([this.#connection.readStatus(), loadOwnWords()]);
      this.#devices.refresh();
    } catch (error) {
      if (error instanceof Unauthorized) {
        // The next person who signs in must not find what was written here.
        if (error.isSignedOut) await this.#kept.clear().catch(() => undefined);
        return this.#signIn();
      }
      // Not there yet: the connection goes on trying.
    }
    await drawing;
    const place = this.#way.place ?? { kind: "chat", key: this.#chat.freshKey() };
    this.#connection.open();
    this.#way.settle(place);
    this.#focusField();
    await this.#takeUp();
  }

  #focusField(): void {
    if (this.#way.place?.kind === "chat" && document.activeElement === document.body) this.#conversation.focus();
  }

  /** What an earlier page could not send, or had begun to write. */
  async #takeUp(): Promise<void> {
    try {
      await Promise.all([this.#outbox.load(), this.#keptDrafts.load()]);
      this.#conversation.restoreDraft();
    } catch (error) {
      this.#failed(error);
    }
  }

  #build(): Shell {
    this.#chats.element.append(
      h("div", { class: "pane-foot" }, this.#devices.element, createInstallButton(), createLanguageButton()),
    );
    return createShell({
      side: this.#sides.elements,
      chatHead: createChatHead(this.#store, this.#api, (key) => this.#goToPane("timeline", key)),
      tools: [this.#palette.element],
      banners: this.#banners.element,
      conversation: this.#conversation.elements,
      onDrawer: () => this.#sides.reset(),
      onSettled: () => this.#focusField(),
    });
  }

  #createPalette(): PaletteOpener {
    const withKey = (run: (key: string) => void): void => {
      if (this.#chat.session !== undefined) run(this.#chat.session.key);
    };
    const world: PaletteWorld = {
      store: this.#store,
      panes,
      client: () => this.#connection.client,
      openChat: (key) => this.#go(key),
      openHit: (hit) => this.#goToHit(hit),
      openPane: (id) => this.#goToPane(id),
      newChat: () => this.#go(this.#chat.freshKey()),
      chat: {
        stop: () => this.#chat.session?.stop(),
        rename: () => withKey((key) => this.#chats.rename(key)),
        download: (format) => withKey((key) => this.#chats.download(key, format)),
        focus: () => this.#goToChats(),
      },
      device: {
        showDevices: () => this.#devices.actions.show,
        signOut: () => this.#devices.actions.signOut,
        changeLanguage,
      },
    };
    return new PaletteOpener(world, (error) => this.#failed(error));
  }

  #watch(): void {
    showKnown(this.#store, {
      shell: this.#shell,
      firstRun: this.#firstRun,
      banners: this.#banners,
      rail: this.#rail,
      strangers: this.#strangers,
    });
    this.#store.watch(["nextAttemptAt"], ({ nextAttemptAt }) => {
      if (nextAttemptAt !== undefined) this.#isConnected = false;
    });
  }

  /** Shows a chat; the address follows. */
  #go(key: string, then?: () => void): void {
    this.#shell.closeDrawer();
    this.#way.go({ kind: "chat", key }, then);
  }

  #startChat(text: string): void {
    const key = this.#chat.freshKey();
    this.#go(key, () => this.#outbox.send(key, { text, mode: undefined, files: [] }));
  }

  /** Shows a chat at one of its messages. */
  #goToHit(hit: SearchHit): void {
    this.#go(hit.sessionKey, () => {
      this.#conversation.reveal(hit).catch((error: unknown) => this.#failed(error));
    });
  }

  /** Back to the chat that was open last. */
  #goToChats(): void {
    this.#go(this.#chat.session?.key ?? this.#chat.freshKey());
  }

  #goToPane(id: string, argument = ""): void {
    this.#shell.closeDrawer();
    this.#way.go({ kind: "pane", id, argument });
  }

  /** For the gateway, which wants to know who sees a question. */
  #placeName(): string {
    const { place } = this.#way;
    if (place?.kind === "pane") return place.id === "inbox" ? "inbox" : "";
    return this.#chat.session?.key ?? "";
  }

  #showPlace(place: Place, isFirst: boolean): void {
    const pane = place.kind === "pane" ? panes.find(({ id }) => id === place.id) : undefined;
    this.#sides.show(pane);
    if (place.kind === "chat") {
      this.#shell.showPane(undefined);
      this.#panes.clear();
      this.#show(place.key);
      this.#presence.say();
      if (!isFirst) this.#conversation.focus();
      return;
    }
    this.#presence.say();
    this.#shell.showPane(pane?.title() ?? frameWords.t("unknownPane"), isFirst);
    void this.#panes.show(pane, place.argument);
  }

  /** What panes may use of this page. */
  #world(): PaneWorld {
    return {
      api: this.#api,
      store: this.#store,
      refreshInbox: () => this.#inbox.refresh(),
      openChat: (key) => this.#go(key),
      startChat: (text) => this.#startChat(text),
      upload: (content, name) => this.#connection.upload(content, name),
      openPane: (id, argument) => this.#goToPane(id, argument),
      ask,
      unsaved: this.#way,
      refreshStatus: () => void this.#connection.readStatus().catch((error: unknown) => this.#failed(error)),
      announce: (text) => this.#shell.announce(text),
      failed: (error) => this.#failed(error),
    };
  }

  #show(key: string): void {
    const { client } = this.#connection;
    if (client !== undefined && this.#chat.session?.key !== key) this.#chat.open(key, client);
  }

  #onOpen(client: Client): void {
    this.#panes.resume();
    this.#chat.session?.resume();
    this.#outbox.resume();
    this.#chats.resume();
    void this.#inbox.refresh();
    this.#isConnected = true;
    this.#presence.sayAgain();
    this.#onDevice.begin(client);
  }

  async #letIn(code: string): Promise<void> {
    await this.#api.post("api/pairings/approve", { code }).finally(() => this.#inbox.refresh());
  }

  #onLive(event: GatewayEvent): void {
    if (event.type !== "assistant_message" || !event.payload.final) return;
    this.#shell.announce(event.payload.content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  }

  #onRemoved(key: string): void {
    if (this.#chat.session?.key === key) this.#go(this.#chat.freshKey());
    this.#outbox.forget(key);
    this.#onDevice.forget(key);
    this.#conversation.forget(key);
  }

  #failed(error: unknown): void {
    if (!(error instanceof Unauthorized)) this.#banners.showFailure(sentenceOf(error));
    else if (error.isSignedOut && !this.#isAsking) this.#leaving.begin();
    else void this.#signIn();
  }

  async #signIn(): Promise<void> {
    if (this.#isAsking || this.#leaving.isUnderWay) return;
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
    this.#inbox.clear();
    this.#isConnected = false;
    void this.#onDevice.leave();
    this.#shell.announce("");
    this.#panes.clear();
    this.#shell.showPane(undefined);
    this.#shell.showSession({ title: frameWords.t("tokenNeeded"), isEmpty: false });
  }

  /** What was written here goes with its writer. Whatever else the page holds goes with the reload. */
  async #leave(): Promise<void> {
    this.#connection.close();
    this.#isConnected = false;
    await Promise.allSettled([this.#kept.leave(), this.#onDevice.leave()]);
    this.#way.clear();
    location.reload();
  }
}
