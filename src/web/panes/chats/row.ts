import { h, icon, setText } from "../../parts/dom.js";
import { dateText, timeOfDay } from "../../parts/format.js";
import { openMenu } from "../../parts/menu.js";
import { type SessionEntry, titleOf } from "./session-list.js";
import { chatsWords } from "./words.js";

export interface RowActions {
  open(key: string): void;
  rename(entry: SessionEntry): void;
  remove(entry: SessionEntry): void;
  mark(entry: SessionEntry, marks: { readonly pinned?: boolean; readonly archived?: boolean }): void;
  download(entry: SessionEntry, format: "markdown" | "json"): void;
}

/** One chat of the list. */
export class Row {
  readonly element: HTMLElement;
  readonly #name = h("span", { class: "session-name" });
  readonly #meta = h("span", { class: "session-meta" });
  readonly #unread = h("span", { class: "unread", hidden: true });
  readonly #open: HTMLButtonElement;
  readonly #more: HTMLButtonElement;
  #entry: SessionEntry | undefined;

  constructor(actions: RowActions) {
    const withEntry = (run: (entry: SessionEntry) => void) => (): void => {
      if (this.#entry !== undefined) run(this.#entry);
    };
    const text = h("span", { class: "session-text" }, this.#name, this.#meta);
    this.#open = h(
      "button",
      { type: "button", class: "session-open", onclick: withEntry(({ key }) => actions.open(key)) },
      text,
      this.#unread,
    );
    this.#more = h("button", { type: "button", class: "icon-button", "aria-haspopup": "menu" }, icon("more"));
    this.#more.addEventListener(
      "click",
      withEntry((entry) => openMenu(this.#more, choicesOf(entry, actions))),
    );
    this.element = h("li", { class: "session" }, this.#open, h("span", { class: "session-actions" }, this.#more));
  }

  update(entry: SessionEntry, isCurrent: boolean, now: Date): void {
    this.#entry = entry;
    const title = titleOf(entry);
    setText(this.#name, title);
    const channel = entry.channel === "webui" ? "" : entry.channel;
    setText(this.#meta, [channel, timeOf(entry.at, now)].filter(Boolean).join(" · "));
    this.#more.setAttribute("aria-label", chatsWords.t("actionsOf", { title }));
    const unread = isCurrent ? 0 : entry.unread;
    this.#unread.hidden = unread === 0;
    setText(this.#unread, unread > 99 ? "99+" : String(unread));
    this.#unread.setAttribute("aria-label", chatsWords.count(unread, "unreadOne", "unread"));
    this.element.classList.toggle("has-unread", unread > 0);
    this.element.classList.toggle("current", isCurrent);
    if (isCurrent) this.#open.setAttribute("aria-current", "page");
    else this.#open.removeAttribute("aria-current");
  }
}

function choicesOf(entry: SessionEntry, actions: RowActions): Parameters<typeof openMenu>[1] {
  const { t } = chatsWords;
  const { pinned, archived } = entry;
  return [
    { label: t(pinned ? "unpin" : "pin"), run: () => actions.mark(entry, { pinned: !pinned }) },
    { label: t("rename"), run: () => actions.rename(entry) },
    { label: t(archived ? "unarchive" : "archive"), run: () => actions.mark(entry, { archived: !archived }) },
    { label: t("saveMarkdown"), run: () => actions.download(entry, "markdown") },
    { label: t("saveJson"), run: () => actions.download(entry, "json") },
    { label: t("delete"), isDangerous: true, run: () => actions.remove(entry) },
  ];
}

function timeOf(at: string, now: Date): string {
  const date = new Date(at);
  if (at === "" || Number.isNaN(date.getTime())) return "";
  if (date.toDateString() === now.toDateString()) return timeOfDay(date);
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (date.toDateString() === yesterday.toDateString()) return chatsWords.t("yesterday");
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return dateText(date, { day: "numeric", month: "short", year });
}
