import { ask, closeDialogs } from "../../parts/dialogs.js";
import { frameWords } from "../words.js";
import type { Place } from "./place.js";
import { followRoute, type Route } from "./route.js";

const nothing = (): void => undefined;

/** How the reader gets from place to place. What they typed and did not save holds them back with a question. */
export class Way {
  readonly #show: (place: Place, isFirst: boolean) => void;
  readonly #route: Route;
  readonly #unsaved = new Set<symbol>();
  #shown: Place | undefined;

  /** `show` gets each place, and whether it is the first one. */
  constructor(show: (place: Place, isFirst: boolean) => void) {
    this.#show = show;
    this.#route = followRoute((place) => this.#onAddress(place));
    // The browser's own question, where the whole page goes.
    window.addEventListener("beforeunload", (event) => {
      if (this.#unsaved.size > 0) event.preventDefault();
    });
  }

  get place(): Place | undefined {
    return this.#route.place;
  }

  /** Shows a place; the address follows. `then` is called once it is shown, which is at once where nothing is unsaved. */
  go(place: Place, then: () => void = nothing): void {
    if (this.#unsaved.size === 0) {
      // At once: what is typed before a hashchange is told would go to the chat of before.
      this.#route.go(place);
      this.#showNow(place);
      then();
      return;
    }
    closeDialogs();
    this.letGo(() => {
      this.#unsaved.clear();
      this.go(place, then);
    });
  }

  /** Calls `then` once nothing is unsaved, or the reader says that it may go. */
  letGo(then: () => void): void {
    if (this.#unsaved.size === 0) {
      then();
      return;
    }
    const { t } = frameWords;
    const question = { title: t("leaveTitle"), text: t("leaveText"), action: t("leave"), isDangerous: true };
    void ask(question).then((answer) => {
      if (answer !== undefined) then();
    });
  }

  /** The first place. */
  settle(place: Place): void {
    this.#route.settle(place);
    this.#showNow(place, true);
  }

  /** Nobody is here any more. */
  clear(): void {
    this.#unsaved.clear();
    this.#route.clear();
  }

  /** For text that is not saved. The result lets it go. */
  hold(): () => void {
    const one = Symbol("text");
    this.#unsaved.add(one);
    return () => void this.#unsaved.delete(one);
  }

  /** The back button, a link or the reader's typing has led to `place`. */
  #onAddress(place: Place): void {
    if (this.#unsaved.size === 0) {
      this.#showNow(place);
      return;
    }
    // Back to where the text is, until the reader says that it may go.
    if (this.#shown !== undefined) this.#route.go(this.#shown);
    this.go(place);
  }

  #showNow(place: Place, isFirst = false): void {
    closeDialogs();
    this.#shown = place;
    this.#show(place, isFirst);
  }
}
