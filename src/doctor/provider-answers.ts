import type { Config } from "../config/schema.js";
import { messageOf } from "../errors.js";
import { listModels } from "../providers/catalogue/list-models.js";
import { toUsable } from "../providers/catalogue/presets.js";

/** What a provider said when it was asked for its models, which costs nothing. */
export interface ProviderAnswer {
  readonly name: string;
  /** Absent: it has no address, or lacks a key. */
  readonly isUsable: boolean;
  /** A server of one's own may do without. */
  readonly hasKey?: boolean;
  readonly models?: readonly string[];
  readonly error?: string;
  /** Of HTTP; absent where no answer came. */
  readonly status?: number;
  /** The provider's clock minus ours, in ms. */
  readonly skewMs?: number;
}

/** Asks each provider of the config once, no matter who wants to know. */
export class ProviderAnswers {
  readonly #providers: Config["providers"];
  readonly #now: () => number;
  #answers: Promise<readonly ProviderAnswer[]> | undefined;

  constructor(providers: Config["providers"], now: () => number) {
    this.#providers = providers;
    this.#now = now;
  }

  get names(): readonly string[] {
    return Object.keys(this.#providers);
  }

  all(signal: AbortSignal): Promise<readonly ProviderAnswer[]> {
    this.#answers ??= Promise.all(this.names.map((name) => this.#ask(name, signal)));
    return this.#answers;
  }

  async #ask(name: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const settings = this.#providers[name];
    const usable = settings && toUsable(name, settings);
    if (usable === undefined) return { name, isUsable: false };
    const asked = { name, isUsable: true, hasKey: usable.apiKey !== undefined };
    let seen: { status?: number; skewMs?: number } = {};
    const askedAt = this.#now();
    const onAnswer = ({ status, headers }: Response): void => {
      // The header has whole seconds, of some moment between question and answer.
      const middle = (askedAt + this.#now()) / 2;
      const theirs = Date.parse(headers.get("date") ?? "");
      seen = { status, ...(Number.isNaN(theirs) ? {} : { skewMs: theirs + 500 - middle }) };
    };
    try {
      const models = await listModels(usable, signal, onAnswer);
      return { ...asked, models: models.map(({ id }) => id), ...seen };
    } catch (error) {
      return { ...asked, error: messageOf(error), ...seen };
    }
  }
}
