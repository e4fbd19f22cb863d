import { h, icon } from "./dom.js";

interface ComposerActions {
  send(text: string): void;
  stop(): void;
}

export interface Composer {
  readonly element: HTMLElement;
  /** What is written but not sent. */
  draft: string;
  showWorking(isWorking: boolean): void;
  focus(): void;
}

export function createComposer(actions: ComposerActions): Composer {
  const area = h("textarea", {
    id: "message",
    rows: "1",
    placeholder: "Write a message",
    "aria-label": "Message",
    enterkeyhint: "send",
  });
  const send = h("button", { type: "submit", class: "round primary", "aria-label": "Send" }, icon("send"));
  const stop = h(
    "button",
    { type: "button", class: "round stop", "aria-label": "Stop", onclick: actions.stop },
    icon("stop"),
  );
  const box = h("form", { class: "composer-box" }, area, stop, send);
  const hint = h("p", { class: "hint" }, "Enter sends, Shift + Enter starts a new line");
  const element = h("div", { class: "composer" }, h("div", { class: "column" }, box, hint));
  stop.hidden = true;

  function update(): void {
    send.disabled = area.value.trim() === "";
    if (CSS.supports("field-sizing", "content")) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }

  function submit(): void {
    const text = area.value.trim();
    if (text === "") return;
    area.value = "";
    update();
    actions.send(text);
  }

  box.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  area.addEventListener("input", update);
  area.addEventListener("keydown", (event) => {
    // While an input method composes a character, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
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
    showWorking(isWorking) {
      // A focus that vanishes with its button would be lost to who works by keyboard.
      if (!isWorking && document.activeElement === stop) area.focus();
      stop.hidden = !isWorking;
    },
    focus() {
      // On a phone the focus would bring up the keyboard unasked.
      if (matchMedia("(pointer: fine)").matches) area.focus();
    },
  };
}
