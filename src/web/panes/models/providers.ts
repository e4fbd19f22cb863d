import { isRecord } from "../../../client/frames.js";
import { type Api, type JsonObject, Refused, recordsIn, textIn } from "../../gateway/api.js";
import { changeSettings, sectionAt, settingAt, textsAt } from "../setup/settings.js";
import { modelsWords } from "./words.js";

/** Someone who runs models, by the name of the config. */
export interface Provider {
  readonly name: string;
  readonly apiBase: string;
  readonly isLocal: boolean;
  readonly isConfigured: boolean;
  readonly hasKey: boolean;
}

export interface Model {
  readonly id: string;
  /** USD for a million tokens. */
  readonly price: { readonly input: number; readonly output: number } | undefined;
  readonly contextWindow: number | undefined;
}

/** What the reader has typed about a provider. Empty: as it is, or as it usually is. */
export interface ProviderEntry {
  readonly name: string;
  readonly apiKey: string;
  readonly apiBase: string;
}

export interface Choice {
  /** `provider/model`; empty: none is chosen. */
  readonly model: string;
  readonly fallbacks: readonly string[];
}

export async function readProviders(api: Api): Promise<readonly Provider[]> {
  const { providers } = await api.get("api/providers");
  return recordsIn(providers).map(({ name, apiBase, isLocal, isConfigured, hasKey }) => ({
    name: textIn(name),
    apiBase: textIn(apiBase),
    isLocal: isLocal === true,
    isConfigured: isConfigured === true,
    hasKey: hasKey === true,
  }));
}

/** Asks the provider itself. @throws {Error} one sentence for people */
export async function modelsOf(api: Api, provider: ProviderEntry): Promise<readonly Model[]> {
  const { name, apiKey, apiBase } = provider;
  const entry = { name, ...(apiKey === "" ? {} : { apiKey }), ...(apiBase === "" ? {} : { baseURL: apiBase }) };
  try {
    const { models } = await api.post("api/providers/models", entry, { timeoutMs: 30_000 });
    return recordsIn(models).map(toModel);
  } catch (error) {
    throw error instanceof Refused ? new Error(whyNot(provider, error)) : error;
  }
}

/** What the provider or the gateway said, with what it means. */
function whyNot({ name, apiKey, apiBase }: ProviderEntry, { message, code }: Refused): string {
  const { t } = modelsWords;
  if (message === "API key is required") return t("keyNeeded", { name });
  if (code !== "test_failed") return message;
  const isRefused = / answered (401|403)\b/.test(message);
  // A server of one's own that was asked without a key.
  if (isRefused && apiKey === "" && apiBase !== "") return t("keyNeeded", { name });
  return t(isRefused ? "keyRefused" : "notReached", { name, reason: withoutJson(message) });
}

/** Providers answer with JSON that has a sentence in it. */
function withoutJson(message: string): string {
  const start = message.indexOf("{");
  if (start === -1) return message;
  try {
    const said: unknown = JSON.parse(message.slice(start, message.lastIndexOf("}") + 1));
    const found =
      isRecord(said) && isRecord(said.error) ? said.error.message : isRecord(said) ? said.message : undefined;
    return typeof found === "string" ? `“${found}”` : message;
  } catch {
    return message;
  }
}

function toModel({ id, price, contextWindow }: JsonObject): Model {
  const { input, output } = isRecord(price) ? price : {};
  return {
    id: textIn(id),
    price: typeof input === "number" && typeof output === "number" ? { input, output } : undefined,
    contextWindow: typeof contextWindow === "number" ? contextWindow : undefined,
  };
}

/** Those that do not talk are named last. */
export function talkingFirst(models: readonly Model[]): readonly Model[] {
  const isTalking = ({ id }: Model): boolean =>
    !/embed|whisper|tts|dall-e|moderation|rerank|transcri|speech|image|audio|realtime|davinci|babbage/i.test(id);
  return [...models.filter(isTalking), ...models.filter((model) => !isTalking(model))];
}

export async function saveProvider(api: Api, entry: ProviderEntry, known: Provider | undefined): Promise<void> {
  const { name, apiKey, apiBase } = entry;
  // What runs on one's own machine counts only where its address is written down.
  const base = apiBase || (known?.isLocal === true && !known.isConfigured ? known.apiBase : "");
  await changeSettings(api, (config) => {
    const providers = sectionAt(config, "providers");
    const own = {
      ...sectionAt(providers, name),
      ...(apiKey === "" ? {} : { apiKey }),
      ...(base === "" ? {} : { apiBase: base }),
    };
    return { providers: { ...providers, [name]: own } };
  });
}

export async function removeProvider(api: Api, name: string): Promise<void> {
  await changeSettings(api, (config) => {
    const { [name]: _, ...rest } = sectionAt(config, "providers");
    return { providers: rest };
  });
}

export function choiceIn(config: JsonObject): Choice {
  return {
    model: textIn(settingAt(config, "agents", "defaults", "model")),
    fallbacks: textsAt(config, "agents", "defaults", "fallbacks"),
  };
}

export async function saveChoice(api: Api, choice: Partial<Choice>): Promise<void> {
  await changeSettings(api, () => ({ agents: { defaults: choice } }));
}

/** The prefix says for certain whose model it is. */
export function labelOf(provider: string, id: string): string {
  return id.startsWith(`${provider}/`) ? id : `${provider}/${id}`;
}
