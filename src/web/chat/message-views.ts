import { type LoadFile, sentFileView } from "../files/file-view.js";
import { h, setText } from "../parts/dom.js";
import type { MenuChoice } from "../parts/menu.js";
import type { AssistantItem, UserItem } from "../session/view-state.js";
import { EditBox } from "./actions/edit-box.js";
import type { MessageActions } from "./actions/message-actions.js";
import { MessageBar } from "./actions/message-bar.js";
import { canReadAloud, isReadingAloud, readAloud, stopReading } from "./actions/read-aloud.js";
import { actionWords } from "./actions/words.js";
import { Answer } from "./answer.js";
import type { ItemView } from "./item-view.js";
import type { PictureOf } from "./markdown/own-picture.js";
import type { RetryTurn } from "./retry-line.js";
import { chatWords } from "./words.js";

/** What views of messages use of the page. */
export interface MessageWorld extends MessageActions {
  readonly loadFile: LoadFile;
  readonly pictureOf: PictureOf;
  readonly retryTurn: RetryTurn;
  /** Shows what happened in a turn of the open chat. */
  openTimeline(turnId: string): void;
  /** Shows who wrote an answer, and what it took. */
  openDetails(button: HTMLElement, item: AssistantItem): void;
}

/** A message of the reader's, or of somebody else who talks to the assistant. */
export class UserView implements ItemView<UserItem> {
  readonly element: HTMLElement;
  readonly #world: MessageWorld;
  readonly #sender = h("div", { class: "sender" });
  readonly #text = h("div", { class: "bubble" });
  readonly #files = h("ul", { class: "files", "aria-label": chatWords.t("files") });
  readonly #state = h("div", { class: "message-state" });
  readonly #bar = new MessageBar();
  #box: EditBox | undefined;
  #item: UserItem | undefined;

  constructor(world: MessageWorld) {
    this.#world = world;
    const parts = [this.#sender, this.#text, this.#files, this.#state, this.#bar.element];
    this.element = h("article", { class: "message user", "aria-label": chatWords.t("you") }, ...parts);
  }

  /** Its text is being written again: the view must not go. */
  get isHeld(): boolean {
    return this.#box !== undefined;
  }

  update(item: UserItem): void {
    this.#item = item;
    if (item.sender !== undefined) this.element.setAttribute("aria-label", item.sender);
    show(this.#sender, item.sender ?? "");
    show(this.#text, item.text);
    this.#text.hidden ||= this.#box !== undefined;
    this.#files.hidden = item.files.length === 0;
    if (item.files.length !== this.#files.childElementCount)
      this.#files.replaceChildren(...item.files.map((file) => sentFileView(file, this.#world.loadFile)));
    show(this.#state, item.status === "queued" ? chatWords.t("queued") : "");
    const edit = item.contextSeq === undefined ? undefined : () => this.edit();
    this.#bar.update({ at: item.at, text: item.text, edit, choices: this.#choices(item) });
  }

  /** Opens the text for writing. */
  edit(): void {
    const item = this.#item;
    if (item === undefined || this.#box !== undefined) return;
    const box = new EditBox({
      text: item.text,
      hasFiles: item.files.length > 0,
      send: (text) => this.#world.replace(item, text),
      onClose: () => {
        box.element.remove();
        this.#box = undefined;
        this.#bar.element.hidden = false;
        if (this.#item !== undefined) show(this.#text, this.#item.text);
      },
    });
    this.#box = box;
    this.#text.hidden = true;
    this.#bar.element.hidden = true;
    this.#text.after(box.element);
    box.focus();
  }

  #choices({ turnSeq, contextSeq, beforeSeq, text }: UserItem): (() => readonly MenuChoice[]) | undefined {
    if (turnSeq === undefined) return undefined;
    // A command takes nobody's place.
    const before = contextSeq === undefined ? undefined : beforeSeq;
    return () => [{ label: actionWords.t("branch"), run: () => this.#world.branch(before ?? turnSeq - 1, text) }];
  }
}

export function assistantView(world: MessageWorld): ItemView<AssistantItem> {
  const thought = h("div", { class: "thought" });
  const thinking = h("details", { class: "fold thinking" }, h("summary", {}, chatWords.t("thinking")), thought);
  const body = h("div", { class: "markdown" });
  const files = h("ul", { class: "files", "aria-label": chatWords.t("files") });
  const state = h("div", { class: "message-state" });
  const bar = new MessageBar();
  const parts = [thinking, body, files, state, bar.element];
  const element = h("article", { class: "message assistant", "aria-label": chatWords.t("assistant") }, ...parts);
  const answer = new Answer(body, world.pictureOf);
  return {
    element,
    update(item) {
      thinking.hidden = item.thinking === "";
      setText(thought, item.thinking);
      answer.show(item.text, item.isStreaming);
      showFiles(files, item.files);
      show(state, item.isPartial && item.text !== "" ? chatWords.t("cutOff") : "");
      element.classList.toggle("streaming", item.isStreaming && item.text !== "");
      element.hidden = item.text === "" && item.thinking === "" && item.files.length === 0;
      // What a model says on its way to the answer has none.
      bar.element.hidden = !item.isFinal && !item.isPartial;
      bar.update({ at: item.at, text: item.text, choices: () => choicesOf(item, world, { bar: bar.element, body }) });
    },
  };
}

interface Shown {
  readonly bar: HTMLElement;
  readonly body: HTMLElement;
}

function choicesOf(item: AssistantItem, world: MessageWorld, { bar, body }: Shown): readonly MenuChoice[] {
  const choices: MenuChoice[] = [];
  const seq = item.turn?.endSeq ?? item.seq;
  if (seq !== undefined) choices.push({ label: actionWords.t("branch"), run: () => world.branch(seq) });
  const again = item.isFinal ? world.answerAgain(item) : undefined;
  if (again !== undefined) choices.push({ label: actionWords.t("again"), run: again });
  if (item.made !== undefined) {
    const button = bar.querySelector<HTMLElement>(".more-message") ?? bar;
    choices.push({ label: actionWords.t("details"), run: () => world.openDetails(button, item) });
  }
  const { turnId } = item;
  if (turnId !== undefined) choices.push({ label: actionWords.t("timeline"), run: () => world.openTimeline(turnId) });
  if (isReadingAloud()) choices.push({ label: actionWords.t("stopReading"), run: stopReading });
  else if (canReadAloud() && item.text !== "")
    // As it looks, without the signs of Markdown.
    choices.push({ label: actionWords.t("readAloud"), run: () => readAloud(body.innerText) });
  return choices;
}

export function show(element: HTMLElement, text: string): void {
  element.hidden = text === "";
  setText(element, text);
}

export function showFiles(list: HTMLElement, files: readonly string[]): void {
  list.hidden = files.length === 0;
  if (files.length !== list.childElementCount) list.replaceChildren(...files.map((file) => h("li", {}, file)));
}
