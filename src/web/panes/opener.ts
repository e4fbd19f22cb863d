import { frameWords } from "../frame/words.js";
import { gatewayWords } from "../gateway/words.js";
import { h, setText } from "../parts/dom.js";
import type { PaneHost } from "./host.js";
import type { PaneEntry } from "./list.js";
import type { PaneWorld } from "./world.js";

interface PaneOpenerOptions {
  /** Where panes are shown. */
  readonly root: () => HTMLElement;
  readonly world: () => PaneWorld;
  /** The gateway is known not to answer. */
  readonly isAway: () => boolean;
}

/** Shows panes. What shows them is fetched with the first one. */
export class PaneOpener {
  readonly #options: PaneOpenerOptions;
  #host: Promise<PaneHost> | undefined;
  /** Of two panes asked for in a row, the one that is asked for last counts. */
  #wanted = 0;
  #problem: HTMLElement | undefined;
  /** What is wanted did not come while the gateway was away. */
  #isDue = false;

  constructor(options: PaneOpenerOptions) {
    this.#options = options;
  }

  async show(pane: PaneEntry | undefined, argument: string): Promise<void> {
    this.#forget();
    const mine = this.#wanted;
    try {
      this.#host ??= this.#load();
      await (await this.#host).show(pane, argument);
    } catch {
      if (mine === this.#wanted) this.#showProblem();
    }
  }

  clear(): void {
    this.#forget();
    this.#host?.then(
      (host) => host.clear(),
      () => undefined,
    );
  }

  /** The gateway is back: a pane that could not be fetched is. */
  resume(): void {
    if (this.#isDue) location.reload();
  }

  async #load(): Promise<PaneHost> {
    try {
      const { PaneHost: Host } = await import("./host.js");
      return new Host(this.#options.root(), this.#options.world());
    } catch (error) {
      this.#host = undefined;
      throw error;
    }
  }

  #forget(): void {
    this.#wanted += 1;
    this.#isDue = false;
    this.#problem?.remove();
    this.#problem = undefined;
  }

  /** A browser does not fetch code again that has failed once: only the page as a whole brings it. */
  #showProblem(): void {
    this.#isDue = this.#options.isAway();
    const text = h("span", {}, frameWords.t("noCode"));
    const again = h("button", { type: "button", class: "link" }, frameWords.t("tryAgain"));
    again.addEventListener("click", () => {
      again.disabled = true;
      reload().catch(() => {
        again.disabled = false;
        setText(text, gatewayWords.t("noAnswer"));
      });
    });
    this.#problem = h("div", { class: "note danger", role: "alert" }, text, again);
    this.#options.root().append(this.#problem);
  }
}

/** @throws {Error} nobody answers, and the browser would show nothing but that */
async function reload(): Promise<void> {
  const { ok, status } = await fetch("./", { method: "HEAD", cache: "no-store" });
  if (!ok) throw new Error(`The gateway answered ${status}.`);
  location.reload();
}
