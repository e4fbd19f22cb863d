import type { Client, SearchHit, SearchPage } from "../../../client/client.js";
import { sentenceOf } from "../../failures/said.js";
import { h, icon, setText } from "../../parts/dom.js";
import { momentOf } from "../../parts/format.js";
import { chatsWords } from "./words.js";

interface SearchActions {
  client(): Client | undefined;
  /** Opens a chat at what was found in it. */
  openHit(hit: SearchHit): void;
  /** Called when a search begins and when it is over. */
  onToggle(isSearching: boolean): void;
}

const pauseMs = 200;
/** Until the gateway has read more of the older chats. */
const againMs = 1000;
const limit = 50;

/** Searches everything that was ever said, on every channel. */
export class SearchBox {
  readonly field: HTMLElement;
  readonly results: HTMLElement;
  readonly #actions: SearchActions;
  readonly #input = h("input", {
    type: "search",
    class: "search-input",
    placeholder: chatsWords.t("search"),
    "aria-label": chatsWords.t("search"),
    maxlength: "200",
  });
  readonly #list = h("ul", { class: "session-list hits" });
  readonly #note = h("p", { class: "none", role: "status" });
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** An answer that comes after a later question is not shown. */
  #asked = 0;
  /** What is looked for once the gateway is there again. */
  #owed: string | undefined;
  /** What is in the list. */
  #shown = "[]";

  constructor(actions: SearchActions) {
    this.#actions = actions;
    this.field = h("label", { class: "search-field" }, icon("search"), this.#input);
    this.results = h("div", { class: "search-results", hidden: true }, this.#note, this.#list);
    this.#input.addEventListener("input", () => this.#onInput());
  }

  /** The gateway is there again. */
  resume(): void {
    if (this.#owed !== undefined) void this.#search(this.#owed);
  }

  #onInput(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.#owed = undefined;
    const query = this.#input.value.trim();
    this.results.hidden = query === "";
    this.#actions.onToggle(query !== "");
    if (query === "") this.#show([]);
    else this.#timer = setTimeout(() => void this.#search(query), pauseMs);
  }

  async #search(query: string): Promise<void> {
    this.#asked += 1;
    const mine = this.#asked;
    this.#owed = query;
    if (this.#list.childElementCount === 0) setText(this.#note, chatsWords.t("searching"));
    try {
      const page = await this.#actions.client()?.searchSessions({ query, limit });
      if (mine !== this.#asked || page === undefined) return;
      this.#owed = undefined;
      this.#show(page.hits);
      setText(this.#note, noteOf(page));
      if (!page.isComplete) this.#timer = setTimeout(() => void this.#search(query), againMs);
    } catch (error) {
      if (mine !== this.#asked) return;
      this.#show([]);
      setText(this.#note, sentenceOf(error));
    }
  }

  /** What is there already stays as it is, with the focus that may be on it. */
  #show(hits: readonly SearchHit[]): void {
    const now = JSON.stringify(hits);
    if (now === this.#shown) return;
    this.#shown = now;
    this.#list.replaceChildren(...hits.map((hit) => this.#row(hit)));
  }

  #row(hit: SearchHit): HTMLElement {
    const title = hit.title ?? (hit.channel === "webui" ? chatsWords.t("newChat") : hit.sessionKey);
    const when = momentOf(new Date(hit.at));
    const open = h(
      "button",
      { type: "button", class: "session-open", onclick: () => this.#actions.openHit(hit) },
      h("span", { class: "session-name" }, title),
      h("span", { class: "hit-text" }, ...marked(hit)),
      h(
        "span",
        { class: "session-meta" },
        [hit.channel === "webui" ? "" : hit.channel, when].filter(Boolean).join(" · "),
      ),
    );
    return h("li", { class: "session" }, open);
  }
}

function noteOf({ hits, next, isComplete }: SearchPage): string {
  if (!isComplete) return chatsWords.t("reading");
  if (next !== undefined) return chatsWords.t("moreFound", { n: hits.length });
  return hits.length === 0 ? chatsWords.t("nothingFound") : "";
}

function marked({ snippet, ranges }: SearchHit): readonly (string | HTMLElement)[] {
  const parts: (string | HTMLElement)[] = [];
  let done = 0;
  for (const [from, to] of ranges) {
    parts.push(snippet.slice(done, from), h("mark", {}, snippet.slice(from, to)));
    done = to;
  }
  return [...parts, snippet.slice(done)];
}
