import type { PaneWorld } from "../panes/world.js";
import { h } from "../parts/dom.js";
import { frameWords } from "./words.js";

const name = "maxclaw.setup";

/** The steps of the first run, in place of the welcome: while no model answers, until the reader is done or wants to wait. */
export class FirstRun {
  readonly #element: HTMLElement;
  readonly #world: () => PaneWorld;
  readonly #later = h("button", { type: "button", class: "link", onclick: () => this.#world().openPane("models") });
  #close: Promise<() => void> | undefined;
  #needsModel = false;

  constructor(element: HTMLElement, world: () => PaneWorld) {
    this.#element = element;
    this.#world = world;
    this.#later.append(frameWords.t("chooseModel"));
  }

  /** The steps are on the page, or on their way there. */
  get isShown(): boolean {
    return this.#close !== undefined;
  }

  /** Once begun, the steps stay until their end: the last of them comes when a model answers already. */
  show(needsModel: boolean): void {
    this.#needsModel = needsModel;
    if (this.#close !== undefined) return;
    if (localStorage.getItem(name) === "later") this.#showLater();
    else if (needsModel) this.#begin();
  }

  /** Resolves once what is begun is in sight, or could not come. */
  async drawn(): Promise<void> {
    await this.#close?.catch(() => undefined);
  }

  #begin(): void {
    this.#close = this.#open();
    this.#close.catch((error: unknown) => {
      this.#close = undefined;
      this.#world().failed(error);
    });
  }

  async #open(): Promise<() => void> {
    const { showFirstSteps } = await import("../panes/setup/first-steps.js");
    const close = await showFirstSteps(this.#element, { world: this.#world(), onEnd: () => void this.#end() });
    this.#element.hidden = false;
    return close;
  }

  async #end(): Promise<void> {
    localStorage.setItem(name, "later");
    (await this.#close)?.();
    this.#close = undefined;
    this.#showLater();
    // What the steps had said instead of it is said again.
    this.#world().refreshStatus();
  }

  /** Who wanted to wait finds the way back here. */
  #showLater(): void {
    if (this.#needsModel) this.#element.replaceChildren(this.#later);
    else this.#later.remove();
    this.#element.hidden = !this.#needsModel;
  }
}
