import { h, icon, setChildren, setText } from "../../parts/dom.js";
import { roveIn } from "../../parts/roving.js";
import { groupsOf } from "./groups.js";
import { Row, type RowActions } from "./row.js";
import type { SearchBox } from "./search-box.js";
import type { SessionEntry } from "./session-list.js";
import { chatsWords } from "./words.js";

interface PaneActions extends RowActions {
  newChat(): void;
  showMore(): void;
  /** Shows the archived chats, or the others. */
  showArchived(isArchived: boolean): void;
}

export interface PaneView {
  readonly entries: readonly SessionEntry[];
  readonly current: string;
  readonly hasMore: boolean;
  readonly isArchived: boolean;
}

/** The chats, pinned ones first, then by day; or what a search has found. */
export class SessionsPane {
  readonly element: HTMLElement;
  readonly #actions: PaneActions;
  readonly #rows = new Map<string, Row>();
  readonly #list = h("div", { class: "session-groups" });
  readonly #more: HTMLButtonElement;
  readonly #archived: HTMLButtonElement;
  readonly #none = h("p", { class: "none" });
  readonly #chats: HTMLElement;
  readonly #fresh: HTMLButtonElement;
  #isArchived = false;

  constructor(actions: PaneActions, search: SearchBox) {
    const { t } = chatsWords;
    this.#actions = actions;
    const link = (text: string, onclick: () => void): HTMLButtonElement =>
      h("button", { type: "button", class: "link more", onclick }, text);
    this.#more = link(t("showMore"), actions.showMore);
    this.#archived = link("", () => actions.showArchived(!this.#isArchived));
    const newChat = { type: "button", class: "new-chat", onclick: actions.newChat };
    this.#fresh = h("button", newChat, icon("plus"), t("newChat"));
    const head = h("div", { class: "pane-head" }, h("div", { class: "brand" }, "maxclaw"), this.#fresh, search.field);
    this.#chats = h("div", { class: "session-scroll" }, this.#none, this.#list, this.#more, this.#archived);
    roveIn({ root: this.#list, selector: ".session-open", current: "[aria-current]", beside: ".icon-button" });
    this.element = h(
      "nav",
      { class: "pane is-unknown", id: "sessions", "aria-label": t("chats") },
      head,
      search.results,
      this.#chats,
    );
  }

  /** While something is searched for, what was found is shown instead of the list. */
  set isSearching(isSearching: boolean) {
    this.#chats.hidden = isSearching;
  }

  show({ entries, current, hasMore, isArchived }: PaneView): void {
    const { t } = chatsWords;
    const now = new Date();
    this.#isArchived = isArchived;
    const keys = new Set(entries.map(({ key }) => key));
    for (const key of this.#rows.keys()) if (!keys.has(key)) this.#rows.delete(key);
    const keepFocus = this.#focusKeeper();
    for (const entry of entries) this.#rowOf(entry.key).update(entry, entry.key === current, now);
    setChildren(
      this.#list,
      groupsOf(entries, now).flatMap((group) => [this.#headOf(group.title), this.#listOf(group)]),
    );
    setText(this.#none, t(isArchived ? "noneArchived" : "none"));
    this.#none.hidden = entries.length > 0;
    // Also those that this device has kept, while the gateway is away.
    if (entries.length > 0) this.element.classList.remove("is-unknown");
    this.#more.hidden = !hasMore;
    setText(this.#archived, t(isArchived ? "showCurrent" : "showArchived"));
    keepFocus();
  }

  /** A row that moves keeps the focus; one that goes leaves it to its neighbour. */
  #focusKeeper(): () => void {
    const { activeElement } = document;
    if (!(activeElement instanceof HTMLElement) || !this.#list.contains(activeElement)) return () => undefined;
    const before = [...this.#list.querySelectorAll<HTMLElement>(".session")];
    const at = before.findIndex((row) => row.contains(activeElement));
    return () => {
      if (document.activeElement !== document.body) return;
      if (activeElement.isConnected) return activeElement.focus();
      const rest = [...before.slice(at + 1), ...before.slice(0, at).reverse()].find((row) => row.isConnected);
      (rest?.querySelector<HTMLElement>(".session-open") ?? this.#fresh).focus();
    };
  }

  #rowOf(key: string): Row {
    const row = this.#rows.get(key) ?? new Row(this.#actions);
    this.#rows.set(key, row);
    return row;
  }

  /** Parts that stay are not made again: a focus in them would be lost. */
  readonly #heads = new Map<string, HTMLElement>();
  readonly #lists = new Map<string, HTMLElement>();

  #headOf(title: string): HTMLElement {
    const head = this.#heads.get(title) ?? h("h2", { class: "session-group" }, title);
    this.#heads.set(title, head);
    return head;
  }

  #listOf({ title, entries }: ReturnType<typeof groupsOf>[number]): HTMLElement {
    const list = this.#lists.get(title) ?? h("ul", { class: "session-list", "aria-label": title });
    this.#lists.set(title, list);
    setChildren(
      list,
      entries.map(({ key }) => this.#rowOf(key).element),
    );
    return list;
  }
}
