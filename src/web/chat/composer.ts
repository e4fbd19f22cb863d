import type { UploadedFile } from "../../client/upload.js";
import { type ChosenFile, createTray, type UploadFile } from "../files/tray.js";
import { h, icon, setText } from "../parts/dom.js";
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

export interface Composer {
  readonly element: HTMLElement;
  draft: MessageDraft;
  showActivity(activity: Activity): void;
  focus(): void;
}

const hints: Readonly<Record<Activity, string>> = {
  idle: "Enter sends, Shift + Enter starts a new line",
  working: "Enter stops and answers this instead, Shift + Enter adds to the answer, Alt + Enter starts a new line",
  asking: "Enter answers or adds, Shift + Enter starts a new line",
};

export function createComposer(actions: ComposerActions): Composer {
  const area = h("textarea", {
    id: "message",
    rows: "1",
    placeholder: "Write a message",
    "aria-label": "Message",
    enterkeyhint: "send",
  });
  const send = h("button", { type: "submit", class: "round primary", "aria-label": "Send" }, icon("send"));
  const add = h(
    "button",
    {
      type: "button",
      class: "round add",
      "aria-label": "Add to the answer",
      title: "Add to the answer",
      onclick: onAdd,
    },
    icon("plus"),
  );
  const stop = h(
    "button",
    { type: "button", class: "round stop", "aria-label": "Stop", onclick: actions.stop },
    icon("stop"),
  );
  const chooser = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", "aria-label": "Files" });
  const attach = h(
    "button",
    {
      type: "button",
      class: "round attach",
      "aria-label": "Attach files",
      title: "Attach files",
      onclick: () => chooser.click(),
    },
    icon("attach"),
  );
  const tray = createTray(actions.upload, (isRemoval) => {
    update();
    // The focus would vanish with the button.
    if (isRemoval) area.focus();
  });
  const box = h("form", { class: "composer-box" }, tray.element, chooser, attach, area, stop, add, send);
  const hint = h("p", { class: "hint" });
  const element = h("div", { class: "composer" }, h("div", { class: "column" }, box, hint));
  let activity: Activity = "idle";

  function update(): void {
    const isEmpty = area.value.trim() === "" && tray.uploaded.length === 0;
    send.disabled = isEmpty || tray.isBusy;
    add.disabled = tray.isBusy;
    stop.hidden = activity === "idle";
    add.hidden = activity !== "working" || isEmpty;
    setText(hint, hints[activity]);
    const label = activity === "working" ? "Answer this instead" : "Send";
    send.setAttribute("aria-label", label);
    send.title = label;
    if (CSS.supports("field-sizing", "content")) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }

  function submit(mode: SendMode): void {
    const text = area.value.trim();
    if (tray.isBusy || (text === "" && tray.uploaded.length === 0)) return;
    const files = tray.take();
    area.value = "";
    update();
    // A command is nothing that could be answered in place of the running answer.
    actions.send(text, text.startsWith("/") ? undefined : mode, files);
  }

  function onAdd(): void {
    submit("append");
    area.focus();
  }

  function newLine(): void {
    area.setRangeText("\n", area.selectionStart, area.selectionEnd, "end");
    update();
  }

  box.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(activity === "working" ? "cancel" : undefined);
  });
  chooser.addEventListener("change", () => {
    tray.add(chooser.files ?? []);
    // Else the same file could not be chosen again.
    chooser.value = "";
    area.focus();
  });
  area.addEventListener("paste", (event) => {
    const pasted = event.clipboardData;
    // Word processors put a picture of the text beside the text.
    if (pasted === null || pasted.files.length === 0 || pasted.types.includes("text/plain")) return;
    event.preventDefault();
    tray.add(pasted.files);
  });
  // Anywhere on the page: beside the field the browser would leave the page for the file.
  window.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    box.classList.add("dropping");
  });
  window.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) box.classList.remove("dropping");
  });
  window.addEventListener("drop", (event) => {
    box.classList.remove("dropping");
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    tray.add(event.dataTransfer.files);
    area.focus();
  });
  area.addEventListener("input", update);
  area.addEventListener("keydown", (event) => {
    // While an input method composes a character, Enter belongs to it.
    if (event.key !== "Enter" || event.isComposing) return;
    if (event.shiftKey && activity !== "working") return;
    event.preventDefault();
    if (event.altKey) newLine();
    else if (activity !== "working") submit(undefined);
    else submit(event.shiftKey ? "append" : "cancel");
  });
  update();

  return {
    element,
    get draft() {
      return { text: area.value, files: tray.files };
    },
    set draft({ text, files }) {
      area.value = text;
      tray.files = files;
      update();
    },
    showActivity(next) {
      // A focus that vanishes with its button would be lost to who works by keyboard.
      const { activeElement } = document;
      if (next === "idle" && (activeElement === stop || activeElement === add)) area.focus();
      activity = next;
      update();
    },
    focus() {
      // On a phone the focus would bring up the keyboard unasked.
      if (matchMedia("(pointer: fine)").matches) area.focus();
    },
  };
}
