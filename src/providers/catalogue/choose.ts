import { ConfigError } from "../../errors.js";
import type { TokenPrice } from "../../events/machines/input.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import { createAnthropicProvider } from "../anthropic/anthropic.js";
import type { Circuits } from "../circuits.js";
import { createOpenAIProvider } from "../openai/openai.js";
import type { ChosenModel, Provider, Thinking } from "../provider.js";
import { type ProviderConnectionChange, withConnection } from "../wire/connection.js";
import { byOtherName, isGivenAway, isRawName, providersNamedBy } from "./families.js";
import {
  type ModelSettings,
  misplacedKey,
  type ProviderSettings,
  presets,
  toUsable,
  type UsableProvider,
} from "./presets.js";
import { priceOf } from "./prices.js";

export interface ModelChooserOptions {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly defaults: {
    readonly model?: string | undefined;
    readonly maxTokens: number;
    readonly contextWindow: number;
    readonly temperature?: number | undefined;
    readonly thinking?: Thinking | undefined;
  };
  /** By label, by `provider/model`, or by model id; they go before the shipped ones. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  /** Providers that are not part of the config. They go before configured ones of the same name. */
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

interface Choice {
  readonly from: UsableProvider;
  readonly model: string;
  readonly entry: ModelSettings | undefined;
  /** Why this provider, as the end of a sentence. */
  readonly why: string;
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
      const { from, model, entry, why } = find(label, usable, options.providers);
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

/** Those that can be called, the given ones first. */
export function usableProviders({
  providers,
  own = [],
}: Pick<ModelChooserOptions, "providers" | "own">): readonly UsableProvider[] {
  const given = own.map(({ name }): UsableProvider => {
    const models = providers[name]?.models ?? [];
    return { name, apiKey: undefined, apiBase: "", apiFormat: "openai", headers: undefined, limits: {}, models };
  });
  const configured = Object.entries(providers).flatMap(([name, settings]) =>
    own.some((one) => one.name === name) ? [] : (toUsable(name, settings) ?? []),
  );
  return [...given, ...configured];
}

/** Model families known to take images; for all others the config's `supportsImageInput` decides. */
const seesImages =
  /(^|\/)(claude-|gpt-(4o|4\.1|4-turbo|5|6)|o[34](-|$)|gemini-|gemma-?[34]|grok-4|llama-4|llava|pixtral|kimi-k(2\.[5-9]|3)|minimax-m3|qwen3\.[5-9])|[-.](vl|vision)|glm-[\d.]+v/i;

function createProvider(from: UsableProvider): Provider {
  const create = from.apiFormat === "anthropic" ? createAnthropicProvider : createOpenAIProvider;
  const { name, apiKey, apiBase, headers, limits } = from;
  return create({ name, apiKey, apiBase, headers, limits });
}

function labelOf({ name }: UsableProvider, { id }: ModelSettings): string {
  return id.startsWith(`${name}/`) ? id : `${name}/${id}`;
}

/** The first of these rules that fits; each says in words why. */
function find(
  label: string,
  usable: readonly UsableProvider[],
  configured: Readonly<Record<string, ProviderSettings>>,
): Choice {
  const named = (wanted: string): UsableProvider | undefined => usable.find(({ name }) => name === wanted);
  const prefix = prefixOf(label);
  const byPrefix = label.length > prefix.length + 1 ? usable.find(({ name }) => isSameName(name, prefix)) : undefined;
  if (byPrefix !== undefined) return { ...inProvider(byPrefix, label), why: `"${prefix}/" names it` };

  for (const from of usable) {
    const entry = from.models.find(({ id, name }) => isSameName(id, label) || isSameName(name, label));
    if (entry !== undefined && entry.enabled !== false)
      return { from, model: entry.id, entry, why: `its list of models has ${entry.id}` };
  }
  const openrouter = named("openrouter");
  const other = byOtherName(label, openrouter !== undefined);
  const byOther = other === undefined ? undefined : named(other.provider);
  if (other !== undefined && byOther !== undefined)
    return { ...inProvider(byOther, `${byOther.name}/${other.model}`), why: `"${prefix}/" is another name of it` };

  const family = providersNamedBy(label)
    .map(named)
    .find((from) => from !== undefined);
  if (family !== undefined && (prefix === "" || openrouter === undefined) && !belongsElsewhere(label, configured))
    return { from: family, model: label, entry: undefined, why: "the model's name points at it" };
  const isOwn = isRawName(label) || (isGivenAway(label) && openrouter === undefined);
  const own = isOwn ? named("vllm") : undefined;
  if (own !== undefined) return { from: own, model: label, entry: undefined, why: "your own server takes any name" };
  if (openrouter !== undefined)
    return { from: openrouter, model: label, entry: undefined, why: "it takes the models that no other provider has" };

  const only = belongsElsewhere(label, configured) ? undefined : onlyOne(usable);
  // What is before a slash is a maker, or a provider that somebody forgot: one that is not known serves no model by chance.
  const isMaker =
    prefix === "" ||
    isRawName(label) ||
    isGivenAway(label) ||
    (only !== undefined && Object.hasOwn(presets, only.name));
  if (only === undefined || !isMaker) throw new ConfigError(whyNot(label, usable, configured));
  return { from: only, model: label, entry: undefined, why: "it is the only provider with a key" };
}

function isSameName(name: string | undefined, wanted: string): boolean {
  return name?.toLowerCase() === wanted.toLowerCase();
}

/** What is before the first slash. */
function prefixOf(label: string): string {
  return label.slice(0, Math.max(0, label.indexOf("/")));
}

/** The label names a provider that is known and cannot be called: no other one is meant. */
function belongsElsewhere(label: string, configured: Readonly<Record<string, ProviderSettings>>): boolean {
  const prefix = prefixOf(label);
  if (isGivenAway(label)) return false;
  return Object.hasOwn(presets, prefix.toLowerCase()) || Object.hasOwn(configured, prefix);
}

/** The only provider of the config that can be called, or the only one with a key. One that a program gives knows its models. */
function onlyOne(usable: readonly UsableProvider[]): UsableProvider | undefined {
  const configured = usable.filter(({ apiBase }) => apiBase !== "");
  if (configured.length === 1) return configured[0];
  const keyed = configured.filter(({ apiKey }) => apiKey !== undefined);
  return keyed.length === 1 ? keyed[0] : undefined;
}

function inProvider(from: UsableProvider, label: string): Omit<Choice, "why"> {
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

function firstLabel(usable: readonly UsableProvider[], own: readonly Provider[] = []): string {
  for (const from of usable) {
    const entry = from.models.find(({ enabled }) => enabled !== false);
    if (entry !== undefined) return labelOf(from, entry);
  }
  const [given] = own;
  // It knows by itself which model it is.
  if (given !== undefined) return `${given.name}/default`;
  const [first] = usable;
  throw new ConfigError(
    first === undefined ? problemSentence("no_provider") : problemSentence("no_model", { provider: first.name }),
  );
}

function whyNot(
  label: string,
  usable: readonly UsableProvider[],
  configured: Readonly<Record<string, ProviderSettings>>,
): string {
  const written = prefixOf(label);
  const prefix = Object.hasOwn(configured, written) ? written : written.toLowerCase();
  if (belongsElsewhere(label, configured)) {
    const misplaced = misplacedKey(prefix, configured[prefix] ?? { models: [] });
    if (misplaced !== undefined) return misplaced;
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
