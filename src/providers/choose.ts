import { ConfigError } from "../errors.js";
import { createAnthropicProvider } from "./anthropic/anthropic.js";
import { createOpenAIProvider } from "./openai/openai.js";
import { type ModelSettings, type ProviderSettings, presets, toUsable, type UsableProvider } from "./presets.js";
import type { ChosenModel, Price, Provider } from "./provider.js";
import type { TimeLimits } from "./timeouts.js";

export interface ModelChooserOptions {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly defaults: {
    readonly model?: string | undefined;
    readonly maxTokens: number;
    readonly contextWindow: number;
    readonly temperature?: number | undefined;
  };
  /** By label, by `provider/model`, or by model id. */
  readonly prices: Readonly<Record<string, Price>>;
  readonly limits?: Partial<TimeLimits> | undefined;
}

/** Finds the provider and the model behind a label. Each provider is made once. */
export interface ModelChooser {
  /**
   * By its `x/` when provider x can be called, then by an exact entry in some `models`, then through OpenRouter. Without
   * a label: the configured default, else the first model of the first provider.
   *
   * @throws {ConfigError} nothing fits; the message says what to change
   */
  choose(label?: string): ChosenModel;
}

interface Choice {
  readonly from: UsableProvider;
  readonly model: string;
  readonly entry: ModelSettings | undefined;
}

export function createModelChooser(options: ModelChooserOptions): ModelChooser {
  const usable = Object.entries(options.providers).flatMap(([name, settings]) => toUsable(name, settings) ?? []);
  const made = new Map<string, Provider>();

  const providerOf = (from: UsableProvider): Provider => {
    const provider = made.get(from.name) ?? createProvider(from, options.limits);
    made.set(from.name, provider);
    return provider;
  };

  return {
    choose(wanted) {
      const label = wanted?.trim() || options.defaults.model?.trim() || firstLabel(usable);
      const { from, model, entry } = find(label, usable, options.providers);
      return {
        provider: providerOf(from),
        label,
        model,
        maxTokens: entry?.maxTokens || options.defaults.maxTokens,
        contextWindow: entry?.contextWindow || options.defaults.contextWindow,
        temperature: options.defaults.temperature,
        price: priceOf(options.prices, [label, `${from.name}/${model}`, model]),
        supportsImages: entry?.supportsImageInput ?? seesImages.test(model),
      };
    },
  };
}

/** Model families known to take images; for all others the config's `supportsImageInput` decides. */
const seesImages = /(^|\/)(claude-|gpt-4o|gpt-4\.1|gpt-5|gemini-)/;

function createProvider(from: UsableProvider, limits: Partial<TimeLimits> | undefined): Provider {
  const create = from.apiFormat === "anthropic" ? createAnthropicProvider : createOpenAIProvider;
  return create({ name: from.name, apiKey: from.apiKey, apiBase: from.apiBase, headers: from.headers, limits });
}

function find(
  label: string,
  usable: readonly UsableProvider[],
  configured: Readonly<Record<string, ProviderSettings>>,
): Choice {
  const byPrefix = usable.find(({ name }) => label.startsWith(`${name}/`) && label.length > name.length + 1);
  if (byPrefix !== undefined) return inProvider(byPrefix, label);
  for (const from of usable) {
    const entry = from.models.find((model) => model.id === label || model.name === label);
    if (entry !== undefined && entry.enabled !== false) return { from, model: entry.id, entry };
  }
  const openrouter = usable.find(({ name }) => name === "openrouter");
  if (openrouter !== undefined) return { from: openrouter, model: label, entry: undefined };
  throw new ConfigError(whyNot(label, usable, configured));
}

function inProvider(from: UsableProvider, label: string): Choice {
  const rest = label.slice(from.name.length + 1);
  const entry = from.models.find(({ id, name }) => [rest, label].some((text) => id === text || name === text));
  if (entry?.enabled === false) {
    throw new ConfigError(
      `The model ${label} is switched off. Set enabled to true for it in providers.${from.name}.models.`,
    );
  }
  // OpenRouter's own models are called `openrouter/auto` by its API too.
  const isOwn = from.name === "openrouter" && !rest.includes("/");
  const id = entry?.id ?? (isOwn ? label : rest);
  const model = id.startsWith(`${from.name}/`) && !isOwn ? id.slice(from.name.length + 1) : id;
  return { from, model, entry };
}

function firstLabel(usable: readonly UsableProvider[]): string {
  for (const { name, models } of usable) {
    const entry = models.find(({ enabled }) => enabled !== false);
    if (entry !== undefined) return entry.id.startsWith(`${name}/`) ? entry.id : `${name}/${entry.id}`;
  }
  const [first] = usable;
  throw new ConfigError(
    first === undefined
      ? "No model provider is configured. Set providers.<name>.apiKey, e.g. by `maxclaw onboard`."
      : `No model is chosen. Set agents.defaults.model, e.g. to "${first.name}/<model>".`,
  );
}

function whyNot(
  label: string,
  usable: readonly UsableProvider[],
  configured: Readonly<Record<string, ProviderSettings>>,
): string {
  const prefix = label.includes("/") ? label.slice(0, label.indexOf("/")) : undefined;
  if (prefix !== undefined && (Object.hasOwn(presets, prefix) || Object.hasOwn(configured, prefix))) {
    const hasKey = Boolean(configured[prefix]?.apiKey?.trim());
    const missing = hasKey || presets[prefix]?.isLocal === true ? "apiBase" : "apiKey";
    return `The model ${label} needs the provider ${prefix}, which cannot be called yet. Set providers.${prefix}.${missing}, or choose another model.`;
  }
  const [first] = usable;
  if (first === undefined) {
    return `The model ${label} needs a provider, and none is configured. Set providers.<name>.apiKey, e.g. by \`maxclaw onboard\`.`;
  }
  return `No configured provider has the model ${label}. Write it with its provider, e.g. ${first.name}/${label}, or add it to that provider's models.`;
}

function priceOf(prices: Readonly<Record<string, Price>>, names: readonly string[]): Price | undefined {
  const name = names.find((candidate) => Object.hasOwn(prices, candidate));
  return name === undefined ? undefined : prices[name];
}
