import { h, icon, setChildren, setText } from "../../parts/dom.js";
import { localeOfPage } from "../../words/language.js";
import { type SessionEntry, titleOf } from "./session-list.js";
import { chatsWords } from "./words.js";

interface PaneActions {
  newChat(): void;
  open(key: string): void;
  rename(entry: SessionEntry): void;
  remove(entry: SessionEntry): void;
  showMore(): void;
}

export interface SessionsPane {
  readonly element: HTMLElement;
  show(entries: readonly SessionEntry[], current: string, hasMore: boolean): void;
}

interface Row {
  readonly element: HTMLElement;
  update(entry: SessionEntry, isCurrent: boolean, now: Date): void;
}

export function createSessionsPane(actions: PaneActions): SessionsPane {
  const rows = new Map<string, Row>();
  const list = h("ul", { class: "session-list" });
  const more = h("button", { type: "button", class: "link more", onclick: actions.showMore }, chatsWords.t("showMore"));
  const none = h("p", { class: "none" }, chatsWords.t("none"));
  const fresh = h(
    "button",
    { type: "button", class: "new-chat", onclick: actions.newChat },
    icon("plus"),
    chatsWords.t("newChat"),
  );
  const head = h("div", { class: "pane-head" }, h("div", { class: "brand" }, "maxclaw"), fresh);
  const element = h(
    "nav",
    { class: "pane", id: "sessions", "aria-label": chatsWords.t("chats") },
    head,
    list,
    none,
    more,
  );
  return {
    element,
    show(entries, current, hasMore) {
      const now = new Date();
      const elements = entries.map((entry) => {
        const row = rows.get(entry.key) ?? createRow(actions);
        rows.set(entry.key, row);
        row.update(entry, entry.key === current, now);
        return row.element;
      });
      const keys = new Set(entries.map(({ key }) => key));
      for (const key of rows.keys()) if (!keys.has(key)) rows.delete(key);
      setChildren(list, elements);
      none.hidden = entries.length > 0;
      more.hidden = !hasMore;
    },
  };
}

function createRow(actions: PaneActions): Row {
  let entry: SessionEntry | undefined;
  const withEntry = (run: (entry: SessionEntry) => void) => () => {
    if (entry !== undefined) run(entry);
  };
  const name = h("span", { class: "session-name" });
  const meta = h("span", { class: "session-meta" });
  const open = h(
    "button",
    { type: "button", class: "session-open", onclick: withEntry(({ key }) => actions.open(key)) },
    name,
    meta,
  );
  const rename = h(
    "button",
    { type: "button", class: "icon-button", onclick: withEntry(actions.rename) },
    icon("pencil"),
  );
  const remove = h(
    "button",
    { type: "button", class: "icon-button", onclick: withEntry(actions.remove) },
    icon("trash"),
  );
  const element = h("li", { class: "session" }, open, h("span", { class: "session-actions" }, rename, remove));
  return {
    element,
    update(next, isCurrent, now) {
      entry = next;
      const title = titleOf(next);
      setText(name, title);
      setText(meta, [next.channel === "webui" ? "" : next.channel, timeOf(next.at, now)].filter(Boolean).join(" · "));
      rename.setAttribute("aria-label", chatsWords.t("renameNamed", { title }));
      remove.setAttribute("aria-label", chatsWords.t("deleteNamed", { title }));
      element.classList.toggle("current", isCurrent);
      if (isCurrent) open.setAttribute("aria-current", "page");
      else open.removeAttribute("aria-current");
    },
  };
}

function timeOf(at: string, now: Date): string {
  const date = new Date(at);
  if (at === "" || Number.isNaN(date.getTime())) return "";
  if (date.toDateString() === now.toDateString())
    return date.toLocaleTimeString(localeOfPage(), { hour: "2-digit", minute: "2-digit" });
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (date.toDateString() === yesterday.toDateString()) return chatsWords.t("yesterday");
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return date.toLocaleDateString(localeOfPage(), { day: "numeric", month: "short", year });
}
