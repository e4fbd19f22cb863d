import { constants, existsSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { blankConfig } from "../../config/blank.js";
import { presets } from "../../providers/catalogue/presets.js";
import { codeOf } from "../../util/error-code.js";
import { replaceFile } from "../../util/files/replace-file.js";

export interface FirstChoice {
  readonly provider?: string;
  readonly apiKey?: string;
  readonly apiBase?: string;
  readonly model?: string;
}

/** True when maxclaw has no address for a provider of this name: somebody has to give one. */
export function needsAddress(provider: string): boolean {
  return !Object.hasOwn(presets, provider);
}

/** True when a provider of this name runs on people's own machines and wants no key. */
export function isLocal(provider: string): boolean {
  return Object.hasOwn(presets, provider) && presets[provider]?.isLocal === true;
}

/** The environment variable that usually holds a provider's key. */
export function keyVariable(provider: string): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_API_KEY`;
}

/** The config file that is in force in a home, if there is one. */
export function existingConfig(home: string): string | undefined {
  return ["config.json", "config.yaml"].map((name) => join(home, name)).find((path) => existsSync(path));
}

/** Writes config.json, readable by its owner only, after a copy of the one before. Resolves with what was written. */
export async function writeFirstConfig(home: string, choice: FirstChoice): Promise<readonly string[]> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const path = join(home, "config.json");
  const copy = existsSync(path) ? await keepCopy(path) : undefined;
  await replaceFile(path, `${JSON.stringify(firstConfig(choice), undefined, 2)}\n`, { mode: 0o600 });
  return copy === undefined ? [path] : [path, copy];
}

function firstConfig({ provider, apiKey, apiBase, model }: FirstChoice): object {
  const { agents, providers, ...rest } = blankConfig;
  const defaults = model === undefined ? {} : { model: withProvider(model, provider) };
  return {
    agents: { defaults: { ...agents.defaults, ...defaults } },
    providers: { ...providers, ...(provider === undefined ? {} : { [provider]: reach(provider, apiKey, apiBase) }) },
    ...rest,
  };
}

/** A provider that needs a key and was given none takes it from the environment, under its usual name. */
function reach(provider: string, apiKey: string | undefined, apiBase: string | undefined): object {
  const base = apiBase ?? (isLocal(provider) ? presets[provider]?.apiBase : undefined);
  const key = apiKey ?? (base === undefined ? `\${${keyVariable(provider)}}` : undefined);
  return { ...(key !== undefined && { apiKey: key }), ...(base !== undefined && { apiBase: base }) };
}

/** The prefix tells for certain whose model it is. */
function withProvider(model: string, provider: string | undefined): string {
  return provider === undefined || model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
}

async function keepCopy(path: string): Promise<string> {
  for (let n = 1; ; n++) {
    const copy = `${path}.bak${n === 1 ? "" : n}`;
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}
