import { h, icon, setText } from "../../parts/dom.js";
import { actionWords } from "../actions/words.js";
import { chatWords } from "../words.js";

interface PositionListeners {
  /** Called again and again while the reader is near the top of what is there. */
  onNearTop(): void;
  onNearBottom(): void;
  /** There is more below than is in the page. */
  hasBelow(): boolean;
  onEnd(isAtEnd: boolean): void;
}

/** Where the reader is in the conversation: at its end, and staying there as it grows, or somewhere above. */
export class ReadingPosition {
  readonly scroller: HTMLElement;
  readonly #count = h("span", { class: "jump-count" });
  readonly jump = h("button", { type: "button", class: "jump" }, this.#count, icon("down"));
  readonly #list: Element;
  readonly #listeners: PositionListeners;
  #isAtEnd = true;
  #lastTop = 0;
  /** What the reader has at the top of the screen, and how far it is from there; more than one, as some may go. */
  #anchors: readonly { readonly element: Element; readonly top: number }[] = [];

  /** `list`: the elements of the conversation, which is in the column. */
  constructor(column: HTMLElement, list: Element, listeners: PositionListeners) {
    this.#list = list;
    this.#listeners = listeners;
    this.scroller = h(
      "div",
      { class: "scroller", role: "log", "aria-label": chatWords.t("conversation"), "aria-live": "off", tabindex: "0" },
      column,
    );
    this.scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    // A narrower window, the phone's keyboard or a picture that comes in must not move what is being read.
    const sizes = new ResizeObserver(() => this.#keep());
    sizes.observe(this.scroller);
    sizes.observe(column);
    // Who opens a fold wants to read it: what comes below it must not push it away. The event does not bubble.
    column.addEventListener("toggle", () => this.#setAtEnd(this.#isAtEnd && this.#distance() < 30), { capture: true });
    this.showNew(0);
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

  get isNearTop(): boolean {
    return !this.#isAtEnd && this.scroller.scrollTop < this.#nearPx;
  }

  /** What is near has come: there may be room for more. */
  look(): void {
    if (this.isNearTop) this.#listeners.onNearTop();
    if (this.#distance() < this.#nearPx) this.#listeners.onNearBottom();
  }

  /** So many messages are new below. */
  showNew(count: number): void {
    const text = count === 0 ? "" : actionWords.count(count, "newOne", "new");
    setText(this.#count, text);
    this.#count.hidden = count === 0;
    this.jump.setAttribute("aria-label", count === 0 ? chatWords.t("toNewest") : actionWords.t("newest", { text }));
  }

  /** Changes what is in the conversation, and leaves the reader where they are. */
  around(change: () => void): void {
    if (!this.#isAtEnd) this.#remember();
    change();
    this.#keep();
    this.#lastTop = this.scroller.scrollTop;
  }

  #onScroll(): void {
    const { scrollTop } = this.scroller;
    const isUpwards = scrollTop < this.#lastTop;
    this.#lastTop = scrollTop;
    const distance = this.#distance();
    const isEnd = distance < 2 || (!isUpwards && (this.#isAtEnd || distance < 30));
    this.#setAtEnd(isEnd && !this.#listeners.hasBelow());
    if (!this.#isAtEnd) this.#remember();
    this.look();
  }

  #keep(): void {
    const { scroller } = this;
    if (this.#isAtEnd) {
      scroller.scrollTop = scroller.scrollHeight;
      return;
    }
    const anchor = this.#anchors.find(({ element }) => element.isConnected);
    if (anchor === undefined) return;
    const moved = this.#topOf(anchor.element) - anchor.top;
    if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
  }

  #remember(): void {
    const { children } = this.#list;
    let [low, high] = [0, children.length - 1];
    // The first that ends below the upper edge.
    while (low < high) {
      const middle = (low + high) >> 1;
      const element = children[middle];
      if (element !== undefined && this.#topOf(element) + element.getBoundingClientRect().height <= 0) low = middle + 1;
      else high = middle;
    }
    const seen = [...children].slice(low, low + 4).filter((element) => element.getAttribute("role") !== "separator");
    this.#anchors = seen.map((element) => ({ element, top: this.#topOf(element) }));
  }

  #topOf(element: Element): number {
    return element.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
  }

  #setAtEnd(isAtEnd: boolean): void {
    const hasChanged = isAtEnd !== this.#isAtEnd;
    this.#isAtEnd = isAtEnd;
    this.jump.classList.toggle("shown", !isAtEnd);
    if (hasChanged) this.#listeners.onEnd(isAtEnd);
  }

  get #nearPx(): number {
    return Math.max(400, this.scroller.clientHeight);
  }

  #distance(): number {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }
}
