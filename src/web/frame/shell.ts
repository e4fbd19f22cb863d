import { h, icon, setText } from "../parts/dom.js";
import { onKey } from "../parts/keyboard.js";
import { addDrawerStep, isDrawerStep } from "./places/drawer-step.js";
import { frameWords } from "./words.js";

interface ShellParts {
  /** Beside the place where the reader reads: the rail, and lists of chats and settings. */
  readonly side: readonly HTMLElement[];
  /** Beside the title of the open chat. */
  readonly chatHead: HTMLElement;
  /** Buttons at the end of the header. */
  readonly tools: readonly HTMLElement[];
  readonly banners: HTMLElement;
  /** From the top to the place where the reader writes. */
  readonly conversation: readonly HTMLElement[];
  /** The drawer comes. */
  onDrawer(): void;
  /** The place where the reader writes is in sight. */
  onSettled(): void;
}

/** Longer than this nobody waits for what comes first. */
const mostSettlingMs = 2000;

/** The frame of the page: header, what is beside it (a drawer on a phone), and the place of the conversation or of a pane. */
export interface Shell {
  readonly element: HTMLElement;
  /** Where panes are drawn. */
  readonly paneRoot: HTMLElement;
  /** Where the first steps are drawn, in the empty chat. */
  readonly setupRoot: HTMLElement;
  /**
   * A pane with its title instead of the conversation; `undefined` brings the conversation back. `isFirst`: the page has just
   * opened there. Else the reader goes on in the pane, or is told its title where they choose among several beside it.
   */
  showPane(title: string | undefined, isFirst?: boolean): void;
  showSession(session: { readonly title: string; readonly isEmpty: boolean }): void;
  showModel(status: { readonly model: string; readonly isStandIn: boolean; readonly needsModel: boolean }): void;
  /** Read out by screen readers; not visible. */
  announce(text: string): void;
  /** In front of the document's title, and as a dot where the rail is out of sight. */
  showWaiting(count: number): void;
  closeDrawer(): void;
  /** What the reader sees first is drawn: where they write has its place from now on. Later calls do nothing. */
  settle(): void;
}

export function createShell({ side, chatHead, tools, banners, conversation, onDrawer, onSettled }: ShellParts): Shell {
  const t = frameWords.t;
  const standInText = t("standInHint");
  const menu = createMenu();
  const title = h("h1", { class: "title", id: "place-title" });
  const model = h("span", { class: "chip model", hidden: true });
  const standIn = h("span", { class: "chip stand-in", title: standInText, hidden: true }, t("standIn"));
  const header = h("header", { class: "header" }, menu.element, title, standIn, model, chatHead, ...tools);
  const { welcome, hint, setupRoot } = createWelcome();
  const region = { role: "region", tabindex: "-1", "aria-labelledby": title.id };
  const paneRoot = h("div", { class: "pane-root", ...region, hidden: true });
  const parts = [header, banners, paneRoot, welcome, ...conversation];
  const main = h("main", { class: "main", id: "main", tabindex: "-1" }, ...parts);
  const pane = h("div", { class: "side", id: "side" }, ...side);
  const skip = createSkip(main);
  const backdrop = h("div", { class: "backdrop" });
  const announcer = h("div", { class: "off-screen", "aria-live": "polite" });
  const element = h("div", { class: "shell" }, skip, pane, backdrop, main, announcer);
  const setDrawer = createDrawer({ shell: element, main, pane, menu: menu.element, backdrop, onOpen: onDrawer });

  let paneTitle: string | undefined;
  let chatTitle = "";
  let waiting = 0;
  const showTitle = (): void => {
    const text = paneTitle ?? chatTitle;
    setText(title, text);
    document.title = `${waiting === 0 ? "" : `(${waiting}) `}${text} · maxclaw`;
  };

  return {
    element,
    paneRoot,
    setupRoot,
    showPane(wanted, isFirst = false) {
      paneTitle = wanted;
      // What has the focus goes out of sight.
      if (wanted === undefined && paneRoot.contains(document.activeElement)) main.focus();
      main.classList.toggle("has-pane", wanted !== undefined);
      paneRoot.hidden = wanted === undefined;
      showTitle();
      if (wanted === undefined || isFirst) return;
      if (pane.contains(document.activeElement)) setText(announcer, wanted);
      else paneRoot.focus({ preventScroll: true });
    },
    showSession(session) {
      chatTitle = session.title;
      showTitle();
      welcome.hidden = !session.isEmpty;
      main.classList.toggle("is-empty", session.isEmpty);
    },
    showModel(status) {
      setText(model, status.model);
      model.hidden = status.model === "" || status.isStandIn || status.needsModel;
      standIn.hidden = !status.isStandIn;
      setText(hint, status.isStandIn ? standInText : "");
    },
    showWaiting(count) {
      waiting = count;
      menu.showWaiting(count);
      showTitle();
    },
    announce: (text) => setText(announcer, text.slice(0, 500)),
    closeDrawer: () => setDrawer(false),
    settle: createSettling(main, onSettled),
  };
}

/** Where the reader writes is out of sight until its place is known. The result ends that. */
function createSettling(main: HTMLElement, onSettled: () => void): () => void {
  main.classList.add("is-settling");
  const settle = (): void => {
    if (!main.classList.contains("is-settling")) return;
    main.classList.remove("is-settling");
    onSettled();
  };
  setTimeout(settle, mostSettlingMs);
  return settle;
}

function createSkip(main: HTMLElement): HTMLElement {
  const skip = h("a", { class: "skip", href: "#main" }, frameWords.t("skip"));
  skip.addEventListener("click", (event) => {
    // The address names the chat.
    event.preventDefault();
    main.focus();
  });
  return skip;
}

/** Where the rail is out of sight its badge is a dot here. */
function createMenu() {
  const badge = h("span", { class: "menu-badge", hidden: true });
  const label = frameWords.t("menu");
  const element = h(
    "button",
    { type: "button", class: "icon-button menu", "aria-label": label, "aria-controls": "side" },
    icon("menu"),
    badge,
  );
  return {
    element,
    showWaiting(count: number): void {
      badge.hidden = count === 0;
      const waiting = frameWords.count(count, "waiting_one", "waiting_many");
      element.setAttribute("aria-label", count === 0 ? label : `${label}, ${waiting}`);
    },
  };
}

/** What an empty chat shows. */
function createWelcome() {
  const hint = h("p", { class: "muted" });
  const setupRoot = h("div", { class: "setup", hidden: true });
  const title = h("h2", {}, frameWords.t("welcome"));
  return { welcome: h("div", { class: "welcome", hidden: true }, title, hint, setupRoot), hint, setupRoot };
}

interface DrawerParts {
  readonly shell: HTMLElement;
  readonly main: HTMLElement;
  readonly pane: HTMLElement;
  readonly menu: HTMLElement;
  readonly backdrop: HTMLElement;
  onOpen(): void;
}

/** Where the page is narrow the pane comes in over the conversation. The result opens and closes it. */
function createDrawer({ shell, main, pane, menu, backdrop, onOpen }: DrawerParts): (isOpen: boolean) => void {
  const narrow = matchMedia("(max-width: 760px)");
  const set = (isOpen: boolean): void => {
    shell.classList.toggle("drawer-open", isOpen && narrow.matches);
    menu.setAttribute("aria-expanded", String(isOpen && narrow.matches));
    if (!isOpen && narrow.matches && pane.contains(document.activeElement)) {
      main.inert = false;
      main.focus();
    }
    // What is out of sight must be out of reach of the Tab key as well.
    pane.inert = narrow.matches && !isOpen;
    main.inert = narrow.matches && isOpen;
  };
  /** The step that the drawer was goes, too. */
  const leave = (): void => {
    if (isDrawerStep()) history.back();
    else set(false);
  };
  menu.addEventListener("click", () => {
    onOpen();
    set(true);
    if (narrow.matches) addDrawerStep();
    pane.querySelector<HTMLElement>(".current .session-open, [aria-current], .new-chat")?.focus();
  });
  onKey(shell, "Escape", () => {
    if (!shell.classList.contains("drawer-open")) return false;
    set(false);
    leave();
    menu.focus();
    return true;
  });
  backdrop.addEventListener("click", leave);
  window.addEventListener("popstate", () => set(isDrawerStep()));
  // Of a page before a reload, which had it open.
  if (isDrawerStep()) history.replaceState(null, "");
  narrow.addEventListener("change", () => set(false));
  set(false);
  return set;
}
