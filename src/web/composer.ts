import { h, icon, setText } from "./dom.js";
import type { SendMode } from "./view-state.js";

interface ComposerActions {
  send(text: string, mode: SendMode): void;
  stop(): void;
}

/** What the assistant does while the reader writes. */
export type Activity = "idle" | "working" | "asking";

export interface Composer {
  readonly element: HTMLElement;
  /** What is written but not sent. */
  draft: string;
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
  const box = h("form", { class: "composer-box" }, area, stop, add, send);
  const hint = h("p", { class: "hint" });
  const element = h("div", { class: "composer" }, h("div", { class: "column" }, box, hint));
  let activity: Activity = "idle";

  function update(): void {
    const isEmpty = area.value.trim() === "";
    send.disabled = isEmpty;
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
    if (text === "") return;
    area.value = "";
    update();
    // A command is nothing that could be answered in place of the running answer.
    actions.send(text, text.startsWith("/") ? undefined : mode);
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
      return area.value;
    },
    set draft(text) {
      area.value = text;
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
