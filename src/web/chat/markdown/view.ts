import type { Token } from "marked";
import { h } from "../../parts/dom.js";
import { cleanAnswer, cleanMath } from "./clean.js";
import { copyCode } from "./copy.js";
import { dress, dressReferences, followNote, languageOf } from "./dress.js";
import { Lazy } from "./lazy.js";
import { texOf } from "./math-source.js";
import { morph } from "./morph.js";
import { type PictureOf, showOwnPictures } from "./own-picture.js";
import { blocksOf, htmlOf } from "./source.js";

interface Block {
  raw: string;
  readonly element: HTMLElement;
  /** Its text grows no more, and its code has got its colours. */
  isComplete: boolean;
}

const maths = new Lazy(() => import("./maths.js"));
const diagrams = new Lazy(async () => new (await import("../../diagrams/diagrams.js")).Diagrams());
const colours = new Lazy(async () => (await import("./colours.js")).CodeColours.load());

/**
 * Shows Markdown in an element. Of a text that grows only the last block is drawn again, and of that only the nodes that differ: what the reader
 * has selected, scrolled or opened stays so.
 */
export class MarkdownView {
  readonly #container: HTMLElement;
  readonly #pictureOf: PictureOf;
  /** Where the reader was when they went to a footnote, by its label. */
  readonly #cameFrom = new Map<string, Element>();
  #blocks: readonly Block[] = [];
  #text = "";
  #isGrowing = false;

  constructor(container: HTMLElement, pictureOf: PictureOf) {
    this.#container = container;
    this.#pictureOf = pictureOf;
    container.addEventListener("click", ({ target }) => {
      const button = target instanceof Element ? target.closest("button") : null;
      if (button === null) return;
      if (button.classList.contains("copy")) copyCode(button);
      else if (button.closest(".footnote-ref, .footnote-label") !== null) this.#followNote(button);
    });
  }

  show(text: string, isGrowing: boolean): void {
    if (text === this.#text && isGrowing === this.#isGrowing) return;
    this.#text = text;
    this.#isGrowing = isGrowing;
    const tokens = blocksOf(text);
    const blocks = tokens.map((token, index) => this.#blockFor(token, index));
    for (const { element } of this.#blocks.slice(blocks.length)) element.remove();
    this.#blocks = blocks;
    dressReferences(this.#container, labelsOf(this.#container));
    for (const [index, block] of blocks.entries())
      if (!block.isComplete && (!isGrowing || index < blocks.length - 1)) this.#complete(block);
  }

  #followNote(button: Element): void {
    const isReference = button.closest(".footnote-ref") !== null;
    const label = button.textContent ?? "";
    const from = isReference ? undefined : this.#cameFrom.get(label);
    if (isReference) this.#cameFrom.set(label, button);
    followNote(this.#container, button, from);
  }

  #complete(block: Block): void {
    block.isComplete = true;
    showOwnPictures(block.element, this.#pictureOf);
    for (const pre of block.element.querySelectorAll("pre")) {
      if (languageOf(pre) === "mermaid") void drawDiagram(pre);
      else if (languageOf(pre) !== "") void paint(pre);
    }
  }

  #blockFor(token: Token, index: number): Block {
    const old = this.#blocks[index];
    if (old?.raw === token.raw) return old;
    const fresh = render(token);
    if (old === undefined) {
      this.#container.append(fresh);
      if (fresh.querySelector(".math") !== null) void drawMaths(fresh);
      return { raw: token.raw, element: fresh, isComplete: false };
    }
    old.raw = token.raw;
    old.isComplete = false;
    morph(old.element, fresh);
    if (old.element.querySelector(".math") !== null) void drawMaths(old.element);
    return old;
  }
}

/** Of the footnotes that are there, also within a fold or a quote. */
function labelsOf(container: HTMLElement): ReadonlySet<string> {
  return new Set([...container.querySelectorAll(".footnote-label")].map((mark) => mark.textContent ?? ""));
}

function render(token: Token): HTMLElement {
  const block = h("div", { class: "block" });
  block.append(cleanAnswer(htmlOf(token)));
  dress(block);
  if (maths.value !== undefined) drawFormulas(block, maths.value.mathMlOf);
  return block;
}

/** Until they are there, and where they cannot be loaded, formulas are shown as they were written. */
async function drawMaths(block: HTMLElement): Promise<void> {
  try {
    drawFormulas(block, (await maths.get()).mathMlOf);
  } catch (error) {
    console.warn("Formulas are shown as text:", error);
  }
}

type MathMlOf = (tex: string, isDisplay: boolean) => string | undefined;

function drawFormulas(block: HTMLElement, mathMlOf: MathMlOf): void {
  for (const place of block.querySelectorAll(".math")) {
    if (place.firstElementChild !== null) continue;
    const mathMl = mathMlOf(texOf(place.textContent ?? ""), place.classList.contains("display"));
    if (mathMl === undefined) place.classList.add("unknown");
    else place.replaceChildren(cleanMath(mathMl));
  }
}

/** The same text in the same place: nothing moves. */
async function paint(pre: HTMLPreElement): Promise<void> {
  const code = pre.querySelector("code");
  if (code === null || code.firstElementChild !== null) return;
  const text = code.textContent ?? "";
  try {
    const painted = await (await colours.get()).paint(text, languageOf(pre));
    if (painted !== undefined && code.textContent === text) code.replaceChildren(painted);
  } catch (error) {
    console.warn("Code is shown without colours:", error);
  }
}

/** Its source stays below it, and alone where it cannot be drawn. */
async function drawDiagram(pre: HTMLPreElement): Promise<void> {
  const frame = pre.closest(".code");
  try {
    if (frame !== null) await (await diagrams.get()).show(frame);
  } catch (error) {
    console.warn("A diagram is shown as its source:", error);
  }
}
