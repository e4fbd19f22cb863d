import { h, icon } from "../parts/dom.js";
import { chatWords } from "./words.js";

const nearTopPx = 400;

/** Where the reader is in the conversation: at its end, and staying there as it grows, or somewhere above. */
export class ReadingPosition {
  readonly scroller: HTMLElement;
  readonly jump = h("button", { type: "button", class: "jump", "aria-label": chatWords.t("toNewest") }, icon("down"));
  #isAtEnd = true;
  #lastTop = 0;

  /** `onNearTop` is called again and again while the reader is near the top. */
  constructor(column: HTMLElement, onNearTop: () => void) {
    this.scroller = h(
      "div",
      { class: "scroller", role: "log", "aria-label": chatWords.t("conversation"), "aria-live": "off", tabindex: "0" },
      column,
    );
    this.scroller.addEventListener(
      "scroll",
      () => {
        this.#onScroll();
        if (this.scroller.scrollTop < nearTopPx) onNearTop();
      },
      { passive: true },
    );
    // A narrower window or the phone's keyboard must not hide the newest line from who reads it.
    new ResizeObserver(() => {
      if (this.#isAtEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
    }).observe(this.scroller);
    // Who opens a fold wants to read it: what comes below it must not push it away. The event does not bubble.
    column.addEventListener("toggle", () => this.#setAtEnd(this.#isAtEnd && this.#distance() < 30), { capture: true });
  }

  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  stick(): void {
    this.#setAtEnd(true);
  }

  /** The reader goes to a place above the end. */
  leave(): void {
    this.#setAtEnd(false);
  }

  /** Changes what is in the conversation, and leaves the reader where they are. `grewAbove`: it grows at its top. */
  around(change: () => void, grewAbove: boolean): void {
    const { scroller } = this;
    const fromBottom = scroller.scrollHeight - scroller.scrollTop;
    change();
    if (this.#isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    else if (grewAbove) scroller.scrollTop = scroller.scrollHeight - fromBottom;
    this.#lastTop = scroller.scrollTop;
  }

  #onScroll(): void {
    const { scrollTop } = this.scroller;
    const isUpwards = scrollTop < this.#lastTop;
    this.#lastTop = scrollTop;
    const distance = this.#distance();
    this.#setAtEnd(distance < 2 || (!isUpwards && (this.#isAtEnd || distance < 30)));
  }

  #setAtEnd(isAtEnd: boolean): void {
    this.#isAtEnd = isAtEnd;
    this.jump.classList.toggle("shown", !isAtEnd);
  }

  #distance(): number {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }
}
