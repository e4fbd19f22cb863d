import { render } from "preact";
import { frameWords } from "../frame/words.js";
import type { PaneEntry } from "./list.js";
import { FocusKeeper } from "./parts/focus-keeper.js";
import { Loading } from "./parts/loading.js";
import type { PaneWorld } from "./world.js";

/** Longer than this nobody waits for all of a pane. */
const mostSettlingMs = 600;

/** Shows one pane at a time in `element`. */
export class PaneHost {
  readonly element: HTMLElement;
  readonly #world: PaneWorld;
  /** Of two panes asked for in a row, the one that is asked for last is shown. */
  #wanted = 0;

  constructor(element: HTMLElement, world: PaneWorld) {
    this.element = element;
    this.#world = world;
    new FocusKeeper(element);
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
        <div class="pane-page" key={entry.id} data-pane={entry.id}>
          <p class="pane-about">{entry.about()}</p>
          <Pane world={this.#world} argument={argument} />
        </div>,
        this.element,
      );
      this.#settle();
    } catch (error) {
      if (mine !== this.#wanted) return;
      render(null, this.element);
      throw error;
    } finally {
      clearTimeout(slow);
    }
  }

  /** The parts of a pane that are read come into sight together: none of them moves another. */
  #settle(): void {
    const page = this.element.querySelector(".pane-page");
    if (page === null) return;
    const look = (): void => {
      if (page.querySelector(".loading") === null) end();
    };
    const changes = new MutationObserver(look);
    const end = (): void => {
      changes.disconnect();
      clearTimeout(slow);
      page.classList.remove("is-settling");
    };
    const slow = setTimeout(end, mostSettlingMs);
    page.classList.add("is-settling");
    changes.observe(page, { childList: true, subtree: true });
    look();
  }

  clear(): void {
    this.#wanted += 1;
    render(null, this.element);
  }
}
