import { h, icon, setText } from "../parts/dom.js";

interface ShellParts {
  readonly pane: HTMLElement;
  readonly banners: HTMLElement;
  readonly transcript: HTMLElement;
  readonly plan: HTMLElement;
  readonly question: HTMLElement;
  readonly composer: HTMLElement;
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

export function createShell({ pane, banners, transcript, plan, question, composer }: ShellParts): Shell {
  const narrow = matchMedia("(max-width: 760px)");
  const menu = h(
    "button",
    { type: "button", class: "icon-button menu", "aria-label": "Chats", "aria-controls": "sessions" },
    icon("menu"),
  );
  const title = h("h1", { class: "title" });
  const model = h("span", { class: "chip model" });
  const standIn = h("span", { class: "chip stand-in", title: standInText }, "offline stand-in");
  const header = h("header", { class: "header" }, menu, title, standIn, model);
  const hint = h("p", { class: "muted" });
  const welcome = h("div", { class: "welcome" }, h("h2", {}, "What can I do for you?"), hint);
  const main = h("main", { class: "main" }, header, banners, welcome, transcript, plan, question, composer);
  const backdrop = h("div", { class: "backdrop" });
  const announcer = h("div", { class: "off-screen", "aria-live": "polite" });
  const element = h("div", { class: "shell" }, pane, backdrop, main, announcer);
  standIn.hidden = true;
  model.hidden = true;
  welcome.hidden = true;

  function setDrawer(isOpen: boolean): void {
    element.classList.toggle("drawer-open", isOpen && narrow.matches);
    menu.setAttribute("aria-expanded", String(isOpen && narrow.matches));
    // What is out of sight must be out of reach of the Tab key as well.
    pane.inert = narrow.matches && !isOpen;
    main.inert = narrow.matches && isOpen;
  }

  menu.addEventListener("click", () => {
    setDrawer(true);
    pane.querySelector<HTMLElement>(".current .session-open, .new-chat")?.focus();
  });
  backdrop.addEventListener("click", () => setDrawer(false));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.classList.contains("drawer-open")) return;
    setDrawer(false);
    menu.focus();
  });
  narrow.addEventListener("change", () => setDrawer(false));
  setDrawer(false);

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
