import { type Client, createClient } from "../client/client.js";
import type { GatewayEvent } from "../events/event.js";
import { type Activity, createComposer, type MessageDraft } from "./chat/composer.js";
import { createPlanPanel } from "./chat/plan-panel.js";
import { createQuestionPanel } from "./chat/question-panel.js";
import { createTranscript } from "./chat/transcript.js";
import { createBanners } from "./frame/banners.js";
import { createShell } from "./frame/shell.js";
import { createStrangers } from "./frame/strangers.js";
import { createGatewayHttp, type StatusView, Unauthorized } from "./gateway/gateway-http.js";
import type { TokenStore } from "./gateway/token-store.js";
import { createChats } from "./panes/chats.js";
import { createJobsPane } from "./panes/jobs-pane.js";
import { listEvents } from "./panes/session-list.js";
import { ask } from "./parts/dialogs.js";
import { h } from "./parts/dom.js";
import { hashOf, newSessionKey, sessionKeyFromHash } from "./session/session-key.js";
import { openSessionView, type SessionView } from "./session/session-view.js";
import { isWorking, type PendingMessage, type ViewState } from "./session/view-state.js";

/** Builds the page into `root` and keeps it up to date. */
export function startApp(root: HTMLElement, tokens: TokenStore): void {
  const http = createGatewayHttp(tokens.get);
  /** Chats that begin on this page and that the gateway does not know yet. */
  const freshKeys = new Set<string>();
  const drafts = new Map<string, MessageDraft>();
  /** Written before the page knew where to send it. */
  const early: Parameters<SessionView["send"]>[] = [];
  const unsent = new Map<string, readonly PendingMessage[]>();
  let client: Client | undefined;
  let session: SessionView | undefined;
  let isAsking = false;

  const transcript = createTranscript({
    retry: (message) => session?.retry(message),
    drop: (message) => session?.drop(message),
    loadOlder: () => session?.loadOlder(),
    loadFile(artifactId) {
      return session?.loadFile(artifactId) ?? Promise.reject(new Error("No conversation is open."));
    },
  });
  const composer = createComposer({
    send(...message) {
      if (session === undefined) early.push(message);
      else session.send(...message);
      transcript.stick();
    },
    stop: () => session?.stop(),
    upload(file, signal) {
      return client?.upload(file, file.name, { signal }) ?? Promise.reject(new Error("The gateway is not there yet"));
    },
  });
  const question = createQuestionPanel({
    async answer(requestId, reply) {
      await session?.answer(requestId, reply);
      composer.focus();
    },
    announce: (text) => shell.announce(text),
  });
  const plan = createPlanPanel({
    send(command) {
      session?.send(command, undefined);
      transcript.stick();
    },
    announce: (text) => shell.announce(text),
  });
  const banners = createBanners(() => client?.retryNow());
  const strangers = createStrangers(http, failed);
  banners.element.append(strangers.element);
  const chats = createChats({
    client: () => client,
    open: go,
    newChat: () => go(freshKey()),
    onRemoved(key) {
      drafts.delete(key);
      unsent.delete(key);
      if (session?.key === key) go(freshKey());
    },
    onChange: draw,
    onFailure: failed,
  });
  chats.element.append(createJobsPane(http.jobs, go));
  const signOut = h("button", { type: "button", class: "link more", hidden: true, onclick: onSignOut }, "Sign out");
  chats.element.append(signOut);
  const shell = createShell({
    pane: chats.element,
    banners: banners.element,
    transcript: transcript.element,
    plan: plan.element,
    question: question.element,
    composer: composer.element,
  });
  root.append(shell.element);

  function freshKey(): string {
    const key = newSessionKey();
    freshKeys.add(key);
    return key;
  }

  /** Shows a session; the address follows, so that reload and back button work. */
  function go(key: string): void {
    shell.closeDrawer();
    // At once: what is typed before a hashchange is told would go to the chat of before.
    if (location.hash !== hashOf(key)) history.pushState(null, "", hashOf(key));
    show(key);
    composer.focus();
  }

  function show(key: string): void {
    if (client === undefined || session?.key === key) return;
    leave();
    transcript.clear();
    question.show(undefined);
    plan.show(undefined);
    composer.draft = drafts.get(key) ?? { text: "", files: [] };
    session = openSessionView({
      key,
      isNew: freshKeys.has(key),
      pending: unsent.get(key) ?? [],
      client,
      http,
      onChange: draw,
      onLive,
      onFailure: failed,
    });
    for (const message of early.splice(0)) session.send(...message);
    chats.showCurrent(key);
    draw();
  }

  /** Keeps what the reader has written in this chat and the gateway does not have. */
  function leave(): void {
    if (session === undefined) return;
    drafts.set(session.key, composer.draft);
    unsent.set(session.key, session.view.pending);
    session.close();
    session = undefined;
  }

  function onLive(event: GatewayEvent): void {
    freshKeys.delete(event.session_key);
    if (event.type !== "assistant_message" || !event.payload.final) return;
    shell.announce(event.payload.content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  }

  function draw(): void {
    if (session === undefined) return;
    const { view, hasOlder, isLoading } = session;
    transcript.show(view, { hasOlder, isLoading });
    composer.showActivity(activityOf(session));
    question.show(session.question);
    plan.show(view.plans.at(-1)?.plan);
    const isEmpty = view.items.length === 0 && view.pending.length === 0 && !isLoading;
    shell.showSession({ title: titleFor(view, hasOlder), isEmpty });
  }

  function titleFor(view: ViewState, hasOlder: boolean): string {
    if (view.title) return view.title;
    const first = hasOlder ? undefined : (view.items.find((item) => item.kind === "user") ?? view.pending[0]);
    return (
      chats.titleOf(view.sessionKey) ??
      ((first !== undefined && "text" in first ? first.text.slice(0, 80) : "") || "New chat")
    );
  }

  function failed(error: unknown): void {
    if (error instanceof Unauthorized) void askForToken();
    else banners.showFailure(error instanceof Error ? error.message : String(error));
  }

  function showStatus(status: StatusView): void {
    shell.showModel(status);
    banners.showProblems(status.problems);
  }

  /** Who has no token that counts sees nothing of what was said; what is not sent yet waits for the next one. */
  function conceal(): void {
    client?.close();
    leave();
    transcript.clear();
    question.show(undefined);
    plan.show(undefined);
    chats.clear();
    composer.draft = { text: "", files: [] };
    shell.announce("");
    shell.showSession({ title: "Token needed", isEmpty: false });
  }

  /** Whatever else the page holds goes with the reload. */
  function onSignOut(): void {
    client?.close();
    tokens.remove();
    history.replaceState(null, "", location.pathname);
    location.reload();
  }

  async function askForToken(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    conceal();
    const isWrong = tokens.get() !== undefined;
    const token = await ask({
      title: "Token needed",
      text: isWrong
        ? "The gateway did not accept this token. Please try again."
        : "This gateway is open to its owner only. Its token stands in the config as gateway.token.",
      field: { label: "Token", value: "", isSecret: true, maxLength: 1000 },
      action: "Connect",
      canCancel: false,
    });
    isAsking = false;
    if (token !== undefined) tokens.set(token);
    await start();
  }

  /** Looks who answers, then connects. Also the way back in after a wrong token. */
  async function start(): Promise<void> {
    client?.close();
    client = undefined;
    signOut.hidden = tokens.get() === undefined;
    try {
      showStatus(await http.status());
      strangers.refresh();
    } catch (error) {
      if (error instanceof Unauthorized) return askForToken();
      // Not there yet: the connection goes on trying.
    }
    const key = session?.key ?? sessionKeyFromHash(location.hash) ?? freshKey();
    leave();
    client = connect();
    history.replaceState(null, "", hashOf(key));
    show(key);
  }

  function connect(): Client {
    let wasOpen = false;
    const mine = createClient({ url: socketUrl(), token: tokens.get() });
    mine.onOpen(() => {
      wasOpen = true;
      banners.showOffline(undefined);
      session?.resume();
      chats.refresh();
      http.status().then(showStatus, () => undefined);
      strangers.refresh();
    });
    mine.onClose(({ retryInMs }) => {
      if (retryInMs === undefined || client !== mine) return;
      banners.showOffline(Date.now() + retryInMs);
      // A refused upgrade does not say why: the HTTP side does.
      if (!wasOpen)
        http.status().catch((error: unknown) => (error instanceof Unauthorized ? failed(error) : undefined));
      wasOpen = false;
    });
    mine.subscribe("*", chats.refreshSoon, { types: listEvents });
    return mine;
  }

  window.addEventListener("hashchange", () => {
    const key = sessionKeyFromHash(location.hash);
    if (key !== undefined) show(key);
  });
  window.addEventListener("online", () => client?.retryNow());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) client?.retryNow();
  });
  void start();
}

function activityOf({ view, question }: SessionView): Activity {
  // What a sub-agent asks is answered in its card, and what is written here goes to its parent.
  if (view.question !== undefined) return "asking";
  return isWorking(view) || question !== undefined ? "working" : "idle";
}

/** Always the gateway that served this page: the address bar has no say in where the token goes. */
function socketUrl(): string {
  const url = new URL("ws", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = "";
  url.hash = "";
  return url.href;
}
