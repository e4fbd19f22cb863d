import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { createModelChooser, type ModelChooserOptions } from "./choose.js";
import { createOfflineProvider } from "./offline/offline.js";
import { findLocalOllama, type LocalOllama } from "./ollama.js";
import { presets, toUsable } from "./presets.js";
import type { ChosenModel } from "./provider.js";

export interface ModelsOptions extends ModelChooserOptions {
  /** Where a local Ollama is looked for. Default: its usual port. */
  readonly ollamaAddress?: string | undefined;
  readonly log: Logger;
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
  /** What is used without a label, for status. */
  describe(): ModelDescription;
}

export interface ModelDescription {
  readonly provider: string;
  readonly model: string;
  /** Why no model can be used, or not the one that was meant, as one sentence. */
  readonly problem?: string;
}

export function createModels(options: ModelsOptions): Models {
  const usable = Object.entries(options.providers).filter(([name, settings]) => toUsable(name, settings) !== undefined);
  return usable.length > 0 ? configuredModels(options) : standInModels(options);
}

function configuredModels(options: ModelsOptions): Models {
  const chooser = createModelChooser(options);
  return {
    choose: async (label) => chooser.choose(label),
    describe() {
      try {
        const chosen = chooser.choose();
        return { provider: chosen.provider.name, model: chosen.label, ...given(addressless(options)) };
      } catch (error) {
        return { provider: "none", model: "none", problem: messageOf(error) };
      }
    },
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
    price: undefined,
    supportsImages: false,
  };
  let found: (LocalOllama & { readonly chosen: ChosenModel }) | undefined;
  const useOllama = (local: LocalOllama): ChosenModel => {
    if (found?.model === local.model) return found.chosen;
    const chooser = createModelChooser({ ...options, providers: { ollama: { apiBase: local.apiBase, models: [] } } });
    const chosen = chooser.choose(`ollama/${local.model}`);
    options.log.info(`Found a local Ollama: using its model ${local.model}`);
    found = { ...local, chosen };
    return chosen;
  };
  return {
    async choose(_label, signal) {
      const local = await findLocalOllama(
        options.ollamaAddress === undefined ? {} : { address: options.ollamaAddress },
        signal,
      );
      if (local !== undefined) return useOllama(local);
      found = undefined;
      return offline;
    },
    describe: () => ({
      ...(found === undefined
        ? { provider: "offline", model: "offline" }
        : { provider: "ollama", model: found.chosen.label }),
      ...given(addressless(options) ?? unreachable(options)),
    }),
  };
}

/** A provider with a key that maxclaw cannot send anywhere. */
function addressless({ providers }: ModelsOptions): string | undefined {
  const [name] =
    Object.entries(providers).find(([name, { apiBase }]) => !Object.hasOwn(presets, name) && !apiBase?.trim()) ?? [];
  return name === undefined
    ? undefined
    : `maxclaw knows no address of the provider ${name}. Set providers.${name}.apiBase.`;
}

/** Somebody chose a model, and another one answers because there is no provider for it. */
function unreachable(options: ModelsOptions): string | undefined {
  if (!options.defaults.model?.trim()) return undefined;
  try {
    createModelChooser(options).choose();
  } catch (error) {
    return messageOf(error);
  }
  return undefined;
}

function given(problem: string | undefined): { readonly problem?: string } {
  return problem === undefined ? {} : { problem };
}
