import { ask, closeDialogs } from "../parts/dialogs.js";
import { frameWords } from "./words.js";

/** What is typed on a page and not saved. The reader is asked before it goes. */
export class UnsavedText {
  readonly #held = new Set<symbol>();

  constructor() {
    // The browser's own question, where the whole page goes.
    window.addEventListener("beforeunload", (event) => {
      if (this.isHeld) event.preventDefault();
    });
  }

  get isHeld(): boolean {
    return this.#held.size > 0;
  }

  /** The result lets it go. */
  hold(): () => void {
    const one = Symbol("text");
    this.#held.add(one);
    return () => void this.#held.delete(one);
  }

  /** Calls `leave` at once where nothing would be lost, else when the reader says so. */
  before(leave: () => void): void {
    if (!this.isHeld) {
      leave();
      return;
    }
    closeDialogs();
    const question = {
      title: frameWords.t("leaveTitle"),
      text: frameWords.t("leaveText"),
      action: frameWords.t("leave"),
    };
    void ask({ ...question, isDangerous: true }).then((answer) => {
      if (answer === undefined) return;
      this.#held.clear();
      leave();
    });
  }
}
