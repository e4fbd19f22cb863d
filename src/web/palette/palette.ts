import type { SearchPage } from "../../client/client.js";
import { sentenceOf } from "../failures/said.js";
import { h, icon, setText } from "../parts/dom.js";
import { type Entry, hitSection, type Section, sectionsFor } from "./entries.js";
import type { PaletteWorld } from "./palette-world.js";
import { openShortcuts } from "./shortcuts.js";
import { paletteWords } from "./words.js";

const pauseMs = 200;
/** Until the gateway has read more of the older chats. */
const againMs = 1000;
const fewestChars = 2;
const mostHits = 12;

/** Finds chats, pages and actions. The focus stays in its field: arrows move in the list, Enter takes a line. */
export class Palette {
  readonly #world: PaletteWorld;
  readonly #input = h("input", {
    type: "text",
    class: "palette-input",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": paletteWords.t("search"),
    placeholder: paletteWords.t("search"),
    autocomplete: "off",
    maxlength: "200",
  });
  readonly #list = h("div", { class: "palette-list", id: "palette-list", role: "listbox" });
  readonly #note = h("p", { class: "palette-note", role: "status" });
  /** Below the list: why what was found is not all. */
  readonly #rest = h("p", { class: "palette-note", role: "status", hidden: true });
  readonly #dialog: HTMLDialogElement;
  #entries: readonly Entry[] = [];
  #at = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** An answer that comes after a later question is not shown. */
  #asked = 0;

  constructor(world: PaletteWorld) {
    this.#world = world;
    this.#list.setAttribute("aria-label", paletteWords.t("title"));
    const close = h(
      "button",
      { type: "button", class: "icon-button", "aria-label": paletteWords.t("close"), onclick: () => this.#close() },
      icon("close"),
    );
    const head = h("div", { class: "palette-head" }, icon("search"), this.#input, close);
    this.#dialog = h(
      "dialog",
      { class: "palette", "aria-label": paletteWords.t("title") },
      head,
      this.#note,
      this.#list,
      this.#rest,
    );
    this.#input.addEventListener("input", () => this.#onInput());
    this.#input.addEventListener("keydown", (event) => this.#onKey(event));
    // A click beside it closes it.
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) this.#close();
    });
    this.#dialog.addEventListener("close", () => {
      clearTimeout(this.#timer);
      this.#asked += 1;
      this.#dialog.remove();
    });
  }

  /** @param query what was typed already */
  open(query: string): void {
    document.body.append(this.#dialog);
    this.#input.value = query;
    this.#onInput();
    this.#dialog.showModal();
    this.#input.focus();
  }

  /** The browser gives the focus back to where it was. */
  #close(): void {
    this.#dialog.close();
  }

  #onInput(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
    const query = this.#input.value.trim();
    this.#showRest("");
    this.#show(query, []);
    if (query.length >= fewestChars) this.#timer = setTimeout(() => void this.#search(query), pauseMs);
  }

  async #search(query: string): Promise<void> {
    const mine = this.#asked;
    try {
      const page = await this.#world.client()?.searchSessions({ query, limit: mostHits });
      if (mine !== this.#asked || page === undefined) return;
      this.#show(query, hitSection(page.hits, this.#world));
      this.#showRest(restOf(page));
      if (!page.isComplete) this.#timer = setTimeout(() => void this.#search(query), againMs);
    } catch (error) {
      if (mine === this.#asked) setText(this.#note, sentenceOf(error));
    }
  }

  #show(query: string, found: readonly Section[]): void {
    const chosen = this.#entries[this.#at]?.label;
    const sections = [...sectionsFor(query, this.#world, openShortcuts), ...found];
    this.#entries = sections.flatMap(({ entries }) => entries);
    const kept = found.length === 0 ? -1 : this.#entries.findIndex(({ label }) => label === chosen);
    this.#at = Math.max(0, kept);
    let index = 0;
    this.#list.replaceChildren(
      ...sections.map(({ title, entries }, number) => {
        const id = `palette-group-${number}`;
        const heading = h("div", { class: "palette-group", id }, title);
        const lines = entries.map((entry) => {
          index += 1;
          return this.#line(entry, index - 1);
        });
        return h("div", { role: "group", "aria-labelledby": id }, heading, ...lines);
      }),
    );
    const { length } = this.#entries;
    setText(
      this.#note,
      length === 0 ? paletteWords.t("nothing") : paletteWords.count(length, "count_one", "count_many"),
    );
    this.#note.classList.toggle("off-screen", length > 0);
    this.#mark();
  }

  #showRest(text: string): void {
    setText(this.#rest, text);
    this.#rest.hidden = text === "";
  }

  #line(entry: Entry, index: number): HTMLElement {
    return h(
      "div",
      {
        class: "palette-entry",
        role: "option",
        id: `palette-${index}`,
        "aria-selected": "false",
        onclick: () => this.#run(entry),
      },
      h("span", { class: "palette-label" }, entry.label),
      entry.detail === "" ? undefined : h("span", { class: "palette-detail" }, entry.detail),
    );
  }

  #mark(): void {
    this.#input.removeAttribute("aria-activedescendant");
    for (const [index, line] of this.#list.querySelectorAll<HTMLElement>(".palette-entry").entries()) {
      line.setAttribute("aria-selected", String(index === this.#at));
      if (index !== this.#at) continue;
      this.#input.setAttribute("aria-activedescendant", line.id);
      line.scrollIntoView({ block: "nearest" });
    }
  }

  #onKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const { length } = this.#entries;
    const entry = this.#entries[this.#at];
    if (event.key === "Enter" && entry !== undefined) {
      event.preventDefault();
      this.#run(entry);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || length === 0) return;
    event.preventDefault();
    this.#at = (this.#at + step + length) % length;
    this.#mark();
  }

  /** It is gone before anything else opens, so that the focus goes where that wants it. */
  #run(entry: Entry): void {
    this.#close();
    entry.run();
  }
}

function restOf({ hits, next, isComplete }: SearchPage): string {
  if (!isComplete) return paletteWords.t("reading");
  return next === undefined ? "" : paletteWords.t("more", { n: hits.length });
}
