import { sentenceOf } from "../../failures/said.js";
import { h, icon } from "../../parts/dom.js";
import { onKey } from "../../parts/keyboard.js";
import { chatWords } from "../words.js";
import type { Recording } from "./recording.js";

interface SpeakActions {
  onRecorded(recording: File): Promise<void>;
  /** What the reader should know now; empty when there is nothing. */
  tell(text: string): void;
}

/** A press that is shorter begins, and the next one ends; a longer one ends when it is let go. */
const holdMs = 500;
/** Services take no longer recordings. */
const longestMs = 10 * 60_000;

/** Records what the reader says. Undefined where the browser cannot: without TLS it gives no microphone. */
export function createSpeakButton(actions: SpeakActions): HTMLButtonElement | undefined {
  if (navigator.mediaDevices === undefined || !("MediaRecorder" in window)) return undefined;
  return new SpeakButton(actions).element;
}

class SpeakButton {
  readonly element: HTMLButtonElement;
  readonly #actions: SpeakActions;
  #recording: Promise<Recording | undefined> | undefined;
  #pressedAt = 0;

  constructor(actions: SpeakActions) {
    this.#actions = actions;
    const label = chatWords.t("speak");
    this.element = h(
      "button",
      { type: "button", class: "round speak", "aria-label": label, "aria-pressed": "false", title: label },
      icon("microphone"),
    );
    this.element.addEventListener("pointerdown", (event) => this.#press(event));
    this.element.addEventListener("pointerup", () => this.#letGo());
    // By the keyboard, and by what reads the page aloud: those send no pointer.
    this.element.addEventListener("click", ({ detail }) => {
      if (detail === 0) this.#toggle();
    });
    onKey(document.body, "Escape", () => {
      if (this.#recording === undefined) return false;
      void this.#end(false);
      return true;
    });
  }

  #press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.#pressedAt = event.timeStamp;
    this.#toggle();
  }

  #letGo(): void {
    if (this.#recording !== undefined && performance.now() - this.#pressedAt > holdMs) void this.#end(true);
  }

  #toggle(): void {
    if (this.#recording === undefined) this.#begin();
    else void this.#end(true);
  }

  #begin(): void {
    const { tell } = this.#actions;
    const onSecond = (seconds: number): void => {
      if (seconds * 1000 >= longestMs) void this.#end(true);
      else tell(chatWords.t("speaking", { time: `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}` }));
    };
    const recording = import("./recording.js").then(({ record }) => record(onSecond));
    this.element.setAttribute("aria-pressed", "true");
    this.#recording = recording.catch((error: unknown) => {
      this.#rest();
      tell(chatWords.t("noMicrophone", { reason: sentenceOf(error) }));
      return undefined;
    });
  }

  async #end(isWanted: boolean): Promise<void> {
    const begun = this.#recording;
    this.#rest();
    const recording = await begun;
    if (recording === undefined) return;
    this.#actions.tell("");
    const file = await recording.end();
    if (isWanted && file.size > 0) await this.#actions.onRecorded(file);
  }

  #rest(): void {
    this.#recording = undefined;
    this.element.setAttribute("aria-pressed", "false");
  }
}
