import { statusSentence } from "../../util/words/status-sentences.js";
import type { Thinking } from "../provider.js";
import type { TimeLimits } from "../wire/timeouts.js";

/** A provider that people need not give an address for. */
export interface Preset {
  readonly apiBase: string;
  readonly apiFormat: "openai" | "anthropic";
  /** Runs on one's own machine and wants no key. */
  readonly isLocal?: boolean;
  /** What looks at the key, where everybody gets the list of models. */
  readonly keyPath?: string;
}

const openai = "openai" as const;

/** Addresses by the provider's name in the config. */
export const presets: Readonly<Record<string, Preset>> = {
  openai: { apiBase: "https://api.openai.com/v1", apiFormat: openai },
  anthropic: { apiBase: "https://api.anthropic.com", apiFormat: "anthropic" },
  openrouter: { apiBase: "https://openrouter.ai/api/v1", apiFormat: openai, keyPath: "/key" },
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
  /** Sent with each request, besides what the API itself wants. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In seconds. */
  readonly timeouts?:
    | {
        readonly firstByte?: number | undefined;
        readonly idle?: number | undefined;
        readonly total?: number | undefined;
      }
    | undefined;
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
  readonly thinking?: Thinking | undefined;
}

/** A provider that can be called: it has an address, and a key where it needs one. */
export interface UsableProvider {
  readonly name: string;
  readonly apiKey: string | undefined;
  readonly apiBase: string;
  readonly apiFormat: "openai" | "anthropic";
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly limits: Partial<TimeLimits>;
  readonly models: readonly ModelSettings[];
  /** As the preset has it. */
  readonly keyPath?: string | undefined;
}

/** A model on one's own machine may have to be loaded first, and reads a long prompt slowly. */
const localLimits: Partial<TimeLimits> = { firstByteMs: 300_000, idleMs: 120_000 };

/**
 * The provider as it can be called; undefined when it lacks a key or an address, or its key is another provider's.
 * Without a key an address of one's own is enough, but not the address of a service that wants one.
 */
export function toUsable(name: string, settings: ProviderSettings | undefined): UsableProvider | undefined {
  if (settings === undefined) return undefined;
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  const apiKey = settings.apiKey?.trim() || undefined;
  const ownBase = settings.apiBase?.trim() || undefined;
  const apiBase = ownBase ?? preset?.apiBase;
  if (apiBase === undefined) return undefined;
  if (apiKey === undefined && (ownBase === undefined || wantsKey(name, ownBase))) return undefined;
  if (misplacedKey(name, settings) !== undefined) return undefined;
  const apiFormat = settings.apiFormat ?? preset?.apiFormat ?? "openai";
  const { headers, models } = settings;
  const limits = { ...(preset?.isLocal === true ? localLimits : {}), ...limitsOf(settings) };
  return { name, apiKey, apiBase, apiFormat, headers, limits, models, keyPath: preset?.keyPath };
}

/** A service wants one at its own address. A server of one's own may do without. */
export function wantsKey(name: string, apiBase: string): boolean {
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  return preset !== undefined && preset.isLocal !== true && hostOf(apiBase) === hostOf(preset.apiBase);
}

function limitsOf({ timeouts = {} }: ProviderSettings): Partial<TimeLimits> {
  const ms = (seconds: number | undefined, key: keyof TimeLimits): Partial<TimeLimits> =>
    seconds === undefined ? {} : { [key]: Math.round(seconds * 1000) };
  return {
    ...ms(timeouts.firstByte, "firstByteMs"),
    ...ms(timeouts.idle, "idleMs"),
    ...ms(timeouts.total, "totalMs"),
  };
}

/** How the keys of some providers begin. */
const keySigns: readonly (readonly [provider: string, sign: RegExp])[] = [
  ["anthropic", /^sk-ant-/],
  ["openrouter", /^sk-or-/],
  ["openai", /^sk-proj-/],
  ["groq", /^gsk_/],
  ["gemini", /^AIza/],
];

/** One sentence when the key is visibly one provider's and the address another's: it is not sent there. */
export function misplacedKey(name: string, { apiKey, apiBase }: ProviderSettings): string | undefined {
  const key = apiKey?.trim() ?? "";
  const owner = keySigns.find(([, sign]) => sign.test(key))?.[0];
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  const host = hostOf(apiBase?.trim() || preset?.apiBase);
  const [receiver] =
    Object.entries(presets).find(([, { apiBase: own }]) => host !== undefined && hostOf(own) === host) ?? [];
  if (owner === undefined || receiver === undefined || receiver === owner) return undefined;
  return statusSentence("misplaced_key", { name, owner, receiver, host: host ?? "", same: owner, self: name });
}

/** One sentence when a key would travel unencrypted through networks of others. */
export function openKey(name: string, { apiKey, apiBase, headers }: ProviderSettings): string | undefined {
  if (!apiKey?.trim() && Object.keys(headers ?? {}).length === 0) return undefined;
  const base = apiBase?.trim() ?? "";
  if (!URL.canParse(base)) return undefined;
  const { protocol, hostname } = new URL(base);
  if (protocol !== "http:" || isNearby(hostname)) return undefined;
  return statusSentence("open_key", { name, host: hostname });
}

/** This machine, the own network, a neighbouring container. */
function isNearby(host: string): boolean {
  if (host.startsWith("[")) return /^\[(::1|f[cd][0-9a-f]{2}:.*|fe80:.*)\]$/.test(host);
  return !host.includes(".") || ownNetworks.test(host);
}

const ownNetworks =
  /^(127|10)\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\.(local|internal|lan|home\.arpa)$/;

/** True when some provider can be called. Without any, the offline stand-in or a local Ollama answers. */
export function hasUsableProvider(providers: Readonly<Record<string, ProviderSettings>>): boolean {
  return Object.entries(providers).some(([name, settings]) => toUsable(name, settings) !== undefined);
}

function hostOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
}
