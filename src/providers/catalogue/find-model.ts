import { ConfigError, messageOf } from "../../errors.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Provider } from "../provider.js";
import { byOtherName, isGivenAway, isRawName, providersNamedBy } from "./families.js";
import {
  type ModelSettings,
  misplacedKey,
  type ProviderSettings,
  presets,
  toUsable,
  type UsableProvider,
} from "./presets.js";

/** Where models are looked for. */
export interface Providers {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Providers that are not part of the config. They go before configured ones of the same name. */
  readonly own?: readonly Pick<Provider, "name">[] | undefined;
}

/** The parts of the config that name models. */
export interface NamedModels {
  readonly providers: Providers["providers"];
  readonly agents: {
    readonly defaults: { readonly model?: string | undefined; readonly fallbacks?: readonly string[] | undefined };
  };
}

interface Choice {
  readonly from: UsableProvider;
  readonly model: string;
  readonly entry: ModelSettings | undefined;
  /** Why this provider, as the end of a sentence. */
  readonly why: string;
}

/** Those that can be called, the given ones first. */
export function usableProviders({ providers, own = [] }: Providers): readonly UsableProvider[] {
  const given = own.map(({ name }): UsableProvider => {
    const models = providers[name]?.models ?? [];
    return { name, apiKey: undefined, apiBase: "", apiFormat: "openai", headers: undefined, limits: {}, models };
  });
  const configured = Object.entries(providers).flatMap(([name, settings]) =>
    own.some((one) => one.name === name) ? [] : (toUsable(name, settings) ?? []),
  );
  return [...given, ...configured];
}

export function labelOf({ name }: UsableProvider, { id }: ModelSettings): string {
  return id.startsWith(`${name}/`) ? id : `${name}/${id}`;
}

/** Why models that the config names cannot be used, each as one sentence. Nothing where it names none. */
export function unusableModels({ providers, agents: { defaults } }: NamedModels): readonly string[] {
  const usable = usableProviders({ providers });
  const labels = [defaults.model, ...(defaults.fallbacks ?? [])].flatMap((label) => label?.trim() || []);
  return labels.flatMap((label) => refusalOf(() => findModel(label, usable, providers)));
}

/** Why no model can answer, as one sentence; undefined where the config's own can. Its fallbacks do not count. */
export function whyNoModel({ providers, agents: { defaults } }: NamedModels): string | undefined {
  const usable = usableProviders({ providers });
  const label = defaults.model?.trim();
  return refusalOf(() => (label ? findModel(label, usable, providers) : firstLabel(usable)))[0];
}

/** Why it cannot be chosen, as one sentence; empty where it can. */
export function refusalOf(choose: () => unknown): readonly string[] {
  try {
    choose();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

/** The first of these rules that fits; each says in words why. */
export function findModel(
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

export function firstLabel(usable: readonly UsableProvider[], own: readonly Pick<Provider, "name">[] = []): string {
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
  const example = `${first.name}/${label}`;
  if (written === "")
    return `No configured provider has the model ${label}. Write it with its provider, e.g. ${example}, or add it to that provider's models.`;
  const names = usable.map(({ name }) => name).join(", ");
  return `No configured provider has the model ${label}, and none is called ${written}. The config has: ${names}. Write ${first.name}/${label.slice(written.length + 1)}, or ${example} if ${written}/ is part of the model's name.`;
}
