import type { ToolRun } from "../tool.js";

/** What others wrote that a command has to do with, as long as it runs. */
export class RunOrigins {
  readonly #label: ToolRun | undefined;
  readonly #sights: (() => Promise<readonly string[]>) | undefined;

  /** `sights`: what others wrote of what it can read at this moment, where that may change while it runs. */
  constructor(label?: ToolRun, sights?: () => Promise<readonly string[]>) {
    this.#label = label;
    this.#sights = sights;
  }

  /** What others may have had a hand in its output by; undefined when nobody could. */
  get outside(): string | undefined {
    return this.#label?.outside();
  }

  /** These have a say in it from now on. */
  async heard(sources: readonly string[]): Promise<void> {
    await this.#label?.add(sources);
  }

  /** Looks again at what it can read. To be waited for before its output is used. */
  async look(): Promise<void> {
    // What cannot be looked at may be anybody's.
    const sees = await this.#sights?.().catch(() => ["files that cannot be looked at"]);
    await this.heard(sees ?? []).catch(() => undefined);
  }
}
