import type { CommandChoice } from "../commands/choices.js";
import { CommandMenu } from "../commands/command-menu.js";
import { sentenceOf } from "../failures/said.js";
import { createFileChooser, takeDroppedFiles, takePastedFiles } from "../files/take-files.js";
import { type ChosenFile, Tray, type UploadFile } from "../files/tray.js";
import type { Written } from "../outbox/outbox.js";
import type { OutgoingFile, SendMode } from "../outbox/outbox-store.js";
import { h, type IconName, icon, setText } from "../parts/dom.js";
import { focusToWrite, onKey, saveFocus } from "../parts/keyboard.js";
import { createSpeakButton } from "./speaking/speak-button.js";
import { chatWords } from "./words.js";

interface ComposerActions {
  send(message: Written): void;
  stop(): void;
  /** What is written is another. */
  onChange(text: string, files: readonly OutgoingFile[]): void;
  readonly upload: UploadFile;
  /** For the menu that a slash opens. */
  commands(): Promise<readonly CommandChoice[]>;
  /** Brings the last own message back to be written again. False where there is none. */
  editLast(): boolean;
  /** Writes down what is said in a recording. */
  writeDown(recording: File): Promise<string>;
}

/** What is written but not sent. */
export interface MessageDraft {
  readonly text: string;
  readonly files: readonly ChosenFile[];
}

/** What the assistant does while the reader writes. */
export type Activity = "idle" | "working" | "asking";

const hints = { idle: "hintIdle", working: "hintWorking", asking: "hintAsking" } as const;

/** Where the reader writes. */
export class Composer {
  readonly element: HTMLElement;
  readonly #actions: ComposerActions;
  readonly #tray: Tray;
  readonly #area = h("textarea", {
    dir: "auto",
    id: "message",
    rows: "1",
    placeholder: chatWords.t("placeholder"),
    "aria-label": chatWords.t("message"),
    enterkeyhint: "send",
  });
  readonly #send = h("button", { type: "submit", class: "round primary" }, icon("send"));
  readonly #add = roundButton("plus", "add", () => this.#submitAndWrite("append"));
  readonly #instead = roundButton("replace", "instead", () => this.#submitAndWrite("cancel"));
  readonly #stop = roundButton("stop", "stop", () => this.#actions.stop());
  readonly #hint = h("p", { class: "hint" });
  readonly #speech = h("p", { class: "speech", role: "status" });
  #activity: Activity = "idle";
  #isOnline = true;

  constructor(actions: ComposerActions) {
    this.#actions = actions;
    this.#tray = new Tray(actions.upload, (isRemoval) => {
      this.#update();
      // The focus would vanish with the button.
      if (isRemoval) this.#area.focus();
    });
    // First: what is chosen in it is not sent.
    const menu = new CommandMenu({ area: this.#area, load: () => actions.commands() });
    this.element = h(
      "div",
      { class: "composer" },
      h("div", { class: "column" }, this.#speech, menu.element, this.#box(), this.#hint),
    );
    this.#area.addEventListener("input", () => this.#update());
    onKey(this.#area, "ArrowUp", () => this.#isEmpty && actions.editLast());
    onKey(this.#area, "Enter", (event) => this.#onEnter(event));
    this.#update();
  }

  get draft(): MessageDraft {
    return { text: this.#area.value, files: this.#tray.files };
  }

  set draft({ text, files }: MessageDraft) {
    this.#area.value = text;
    this.#tray.files = files;
    this.#update();
  }

  /** What an earlier page has left. */
  restore(text: string, files: readonly OutgoingFile[]): void {
    this.#area.value = text;
    this.#tray.files = [];
    this.#tray.restore(files);
  }

  /** The connection is back. */
  resume(): void {
    this.#tray.resume();
  }

  showActivity(activity: Activity): void {
    if (activity === "idle") saveFocus([this.#stop, this.#add, this.#instead], this.#area);
    this.#activity = activity;
    this.#update();
  }

  showConnection(isOnline: boolean): void {
    if (!isOnline) saveFocus([this.#stop], this.#area);
    this.#isOnline = isOnline;
    this.#update();
  }

  focus(): void {
    focusToWrite(this.#area);
  }

  get #isEmpty(): boolean {
    return this.#area.value === "" && this.#tray.files.length === 0;
  }

  #box(): HTMLElement {
    const addFiles = (files: Iterable<File>): void => this.#tray.add(files);
    const addAndWrite = (files: Iterable<File>): void => {
      addFiles(files);
      this.#area.focus();
    };
    const { button, input } = createFileChooser(addAndWrite);
    const speak = createSpeakButton({
      onRecorded: (recording) => this.#writeDown(recording),
      tell: (text) => setText(this.#speech, text),
    });
    const written = [this.#tray.element, input, button, this.#area];
    const buttons = [speak, this.#stop, this.#instead, this.#add, this.#send];
    const box = h("form", { class: "composer-box" }, ...written, ...buttons);
    box.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(undefined);
    });
    takePastedFiles(this.#area, addFiles);
    takeDroppedFiles(box, addAndWrite);
    return box;
  }

  #update(): void {
    const area = this.#area;
    const { outgoing } = this.#tray;
    const isEmpty = area.value.trim() === "" && outgoing.length === 0;
    const isWorking = this.#activity === "working";
    this.#send.disabled = isEmpty;
    // Nobody would hear it.
    this.#stop.hidden = this.#activity === "idle" || !this.#isOnline;
    this.#add.hidden = !isWorking || isEmpty;
    this.#instead.hidden = !isWorking || isEmpty;
    setText(this.#hint, chatWords.t(hints[this.#activity]));
    this.#actions.onChange(area.value, outgoing);
    const label = chatWords.t(isWorking ? "sendNext" : "send");
    this.#send.setAttribute("aria-label", label);
    this.#send.title = label;
    if (CSS.supports("field-sizing", "content")) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }

  #submit(mode: SendMode): void {
    const text = this.#area.value.trim();
    if (text === "" && this.#tray.outgoing.length === 0) return;
    const files = this.#tray.take();
    this.#area.value = "";
    // A command is nothing that could be answered instead of the running answer.
    this.#actions.send({ text, mode: text.startsWith("/") ? undefined : mode, files });
    this.#update();
  }

  async #writeDown(recording: File): Promise<void> {
    setText(this.#speech, chatWords.t("writingDown"));
    try {
      const words = await this.#actions.writeDown(recording);
      setText(this.#speech, words === "" ? chatWords.t("nothingSaid") : "");
      this.#insert(words);
    } catch (error) {
      const reason = sentenceOf(error);
      setText(this.#speech, chatWords.t("notWrittenDown", { reason }));
      this.#tray.add([recording]);
    }
  }

  /** Where the cursor is, apart from what is before it. */
  #insert(words: string): void {
    const area = this.#area;
    const { selectionStart: start, selectionEnd: end, value } = area;
    const gap = words === "" || start === 0 || /\s$/.test(value.slice(0, start)) ? "" : " ";
    area.setRangeText(gap + words, start, end, "end");
    this.#update();
    this.focus();
  }

  #submitAndWrite(mode: SendMode): void {
    this.#submit(mode);
    this.#area.focus();
  }

  #onEnter({ shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
    if (shiftKey) return false;
    if (altKey) this.#newLine();
    else this.#submit((ctrlKey || metaKey) && this.#activity === "working" ? "append" : undefined);
    return true;
  }

  #newLine(): void {
    const area = this.#area;
    area.setRangeText("\n", area.selectionStart, area.selectionEnd, "end");
    this.#update();
  }
}

function roundButton(name: IconName, word: "add" | "instead" | "stop", onclick: () => void): HTMLButtonElement {
  const label = chatWords.t(word);
  return h(
    "button",
    { type: "button", class: `round ${word}`, "aria-label": label, title: label, onclick },
    icon(name),
  );
}
