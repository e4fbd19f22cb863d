import { h, icon, setText } from "../parts/dom.js";
import { onKey } from "../parts/keyboard.js";

interface ShellParts {
  readonly pane: HTMLElement;
  readonly banners: HTMLElement;
  /** From the top to the place where the reader writes. */
  readonly conversation: readonly HTMLElement[];
}

/** The frame of the page: header, the list of chats (a drawer on a phone) and the place of the conversation. */
export interface Shell {
  readonly element: HTMLElement;
  showSession(session: { readonly title: string; readonly isEmpty: boolean }): void;
  showModel(status: { readonly model: string; readonly isStandIn: boolean }): void;
  /** Read out by screen readers; not visible. */
  announce(text: string): void;
  closeDrawer(): void;
}

const standInText = "No model is configured, so a small rule-based stand-in answers.";

export function createShell({ pane, banners, conversation }: ShellParts): Shell {
  const menu = h(
    "button",
    { type: "button", class: "icon-button menu", "aria-label": "Chats", "aria-controls": "sessions" },
    icon("menu"),
  );
  const title = h("h1", { class: "title" });
  const model = h("span", { class: "chip model", hidden: true });
  const standIn = h("span", { class: "chip stand-in", title: standInText, hidden: true }, "offline stand-in");
  const header = h("header", { class: "header" }, menu, title, standIn, model);
  const hint = h("p", { class: "muted" });
  const welcome = h("div", { class: "welcome", hidden: true }, h("h2", {}, "What can I do for you?"), hint);
  const main = h("main", { class: "main" }, header, banners, welcome, ...conversation);
  const backdrop = h("div", { class: "backdrop" });
  const announcer = h("div", { class: "off-screen", "aria-live": "polite" });
  const element = h("div", { class: "shell" }, pane, backdrop, main, announcer);
  const setDrawer = createDrawer({ shell: element, main, pane, menu });
  backdrop.addEventListener("click", () => setDrawer(false));

  return {
    element,
    showSession(session) {
      setText(title, session.title);
      document.title = `${session.title} · maxclaw`;
      welcome.hidden = !session.isEmpty;
      main.classList.toggle("is-empty", session.isEmpty);
    },
    showModel(status) {
      setText(model, status.model);
      model.hidden = status.model === "" || status.isStandIn;
      standIn.hidden = !status.isStandIn;
      setText(hint, status.isStandIn ? standInText : "");
    },
    announce: (text) => setText(announcer, text.slice(0, 500)),
    closeDrawer: () => setDrawer(false),
  };
}

interface DrawerParts {
  readonly shell: HTMLElement;
  readonly main: HTMLElement;
  readonly pane: HTMLElement;
  readonly menu: HTMLElement;
}

/** Where the page is narrow the pane comes in over the conversation. The result opens and closes it. */
function createDrawer({ shell, main, pane, menu }: DrawerParts): (isOpen: boolean) => void {
  const narrow = matchMedia("(max-width: 760px)");
  const set = (isOpen: boolean): void => {
    shell.classList.toggle("drawer-open", isOpen && narrow.matches);
    menu.setAttribute("aria-expanded", String(isOpen && narrow.matches));
    // What is out of sight must be out of reach of the Tab key as well.
    pane.inert = narrow.matches && !isOpen;
    main.inert = narrow.matches && isOpen;
  };
  menu.addEventListener("click", () => {
    set(true);
    pane.querySelector<HTMLElement>(".current .session-open, .new-chat")?.focus();
  });
  onKey(shell, "Escape", () => {
    if (!shell.classList.contains("drawer-open")) return false;
    set(false);
    menu.focus();
    return true;
  });
  narrow.addEventListener("change", () => set(false));
  set(false);
  return set;
}
