import type { TokenPrice } from "../../events/machines/input.js";
import { createAnthropicProvider } from "../anthropic/anthropic.js";
import type { Circuits } from "../circuits.js";
import { createOpenAIProvider } from "../openai/openai.js";
import type { ChosenModel, Provider, Thinking } from "../provider.js";
import { type ProviderConnectionChange, withConnection } from "../wire/connection.js";
import { findModel, firstLabel, labelOf, type Providers, usableProviders } from "./find-model.js";
import type { UsableProvider } from "./presets.js";
import { priceOf } from "./prices.js";

export interface ModelChooserOptions extends Providers {
  readonly defaults: {
    readonly model?: string | undefined;
    readonly maxTokens: number;
    readonly contextWindow: number;
    readonly temperature?: number | undefined;
    readonly thinking?: Thinking | undefined;
  };
  /** By label, by `provider/model`, or by model id; they go before the shipped ones. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly own?: readonly Provider[] | undefined;
  /** Told when a provider's calls begin to get through, and when they do not any more. */
  readonly onConnection?: ((change: ProviderConnectionChange) => void) | undefined;
  /** Is between the calls and each provider. */
  readonly circuits?: Circuits | undefined;
}

/** Finds the provider and the model behind a label. Each provider is made once. */
export interface ModelChooser {
  /**
   * By its `x/` when provider x can be called, then by an exact entry in some `models`, by the name of the model's
   * family, through OpenRouter, and at last by the only provider that has a key. Without a label: the configured default,
   * else the first model of the first provider. `thinking` goes before the config's.
   *
   * @throws {ConfigError} nothing fits; the message says what to change
   */
  choose(label?: string, thinking?: Thinking): ChosenModel;
  /** Every model that is named in the config and can be called, as labels. */
  labels(): readonly string[];
}

export function createModelChooser(options: ModelChooserOptions): ModelChooser {
  const usable = usableProviders(options);
  const made = new Map<string, Provider>();

  const providerOf = (from: UsableProvider): Provider => {
    const known = made.get(from.name);
    if (known !== undefined) return known;
    const { onConnection, circuits } = options;
    const plain = options.own?.find(({ name }) => name === from.name) ?? createProvider(from);
    const watched = onConnection === undefined ? plain : withConnection(plain, onConnection);
    const provider = circuits?.guard(watched) ?? watched;
    made.set(from.name, provider);
    return provider;
  };

  return {
    choose(wanted, thinking) {
      const label = wanted?.trim() || options.defaults.model?.trim() || firstLabel(usable, options.own);
      const { from, model, entry, why } = findModel(label, usable, options.providers);
      return {
        provider: providerOf(from),
        label,
        why,
        model,
        maxTokens: entry?.maxTokens || options.defaults.maxTokens,
        contextWindow: entry?.contextWindow || options.defaults.contextWindow,
        temperature: options.defaults.temperature,
        thinking: thinking ?? entry?.thinking ?? options.defaults.thinking,
        price: priceOf(options.prices, { label, provider: from.name, model }),
        supportsImages: entry?.supportsImageInput ?? seesImages.test(model),
      };
    },
    labels: () =>
      usable.flatMap((from) =>
        from.models.filter(({ enabled }) => enabled !== false).map((entry) => labelOf(from, entry)),
      ),
  };
}

/** Model families known to take images; for all others the config's `supportsImageInput` decides. */
const seesImages =
  /(^|\/)(claude-|gpt-(4o|4\.1|4-turbo|5|6)|o[34](-|$)|gemini-|gemma-?[34]|grok-4|llama-4|llava|pixtral|kimi-k(2\.[5-9]|3)|minimax-m3|qwen3\.[5-9])|[-.](vl|vision)|glm-[\d.]+v/i;

function createProvider(from: UsableProvider): Provider {
  const create = from.apiFormat === "anthropic" ? createAnthropicProvider : createOpenAIProvider;
  const { name, apiKey, apiBase, headers, limits } = from;
  return create({ name, apiKey, apiBase, headers, limits });
}
