import type { Logger } from "../../log.js";
import { statusSentence } from "../../util/words/status-sentences.js";
import { createRests } from "../chain.js";
import { createOfflineProvider } from "../offline/offline.js";
import type { ChosenModel, ModelChain, Thinking } from "../provider.js";
import { parseThinking } from "../request/thinking.js";
import { createModelChooser, type ModelChooserOptions } from "./choose.js";
import { refusalOf, usableProviders } from "./find-model.js";
import { findLocalOllama, type LocalOllama } from "./ollama.js";
import { misplacedKey, openKey, presets } from "./presets.js";

export interface ModelsOptions extends ModelChooserOptions {
  readonly defaults: ModelChooserOptions["defaults"] & {
    /** Labels of the models that stand in for any other, in this order. */
    readonly fallbacks?: readonly string[] | undefined;
  };
  /** Some budget counts money, so a model without a price is a problem. */
  readonly needsPrices?: boolean | undefined;
  /** Where a local Ollama is looked for. Default: its usual port. */
  readonly ollamaAddress?: string | undefined;
  readonly log: Logger;
}

/** What a session wants of its model; without anything: what the config says. */
export interface WantedModel {
  readonly label?: string | undefined;
  /** In the words of `/model`; what they do not know counts as absent. */
  readonly thinking?: string | undefined;
}

/** The models that turns can use. */
export interface Models {
  /**
   * The model for a label, or the default one. While no provider is configured at all: a local Ollama if one answers
   * at that moment, else the offline stand-in.
   *
   * @throws {ConfigError} nothing fits; the message says what to change
   */
  choose(label: string | undefined, signal: AbortSignal): Promise<ChosenModel>;
  /**
   * That model and its stand-ins. A label that fits nothing any more, because the config has changed, gives way to the
   * default, so that no session is left without an answer.
   *
   * @throws {ConfigError} there is no default either
   */
  chain(wanted: WantedModel, signal: AbortSignal): Promise<ModelChain>;
  /** Somebody has just chosen this model: it is asked again at once, however it failed before. */
  prefer(model: ChosenModel): void;
  /** The models that the config names, as labels. */
  labels(): readonly string[];
  /** How much to think, in the form in which it is stored; undefined for what means nothing. */
  readThinking(text: string): string | undefined;
  /** What is used without a label, for status. */
  describe(): ModelDescription;
  /** Why that provider, as the end of a sentence; undefined where nobody had to choose. */
  providerReason(): string | undefined;
  /** What is wrong, each as one sentence. */
  problems(): readonly string[];
}

export interface ModelDescription {
  readonly provider: string;
  readonly model: string;
}

export function createModels(options: ModelsOptions): Models {
  return usableProviders(options).length > 0 ? configuredModels(options) : standInModels(options);
}

function configuredModels(options: ModelsOptions): Models {
  const chooser = createModelChooser(options);
  const rests = createRests({ log: options.log });
  const fallbacks = options.defaults.fallbacks ?? [];
  const standIns = (thinking?: Thinking): readonly ChosenModel[] =>
    fallbacks.flatMap((label) => chosenOrNothing(() => chooser.choose(label, thinking)) ?? []);
  return {
    choose: async (label) => chooser.choose(label),
    async chain({ label, thinking: words }) {
      const thinking = parseThinking(words ?? "");
      const wanted = chosenOrNothing(() => chooser.choose(label, thinking));
      if (wanted === undefined && label !== undefined)
        options.log.warn(`The model ${label}, which was chosen for a session, cannot be used: the default answers`);
      const first = wanted ?? chooser.choose(undefined, thinking);
      return rests.chain([first, ...standIns(thinking).filter((model) => !isSame(model, first))]);
    },
    prefer: rests.end,
    readThinking,
    labels: () => {
      const own = chosenOrNothing(() => chooser.choose())?.label;
      return [
        ...new Set([...(own === undefined ? [] : [own]), ...standIns().map(({ label }) => label), ...chooser.labels()]),
      ];
    },
    describe() {
      const chosen = chosenOrNothing(() => chooser.choose());
      return { provider: chosen?.provider.name ?? "none", model: chosen?.label ?? "none" };
    },
    providerReason: () => chosenOrNothing(() => chooser.choose())?.why,
    problems: () => [
      ...providerProblems(options),
      ...[undefined, ...fallbacks].flatMap((label) => refusalOf(() => chooser.choose(label))),
      ...unpriced(
        options,
        [undefined, ...fallbacks].flatMap((label) => chosenOrNothing(() => chooser.choose(label)) ?? []),
      ),
      ...rests.describe(),
    ],
  };
}

function standInModels(options: ModelsOptions): Models {
  const offline: ChosenModel = {
    provider: createOfflineProvider(),
    label: "offline",
    model: "offline",
    maxTokens: options.defaults.maxTokens,
    contextWindow: options.defaults.contextWindow,
    temperature: undefined,
    thinking: undefined,
    price: { input: 0, output: 0 },
    supportsImages: false,
  };
  const rests = createRests({ log: options.log });
  let found: (LocalOllama & { readonly chosen: ChosenModel }) | undefined;
  const useOllama = (local: LocalOllama): ChosenModel => {
    if (found?.model === local.model) return found.chosen;
    const chooser = createModelChooser({ ...options, providers: { ollama: { apiBase: local.apiBase, models: [] } } });
    const chosen = chooser.choose(`ollama/${local.model}`);
    options.log.info(`Found a local Ollama: using its model ${local.model}`);
    found = { ...local, chosen };
    return chosen;
  };
  const standIn = async (signal: AbortSignal): Promise<ChosenModel> => {
    const local = await findLocalOllama(
      options.ollamaAddress === undefined ? {} : { address: options.ollamaAddress },
      signal,
    );
    if (local !== undefined) return useOllama(local);
    found = undefined;
    return offline;
  };
  return {
    async choose(label, signal) {
      const chosen = await standIn(signal);
      // Anyone who names a model wants no other.
      return label === undefined || label === chosen.label ? chosen : createModelChooser(options).choose(label);
    },
    chain: async ({ thinking }, signal) =>
      rests.chain([{ ...(await standIn(signal)), thinking: parseThinking(thinking ?? "") }]),
    prefer: rests.end,
    readThinking,
    labels: () => [found?.chosen.label ?? "offline"],
    describe: () =>
      found === undefined
        ? { provider: "offline", model: "offline" }
        : { provider: "ollama", model: found.chosen.label },
    providerReason: () => undefined,
    // Somebody chose a model, and another one answers because there is no provider for it.
    problems: () => [
      ...providerProblems(options),
      ...(options.defaults.model?.trim() ? refusalOf(() => createModelChooser(options).choose()) : []),
    ],
  };
}

function readThinking(text: string): string | undefined {
  const thinking = parseThinking(text);
  return thinking === undefined ? undefined : String(thinking);
}

function isSame(one: ChosenModel, other: ChosenModel): boolean {
  return one.provider === other.provider && one.model === other.model;
}

function chosenOrNothing(choose: () => ChosenModel): ChosenModel | undefined {
  try {
    return choose();
  } catch {
    // Only a label that fits nothing is refused; who needs the reason asks for it.
    return undefined;
  }
}

function unpriced({ needsPrices }: ModelsOptions, models: readonly ChosenModel[]): readonly string[] {
  if (needsPrices !== true) return [];
  return models
    .filter(({ price }) => price === undefined)
    .map(({ label }) => statusSentence("unpriced", { label, same: label }));
}

function providerProblems({ providers, own = [] }: ModelsOptions): readonly string[] {
  return Object.entries(providers).flatMap(([name, settings]) => {
    if (own.some((one) => one.name === name)) return [];
    const addressless = !Object.hasOwn(presets, name) && !settings.apiBase?.trim();
    const sentences = [
      addressless ? statusSentence("no_address", { name, same: name }) : undefined,
      misplacedKey(name, settings),
      openKey(name, settings),
    ];
    return sentences.filter((sentence) => sentence !== undefined);
  });
}
