import { render } from "preact";
import { frameWords } from "../frame/words.js";
import type { PaneEntry } from "./list.js";
import { Loading } from "./parts/loading.js";
import type { PaneWorld } from "./world.js";

/** Shows one pane at a time in `element`. */
export class PaneHost {
  readonly element: HTMLElement;
  readonly #world: PaneWorld;
  /** Of two panes asked for in a row, the one that is asked for last is shown. */
  #wanted = 0;

  constructor(element: HTMLElement, world: PaneWorld) {
    this.element = element;
    this.#world = world;
  }

  /** @throws {Error} the code of the pane that is still wanted did not come */
  async show(entry: PaneEntry | undefined, argument: string): Promise<void> {
    this.#wanted += 1;
    const mine = this.#wanted;
    if (entry === undefined) return render(<p class="muted">{frameWords.t("unknownPane")}</p>, this.element);
    const slow = setTimeout(() => {
      if (mine === this.#wanted) render(<Loading />, this.element);
    }, 150);
    try {
      const Pane = await entry.load();
      if (mine !== this.#wanted) return;
      render(
        <div class="pane-page" key={entry.id}>
          <p class="pane-about">{entry.about()}</p>
          <Pane world={this.#world} argument={argument} />
        </div>,
        this.element,
      );
    } catch (error) {
      if (mine !== this.#wanted) return;
      render(null, this.element);
      throw error;
    } finally {
      clearTimeout(slow);
    }
  }

  clear(): void {
    this.#wanted += 1;
    render(null, this.element);
  }
}
