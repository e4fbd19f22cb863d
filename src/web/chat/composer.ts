import type { UploadedFile } from "../../client/upload.js";
import { createFileChooser, takeDroppedFiles, takePastedFiles } from "../files/take-files.js";
import { type ChosenFile, Tray, type UploadFile } from "../files/tray.js";
import { h, icon, setText } from "../parts/dom.js";
import { focusToWrite, onKey, saveFocus } from "../parts/keyboard.js";
import type { SendMode } from "../session/view-state.js";

interface ComposerActions {
  send(text: string, mode: SendMode, files: readonly UploadedFile[]): void;
  stop(): void;
  readonly upload: UploadFile;
}

/** What is written but not sent. */
export interface MessageDraft {
  readonly text: string;
  readonly files: readonly ChosenFile[];
}

/** What the assistant does while the reader writes. */
export type Activity = "idle" | "working" | "asking";

const hints: Readonly<Record<Activity, string>> = {
  idle: "Enter sends, Shift + Enter starts a new line",
  working: "Enter stops and answers this instead, Shift + Enter adds to the answer, Alt + Enter starts a new line",
  asking: "Enter answers or adds, Shift + Enter starts a new line",
};

/** Where the reader writes. */
export class Composer {
  readonly element: HTMLElement;
  readonly #actions: ComposerActions;
  readonly #tray: Tray;
  readonly #area = h("textarea", {
    id: "message",
    rows: "1",
    placeholder: "Write a message",
    "aria-label": "Message",
    enterkeyhint: "send",
  });
  readonly #send = h("button", { type: "submit", class: "round primary", "aria-label": "Send" }, icon("send"));
  readonly #add: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #hint = h("p", { class: "hint" });
  #activity: Activity = "idle";

  constructor(actions: ComposerActions) {
    this.#actions = actions;
    this.#tray = new Tray(actions.upload, (isRemoval) => {
      this.#update();
      // The focus would vanish with the button.
      if (isRemoval) this.#area.focus();
    });
    const label = "Add to the answer";
    const onAdd = (): void => this.#onAdd();
    this.#add = h(
      "button",
      { type: "button", class: "round add", "aria-label": label, title: label, onclick: onAdd },
      icon("plus"),
    );
    this.#stop = h(
      "button",
      { type: "button", class: "round stop", "aria-label": "Stop", onclick: () => actions.stop() },
      icon("stop"),
    );
    this.element = h("div", { class: "composer" }, h("div", { class: "column" }, this.#box(), this.#hint));
    this.#area.addEventListener("input", () => this.#update());
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

  showActivity(activity: Activity): void {
    if (activity === "idle") saveFocus([this.#stop, this.#add], this.#area);
    this.#activity = activity;
    this.#update();
  }

  focus(): void {
    focusToWrite(this.#area);
  }

  #box(): HTMLElement {
    const addFiles = (files: Iterable<File>): void => this.#tray.add(files);
    const addAndWrite = (files: Iterable<File>): void => {
      addFiles(files);
      this.#area.focus();
    };
    const { button, input } = createFileChooser(addAndWrite);
    const parts = [this.#tray.element, input, button, this.#area, this.#stop, this.#add, this.#send];
    const box = h("form", { class: "composer-box" }, ...parts);
    box.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(this.#activity === "working" ? "cancel" : undefined);
    });
    takePastedFiles(this.#area, addFiles);
    takeDroppedFiles(box, addAndWrite);
    return box;
  }

  #update(): void {
    const area = this.#area;
    const isEmpty = area.value.trim() === "" && this.#tray.uploaded.length === 0;
    const isWorking = this.#activity === "working";
    this.#send.disabled = isEmpty || this.#tray.isBusy;
    this.#add.disabled = this.#tray.isBusy;
    this.#stop.hidden = this.#activity === "idle";
    this.#add.hidden = !isWorking || isEmpty;
    setText(this.#hint, hints[this.#activity]);
    const label = isWorking ? "Answer this instead" : "Send";
    this.#send.setAttribute("aria-label", label);
    this.#send.title = label;
    if (CSS.supports("field-sizing", "content")) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }

  #submit(mode: SendMode): void {
    const text = this.#area.value.trim();
    if (this.#tray.isBusy || (text === "" && this.#tray.uploaded.length === 0)) return;
    const files = this.#tray.take();
    this.#area.value = "";
    this.#update();
    // A command is nothing that could be answered in place of the running answer.
    this.#actions.send(text, text.startsWith("/") ? undefined : mode, files);
  }

  #onAdd(): void {
    this.#submit("append");
    this.#area.focus();
  }

  #onEnter({ shiftKey, altKey }: KeyboardEvent): boolean {
    const isWorking = this.#activity === "working";
    if (shiftKey && !isWorking) return false;
    if (altKey) this.#newLine();
    else if (!isWorking) this.#submit(undefined);
    else this.#submit(shiftKey ? "append" : "cancel");
    return true;
  }

  #newLine(): void {
    const area = this.#area;
    area.setRangeText("\n", area.selectionStart, area.selectionEnd, "end");
    this.#update();
  }
}
