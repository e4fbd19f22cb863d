import { frameWords } from "../frame/words.js";
import { h, icon } from "../parts/dom.js";
import type { PaletteWorld } from "./palette-world.js";
import { TypedAhead } from "./typed-ahead.js";

/**
 * Opens the palette by Ctrl+K or Cmd+K and by a button, and the list of shortcuts by `?`. Their code is fetched then. While a
 * dialog is open there is neither.
 */
export class PaletteOpener {
  readonly element: HTMLButtonElement;
  readonly #world: PaletteWorld;
  readonly #onFailure: (error: unknown) => void;
  /** False while nobody is signed in. */
  isEnabled = true;
  #isComing = false;

  constructor(world: PaletteWorld, onFailure: (error: unknown) => void) {
    this.#world = world;
    this.#onFailure = onFailure;
    const label = frameWords.t("find");
    this.element = h(
      "button",
      {
        type: "button",
        class: "icon-button find",
        "aria-label": label,
        title: label,
        onclick: () => void this.#open(),
      },
      icon("search"),
    );
    document.addEventListener("keydown", (event) => {
      if (!event.isComposing && this.#press(event)) event.preventDefault();
    });
  }

  #press({ key, ctrlKey, metaKey, altKey, shiftKey, target }: KeyboardEvent): boolean {
    if (altKey || !this.isEnabled || document.querySelector("dialog[open]") !== null) return false;
    if (key.toLowerCase() === "k" && ctrlKey !== metaKey && !shiftKey) {
      void this.#open();
      return true;
    }
    const isWriting = target instanceof Element && target.closest("input, textarea, select") !== null;
    if (key !== "?" || ctrlKey || metaKey || isWriting) return false;
    import("./shortcuts.js").then(({ openShortcuts }) => openShortcuts(), this.#onFailure);
    return true;
  }

  async #open(): Promise<void> {
    if (this.#isComing) return;
    this.#isComing = true;
    const typed = new TypedAhead();
    try {
      const { Palette } = await import("./palette.js");
      const text = typed.take();
      if (document.querySelector("dialog[open]") === null) new Palette(this.#world).open(text);
    } catch (error) {
      typed.take();
      this.#onFailure(error);
    } finally {
      this.#isComing = false;
    }
  }
}
