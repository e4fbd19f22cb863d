import { inTime } from "../../parts/in-time.js";
import { Lazy } from "./lazy.js";
import type { PictureOf } from "./own-picture.js";
import type { MarkdownView } from "./view.js";

/** The libraries for it are a third of all code that a chat needs, and the frame of the page needs none of it. */
const drawing = new Lazy(() => import("./view.js"));

/** Before a chat is opened, so that none is drawn twice. */
export function loadDrawing(): Promise<void> {
  return inTime(drawing.get());
}

/** An answer as Markdown; as plain text as long as what draws it is not there. */
export class Answer {
  readonly #container: HTMLElement;
  readonly #pictureOf: PictureOf;
  #view: MarkdownView | undefined;
  #shown: readonly [text: string, isGrowing: boolean] | undefined;

  constructor(container: HTMLElement, pictureOf: PictureOf) {
    this.#container = container;
    this.#pictureOf = pictureOf;
  }

  show(text: string, isGrowing: boolean): void {
    if (this.#view === undefined && drawing.value !== undefined) {
      this.#container.replaceChildren();
      this.#view = new drawing.value.MarkdownView(this.#container, this.#pictureOf);
    }
    if (this.#view === undefined) this.#showPlain(text, isGrowing);
    else this.#view.show(text, isGrowing);
  }

  #showPlain(text: string, isGrowing: boolean): void {
    const isFirst = this.#shown === undefined;
    this.#shown = [text, isGrowing];
    this.#container.textContent = text;
    if (isFirst)
      drawing.get().then(
        () => this.#showAgain(),
        () => this.#giveUp(),
      );
  }

  #showAgain(): void {
    if (this.#shown !== undefined) this.show(...this.#shown);
  }

  /** The next text tries again. */
  #giveUp(): void {
    this.#shown = undefined;
  }
}
