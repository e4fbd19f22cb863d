import type { PaneEntry } from "../panes/list.js";
import { h, type IconName, icon, setText } from "../parts/dom.js";
import { roveIn } from "../parts/roving.js";
import { frameWords } from "./words.js";

/** Where the reader can go, from everywhere: the chats, the panes, the settings. */
export interface Rail {
  readonly element: HTMLElement;
  /** `undefined`: a chat is open. */
  show(pane: PaneEntry | undefined): void;
  /** A number beside a pane; 0 shows none. */
  badge(id: string, count: number): void;
}

interface RailActions {
  openChats(): void;
  openSettings(): void;
  openPane(id: string): void;
}

interface Item {
  readonly element: HTMLButtonElement;
  readonly badge: HTMLElement;
}

/** The settings have one button here. */
export function createRail(panes: readonly PaneEntry[], actions: RailActions): Rail {
  const t = frameWords.t;
  const chats = railItem("chat", t("chats"), actions.openChats);
  const items = new Map(
    panes
      .filter(({ area }) => area === "rail")
      .map(({ id, icon: name, title }) => [id, railItem(name, title(), () => actions.openPane(id))]),
  );
  const settings = railItem("gear", t("settings"), actions.openSettings, "rail-settings");
  const element = h(
    "nav",
    { class: "rail", "aria-label": t("areas") },
    chats.element,
    ...[...items.values()].map((item) => item.element),
    settings.element,
  );
  roveIn({ root: element, selector: ".rail-item", current: "[aria-current]" });
  return {
    element,
    show(pane) {
      const current = pane === undefined ? chats : pane.area === "settings" ? settings : items.get(pane.id);
      for (const item of [chats, ...items.values(), settings]) {
        if (item === current) item.element.setAttribute("aria-current", "page");
        else item.element.removeAttribute("aria-current");
      }
    },
    badge(id, count) {
      const item = items.get(id);
      if (item === undefined) return;
      item.badge.hidden = count === 0;
      setText(item.badge, count > 99 ? "99+" : String(count));
    },
  };
}

function railItem(name: IconName, label: string, onclick: () => void, className = ""): Item {
  const badge = h("span", { class: "badge", hidden: true });
  const element = h(
    "button",
    { type: "button", class: `rail-item ${className}`, onclick },
    icon(name),
    h("span", { class: "rail-label" }, label),
    badge,
  );
  return { element, badge };
}

/** The list of the settings, in the place where the chats are else. */
export interface SettingsList {
  readonly element: HTMLElement;
  show(current: string): void;
}

export function createSettingsList(panes: readonly PaneEntry[], openPane: (id: string) => void): SettingsList {
  const buttons = new Map(
    panes
      .filter(({ area }) => area === "settings")
      .map(({ id, icon: name, title }) => [
        id,
        h("button", { type: "button", class: "side-item", onclick: () => openPane(id) }, icon(name), title()),
      ]),
  );
  const title = h("div", { class: "side-title" }, frameWords.t("settings"));
  const element = h("nav", { class: "pane", "aria-label": frameWords.t("settings"), hidden: true }, title);
  element.append(...buttons.values());
  roveIn({ root: element, selector: ".side-item", current: "[aria-current]" });
  return {
    element,
    show(current) {
      for (const [id, button] of buttons) {
        if (id === current) button.setAttribute("aria-current", "page");
        else button.removeAttribute("aria-current");
      }
    },
  };
}
