import { markdownWords } from "../chat/markdown/words.js";
import { h } from "../parts/dom.js";

const folder = "diagrams";
const mostMs = 10_000;

interface Drawn {
  readonly svg: string;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

interface Answer {
  readonly id?: unknown;
  readonly svg?: unknown;
  readonly width?: unknown;
  readonly height?: unknown;
  readonly problem?: unknown;
}

/** Shows diagrams as pictures, in the colours of the page, above their source. */
export class Diagrams {
  readonly #dark = matchMedia("(prefers-color-scheme: dark)");
  #frame: DrawingFrame | undefined;

  constructor() {
    this.#dark.addEventListener("change", () => {
      // What cannot be drawn again stays as it was.
      for (const frame of document.querySelectorAll(".code:has(.diagram)")) this.show(frame).catch(() => undefined);
    });
  }

  /** `frame` has the source in a `pre`. What cannot be drawn stays as it is, and says so. */
  async show(frame: Element): Promise<void> {
    const pre = frame.querySelector("pre");
    const source = pre?.textContent ?? "";
    const drawn = await this.#draw(source);
    if (pre === null || pre.textContent !== source || !frame.contains(pre)) return;
    const old = frame.querySelector(".diagram, .diagram-note");
    if (drawn === undefined) {
      if (old === null) pre.before(h("p", { class: "diagram-note" }, markdownWords.t("notDrawn")));
      return;
    }
    const picture = await pictureOf(drawn);
    if (old !== null) return old.replaceChildren(picture);
    const place = h("div", { class: "diagram" }, picture);
    const fold = h("details", { class: "diagram-source" }, h("summary", {}, markdownWords.t("diagramSource")));
    pre.replaceWith(place, fold);
    fold.append(pre);
    const isSmall = picture.clientWidth < picture.naturalWidth || picture.clientHeight < picture.naturalHeight;
    if (isSmall) frame.querySelector(".copy")?.before(sizeButton(place));
  }

  async #draw(source: string): Promise<Drawn | undefined> {
    if (this.#frame?.isAlive !== true) this.#frame = new DrawingFrame();
    return await this.#frame.draw(source, this.#dark.matches);
  }
}

/** The whole of it is seen at first, so that nobody scrolls in it who wants past it. */
function sizeButton(place: HTMLElement): HTMLElement {
  const { t } = markdownWords;
  const button = h("button", { type: "button", class: "diagram-size", "aria-pressed": "false" }, t("fullSize"));
  button.addEventListener("click", () => {
    const isLarge = place.classList.toggle("is-large");
    button.setAttribute("aria-pressed", String(isLarge));
    if (isLarge) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
  });
  return button;
}

/** As a picture it can neither run nor load anything. */
async function pictureOf({ svg, width, height }: Drawn): Promise<HTMLImageElement> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const picture = h("img", { alt: markdownWords.t("diagram") });
  picture.width = Math.ceil(width);
  picture.height = Math.ceil(height);
  picture.src = url;
  try {
    await picture.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
  return picture;
}

/** The frame with the library. It has no origin, and can do nothing but answer. */
class DrawingFrame {
  readonly #element = h("iframe", { class: "diagram-frame", "aria-hidden": "true", tabindex: "-1" });
  readonly #waiting = new Map<unknown, (answer: Answer) => void>();
  readonly #take = ({ data, source }: MessageEvent<unknown>): void => {
    const answer: Answer = Object(data);
    if (source === this.#element.contentWindow) this.#waiting.get(answer.id)?.(answer);
  };
  readonly #ready = this.#prepare();
  #count = 0;

  /** Undefined where it cannot be drawn, or takes too long: then the frame is gone. Rejects where the library cannot be loaded. */
  async draw(source: string, isDark: boolean): Promise<Drawn | undefined> {
    await this.#ready;
    this.#count += 1;
    const id = this.#count;
    const answered = new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      setTimeout(() => resolve({}), mostMs);
    });
    this.#post({ id, source, isDark });
    const { svg, width, height, problem } = await answered;
    this.#waiting.delete(id);
    if (typeof svg === "string" && typeof width === "number" && typeof height === "number")
      return { svg, width, height };
    console.info(`A diagram is shown as its source: ${String(problem ?? "it took too long")}`);
    if (problem === undefined) this.#leave();
    return undefined;
  }

  get isAlive(): boolean {
    return this.#element.isConnected;
  }

  async #prepare(): Promise<void> {
    const loaded = new Promise((resolve) => this.#element.addEventListener("load", resolve, { once: true }));
    this.#element.setAttribute("sandbox", "allow-scripts");
    this.#element.src = `${folder}/frame.html`;
    addEventListener("message", this.#take);
    document.body.append(this.#element);
    try {
      const answer = await fetch(`${folder}/mermaid.js`);
      if (!answer.ok) throw new Error(`The gateway answered ${answer.status}`);
      const library = await answer.text();
      await loaded;
      this.#post({ library });
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  #post(message: object): void {
    this.#element.contentWindow?.postMessage(message, "*");
  }

  #leave(): void {
    removeEventListener("message", this.#take);
    this.#element.remove();
  }
}
