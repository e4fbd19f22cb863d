/** A provider that people need not give an address for. */
export interface Preset {
  readonly apiBase: string;
  readonly apiFormat: "openai" | "anthropic";
  /** Runs on one's own machine and wants no key. */
  readonly isLocal?: boolean;
}

const openai = "openai" as const;

/** Addresses by the provider's name in the config. */
export const presets: Readonly<Record<string, Preset>> = {
  openai: { apiBase: "https://api.openai.com/v1", apiFormat: openai },
  anthropic: { apiBase: "https://api.anthropic.com", apiFormat: "anthropic" },
  openrouter: { apiBase: "https://openrouter.ai/api/v1", apiFormat: openai },
  deepseek: { apiBase: "https://api.deepseek.com/v1", apiFormat: openai },
  zhipu: { apiBase: "https://open.bigmodel.cn/api/paas/v4", apiFormat: openai },
  groq: { apiBase: "https://api.groq.com/openai/v1", apiFormat: openai },
  gemini: { apiBase: "https://generativelanguage.googleapis.com/v1beta/openai", apiFormat: openai },
  dashscope: { apiBase: "https://dashscope.aliyuncs.com/compatible-mode/v1", apiFormat: openai },
  moonshot: { apiBase: "https://api.moonshot.ai/v1", apiFormat: openai },
  minimax: { apiBase: "https://api.minimax.io/v1", apiFormat: openai },
  ollama: { apiBase: "http://127.0.0.1:11434/v1", apiFormat: openai, isLocal: true },
  vllm: { apiBase: "http://127.0.0.1:8000/v1", apiFormat: openai, isLocal: true },
  lmstudio: { apiBase: "http://127.0.0.1:1234/v1", apiFormat: openai, isLocal: true },
};

/** What the config says about one provider. */
export interface ProviderSettings {
  readonly apiKey?: string | undefined;
  readonly apiBase?: string | undefined;
  /** Default: the preset's, else `openai`. */
  readonly apiFormat?: "openai" | "anthropic" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly models: readonly ModelSettings[];
}

export interface ModelSettings {
  /** As the provider's API names it. */
  readonly id: string;
  /** As people may write it too. */
  readonly name?: string | undefined;
  /** Upper bound of one answer; 0 or absent: the default. */
  readonly maxTokens?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly enabled?: boolean | undefined;
  readonly supportsImageInput?: boolean | undefined;
}

/** A provider that can be called: it has an address, and a key where it needs one. */
export interface UsableProvider {
  readonly name: string;
  readonly apiKey: string | undefined;
  readonly apiBase: string;
  readonly apiFormat: "openai" | "anthropic";
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly models: readonly ModelSettings[];
}

/**
 * The provider as it can be called; undefined when it lacks a key or an address. Without a key an address of one's own
 * is enough, but not the address of a service that wants one.
 */
export function toUsable(name: string, settings: ProviderSettings | undefined): UsableProvider | undefined {
  if (settings === undefined) return undefined;
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  const apiKey = settings.apiKey?.trim() || undefined;
  const ownBase = settings.apiBase?.trim() || undefined;
  const apiBase = ownBase ?? preset?.apiBase;
  if (apiBase === undefined) return undefined;
  const mayBeKeyless =
    ownBase !== undefined && (preset?.isLocal === true || hostOf(ownBase) !== hostOf(preset?.apiBase));
  if (apiKey === undefined && !mayBeKeyless) return undefined;
  const apiFormat = settings.apiFormat ?? preset?.apiFormat ?? "openai";
  return { name, apiKey, apiBase, apiFormat, headers: settings.headers, models: settings.models };
}

/** True when some provider can be called. Without any, the offline stand-in or a local Ollama answers. */
export function hasUsableProvider(providers: Readonly<Record<string, ProviderSettings>>): boolean {
  return Object.entries(providers).some(([name, settings]) => toUsable(name, settings) !== undefined);
}

function hostOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
}
