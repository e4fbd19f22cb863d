import { h, type IconName, icon, setText } from "../../parts/dom.js";
import { fullTimeOf, timeOfDay } from "../../parts/format.js";
import { type MenuChoice, openMenu } from "../../parts/menu.js";
import { copyText } from "../markdown/copy.js";
import { actionWords } from "./words.js";

export interface BarState {
  /** ISO 8601. */
  readonly at: string;
  /** What is copied; nothing to copy where it is empty. */
  readonly text: string;
  /** Absent: it cannot be edited. */
  readonly edit?: (() => void) | undefined;
  /** Of the menu, asked for when it opens. Absent: there is no menu. */
  readonly choices?: (() => readonly MenuChoice[]) | undefined;
}

/** Below a message: when it came, and what can be done with it. One stop for the Tab key; arrows move inside. */
export class MessageBar {
  readonly element: HTMLElement;
  readonly #time = h("time");
  readonly #copy = barButton("copy", "copy", () => this.#copyText());
  readonly #edit = barButton("pencil", "edit", () => this.#state?.edit?.());
  readonly #more = barButton("more", "more", () => openMenu(this.#more, this.#state?.choices?.() ?? []));
  readonly #note = h("span", { class: "bar-note", role: "status" });
  #state: BarState | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#more.setAttribute("aria-haspopup", "menu");
    const tools = h(
      "div",
      { class: "bar-tools", role: "toolbar", "aria-label": actionWords.t("actions") },
      this.#copy,
      this.#edit,
      this.#more,
    );
    tools.addEventListener("keydown", (event) => this.#onKey(event));
    this.element = h("div", { class: "message-bar" }, this.#time, tools, this.#note);
  }

  update(state: BarState): void {
    const { at, text, edit, choices } = state;
    this.#state = state;
    const date = new Date(at);
    const isKnown = !Number.isNaN(date.getTime());
    setText(this.#time, isKnown ? timeOfDay(date) : "");
    this.#time.dateTime = isKnown ? date.toISOString() : "";
    this.#time.title = isKnown ? fullTimeOf(date) : "";
    this.#copy.hidden = text === "";
    this.#edit.hidden = edit === undefined;
    this.#more.hidden = choices === undefined;
    this.#setTabStop(this.#buttons().find((button) => button.tabIndex === 0) ?? this.#buttons()[0]);
  }

  #buttons(): readonly HTMLButtonElement[] {
    return [this.#copy, this.#edit, this.#more].filter((button) => !button.hidden);
  }

  #setTabStop(stop: HTMLButtonElement | undefined): void {
    for (const button of [this.#copy, this.#edit, this.#more]) button.tabIndex = button === stop ? 0 : -1;
  }

  #onKey(event: KeyboardEvent): void {
    const buttons = this.#buttons();
    const at = buttons.findIndex((button) => button.contains(event.target instanceof Node ? event.target : null));
    const isRightToLeft = getComputedStyle(this.element).direction === "rtl";
    const step = { ArrowRight: isRightToLeft ? -1 : 1, ArrowLeft: isRightToLeft ? 1 : -1 }[event.key];
    const end = { Home: 0, End: buttons.length - 1 }[event.key];
    const next = end ?? (step === undefined ? undefined : (at + step + buttons.length) % buttons.length);
    const button = next === undefined ? undefined : buttons[next];
    if (button === undefined) return;
    event.preventDefault();
    this.#setTabStop(button);
    button.focus();
  }

  #copyText(): void {
    copyText(this.#state?.text ?? "").then(
      () => this.#say(actionWords.t("copied")),
      () => this.#say(actionWords.t("copyFailed")),
    );
  }

  #say(text: string): void {
    setText(this.#note, text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => setText(this.#note, ""), 1500);
  }
}

function barButton(name: IconName, word: "copy" | "edit" | "more", onclick: () => void): HTMLButtonElement {
  const label = actionWords.t(word);
  return h(
    "button",
    { type: "button", class: `bar-button ${word}-message`, "aria-label": label, title: label, onclick },
    icon(name),
  );
}
