import { h, setText } from "../parts/dom.js";
import { type CommandChoice, matching, textOf } from "./choices.js";
import { commandsWords } from "./words.js";

export interface CommandMenuOptions {
  readonly area: HTMLTextAreaElement;
  /** Rejects where the gateway cannot be asked: then there is no menu. */
  load(): Promise<readonly CommandChoice[]>;
}

/**
 * The list of commands and skills above the field, while a slash and nothing but a word is in it. The focus stays in the field:
 * arrows move in the list, Enter and Tab take a line, Esc closes it.
 */
export class CommandMenu {
  readonly element: HTMLElement;
  readonly #area: HTMLTextAreaElement;
  readonly #load: CommandMenuOptions["load"];
  readonly #list = h("div", { class: "command-list", id: "commands", role: "listbox", tabindex: "0" });
  readonly #count = h("span", { class: "off-screen", role: "status" });
  #choices: readonly CommandChoice[] = [];
  #shown: readonly CommandChoice[] = [];
  #at = 0;
  /** The text for which the reader has closed it. */
  #closedFor: string | undefined;

  constructor({ area, load }: CommandMenuOptions) {
    this.#area = area;
    this.#load = load;
    this.#list.setAttribute("aria-label", commandsWords.t("title"));
    this.#list.hidden = true;
    this.element = h("div", { class: "command-menu" }, this.#list, this.#count);
    area.setAttribute("aria-autocomplete", "list");
    area.addEventListener("input", () => void this.#onInput());
    area.addEventListener("blur", () => this.#close());
    area.addEventListener("keydown", (event) => this.#onKey(event));
    // The field keeps the focus.
    this.#list.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  get #isOpen(): boolean {
    return !this.#list.hidden;
  }

  async #onInput(): Promise<void> {
    const text = this.#area.value;
    if (wordIn(text) === undefined) {
      this.#closedFor = undefined;
      this.#close();
      return;
    }
    if (text === "/") await this.#refresh();
    this.#show();
  }

  async #refresh(): Promise<void> {
    if (this.#choices.length > 0) this.#show();
    // Without them the field works as ever, and the next slash asks again.
    this.#choices = await this.#load().catch(() => this.#choices);
  }

  #show(): void {
    const text = this.#area.value;
    const word = text === this.#closedFor || document.activeElement !== this.#area ? undefined : wordIn(text);
    this.#shown = word === undefined ? [] : matching(this.#choices, word);
    if (this.#shown.length === 0) {
      this.#close();
      return;
    }
    this.#at = 0;
    this.#list.replaceChildren(...this.#groups());
    this.#list.hidden = false;
    this.#area.setAttribute("aria-controls", this.#list.id);
    this.#area.setAttribute("aria-haspopup", "listbox");
    setText(this.#count, commandsWords.count(this.#shown.length, "found_one", "found_many"));
    this.#mark();
  }

  #groups(): readonly HTMLElement[] {
    return (["command", "skill"] as const).flatMap((kind) => {
      const lines = this.#shown.flatMap((choice, index) => (choice.kind === kind ? [this.#line(choice, index)] : []));
      if (lines.length === 0) return [];
      const id = `commands-${kind}`;
      const title = h("div", { class: "command-group", id }, commandsWords.t(kind === "skill" ? "skills" : "commands"));
      return [h("div", { role: "group", "aria-labelledby": id }, title, ...lines)];
    });
  }

  #line(choice: CommandChoice, index: number): HTMLElement {
    const { kind, name, argument, description } = choice;
    const onclick = (): void => this.#take(choice);
    return h(
      "div",
      { class: "command", role: "option", id: `command-${index}`, "aria-selected": "false", onclick },
      h("span", { class: "command-name" }, kind === "skill" ? name : `/${name}`),
      argument === "" ? undefined : h("span", { class: "command-argument" }, argument),
      h("span", { class: "command-description" }, description),
    );
  }

  #mark(): void {
    const lines = this.#list.querySelectorAll<HTMLElement>(".command");
    for (const [index, line] of lines.entries()) {
      const isAt = index === this.#at;
      line.setAttribute("aria-selected", String(isAt));
      if (!isAt) continue;
      line.scrollIntoView({ block: "nearest" });
      this.#area.setAttribute("aria-activedescendant", line.id);
    }
  }

  #close(): void {
    this.#list.hidden = true;
    setText(this.#count, "");
    for (const name of ["aria-controls", "aria-haspopup", "aria-activedescendant"]) this.#area.removeAttribute(name);
  }

  #onKey(event: KeyboardEvent): void {
    if (!this.#isOpen || event.isComposing || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    if (!this.#uses(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  #uses(key: string): boolean {
    const choice = this.#shown[this.#at];
    switch (key) {
      case "ArrowDown":
      case "ArrowUp":
        this.#at = (this.#at + (key === "ArrowDown" ? 1 : -1) + this.#shown.length) % this.#shown.length;
        this.#mark();
        return true;
      case "Escape":
        this.#closedFor = this.#area.value;
        this.#close();
        return true;
      case "Enter":
      case "Tab":
        // Typed to its end, it is sent as it is.
        if (choice === undefined || (key === "Enter" && this.#area.value === `/${choice.name}`)) return false;
        this.#take(choice);
        return true;
      default:
        return false;
    }
  }

  /** Nothing is sent: the cursor is behind the name. */
  #take(choice: CommandChoice): void {
    const area = this.#area;
    area.value = textOf(choice);
    area.setSelectionRange(area.value.length, area.value.length);
    this.#closedFor = area.value;
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
    area.focus();
  }
}

function wordIn(text: string): string | undefined {
  return /^\/([^\s/]*)$/.exec(text)?.[1];
}
