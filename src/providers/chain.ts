import type { ProviderError } from "../errors.js";
import type { Logger } from "../log.js";
import type { ChosenModel, ModelChain } from "./provider.js";
import { reactions } from "./reactions.js";

/** A model that is asked only after all others for a while. */
interface Rest {
  readonly label: string;
  /** Unix ms. */
  readonly until: number;
  readonly why: string;
}

/** Remembers, for all sessions, which models rest. */
export interface Rests {
  /** A chain over these models, the chosen one first. */
  chain(models: readonly [ChosenModel, ...ChosenModel[]]): ModelChain;
  /** Somebody wants this model now. */
  end(model: ChosenModel): void;
  /** One sentence for each model that rests. */
  describe(): readonly string[];
}

export function createRests({ log, now = Date.now }: { readonly log: Logger; readonly now?: () => number }): Rests {
  const rests = new Map<string, Rest>();
  const isResting = (model: ChosenModel): boolean => (rests.get(keyOf(model))?.until ?? 0) > now();

  return {
    chain: (models) => ({
      candidates: () => [...models.filter((model) => !isResting(model)), ...models.filter(isResting)],
      failed(model, error) {
        const { next, restMs } = reactions[error.kind];
        // One that is alone is asked all the same.
        if (!next || models.length === 1) return { next };
        const ms = restOf(error, restMs);
        if (ms > 0) rests.set(keyOf(model), { label: model.label, until: now() + ms, why: error.message });
        log.warn(`${model.label} could not answer, and rests for ${Math.round(ms / 1000)} s: ${error.message}`);
        return { next };
      },
      answered(model) {
        rests.delete(keyOf(model));
      },
    }),
    end: (model) => void rests.delete(keyOf(model)),
    describe: () =>
      [...rests.values()]
        .filter(({ until }) => until > now())
        .map(({ label, until, why }) => {
          const seconds = Math.ceil((until - now()) / 1000);
          return `${label} is asked after the other models for another ${seconds} s: ${why}`;
        }),
  };
}

/** The far side's own wait counts where it named one, up to an hour. */
function restOf(error: ProviderError, restMs: number): number {
  return error.retryAfterMs === undefined ? restMs : Math.min(error.retryAfterMs, 3_600_000);
}

function keyOf({ provider, model }: ChosenModel): string {
  return `${provider.name}/${model}`;
}
