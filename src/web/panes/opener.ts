import type { PaneHost } from "./host.js";
import type { PaneEntry } from "./list.js";
import type { PaneWorld } from "./world.js";

interface PaneOpenerOptions {
  /** Where panes are shown. */
  readonly root: () => HTMLElement;
  readonly world: () => PaneWorld;
  readonly onFailure: (error: unknown) => void;
}

/** Shows panes. What shows them is fetched with the first one. */
export class PaneOpener {
  readonly #options: PaneOpenerOptions;
  #host: Promise<PaneHost> | undefined;

  constructor(options: PaneOpenerOptions) {
    this.#options = options;
  }

  async show(pane: PaneEntry | undefined, argument: string): Promise<void> {
    this.#host ??= this.#load();
    try {
      await (await this.#host).show(pane, argument);
    } catch (error) {
      this.#host = undefined;
      this.#options.onFailure(error);
    }
  }

  clear(): void {
    void this.#host?.then((host) => host.clear());
  }

  async #load(): Promise<PaneHost> {
    const { PaneHost: Host } = await import("./host.js");
    return new Host(this.#options.root(), this.#options.world());
  }
}
