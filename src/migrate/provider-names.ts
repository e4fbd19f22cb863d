import { presets } from "../providers/catalogue/presets.js";
import type { JsonObject } from "./openclaw/json5.js";

/** What others call a provider that we know under another name. */
const ourNames: Readonly<Record<string, string>> = {
  google: "gemini",
  "google-gemini": "gemini",
  "z.ai": "zai",
  "z-ai": "zai",
  lmStudio: "lmstudio",
  "lm-studio": "lmstudio",
  qwen: "dashscope",
};

interface Address {
  readonly apiBase: string;
  readonly apiFormat?: "anthropic";
}

/** Addresses that the others know by the provider's name, and we do not. */
const addresses: Readonly<Record<string, Address>> = {
  zai: { apiBase: "https://api.z.ai/api/paas/v4" },
  siliconflow: { apiBase: "https://api.siliconflow.cn/v1" },
  aihubmix: { apiBase: "https://aihubmix.com/v1" },
  mistral: { apiBase: "https://api.mistral.ai/v1" },
  xai: { apiBase: "https://api.x.ai/v1" },
  cerebras: { apiBase: "https://api.cerebras.ai/v1" },
  together: { apiBase: "https://api.together.xyz/v1" },
  venice: { apiBase: "https://api.venice.ai/api/v1" },
  huggingface: { apiBase: "https://router.huggingface.co/v1" },
  nvidia: { apiBase: "https://integrate.api.nvidia.com/v1" },
  novita: { apiBase: "https://api.novita.ai/openai" },
  "vercel-ai-gateway": { apiBase: "https://ai-gateway.vercel.sh/v1" },
  volcengine: { apiBase: "https://ark.cn-beijing.volces.com/api/v3" },
  volcengineCodingPlan: { apiBase: "https://ark.cn-beijing.volces.com/api/coding/v3" },
  byteplus: { apiBase: "https://ark.ap-southeast.bytepluses.com/api/v3" },
  byteplusCodingPlan: { apiBase: "https://ark.ap-southeast.bytepluses.com/api/coding/v3" },
  modelscope: { apiBase: "https://api-inference.modelscope.cn/v1" },
  kimiCoding: { apiBase: "https://api.kimi.com/coding", apiFormat: "anthropic" },
  "kimi-coding": { apiBase: "https://api.kimi.com/coding", apiFormat: "anthropic" },
  minimaxAnthropic: { apiBase: "https://api.minimax.io/anthropic", apiFormat: "anthropic" },
  stepfun: { apiBase: "https://api.stepfun.com/v1" },
  xiaomiMimo: { apiBase: "https://api.xiaomimimo.com/v1" },
  xiaomi: { apiBase: "https://api.xiaomimimo.com/v1" },
  longcat: { apiBase: "https://api.longcat.chat/openai/v1" },
  antLing: { apiBase: "https://api.ant-ling.com/v1" },
  qianfan: { apiBase: "https://qianfan.baidubce.com/v2" },
  opencode: { apiBase: "https://opencode.ai/zen/v1" },
  opencodeZen: { apiBase: "https://opencode.ai/zen/v1" },
  opencodeGo: { apiBase: "https://opencode.ai/zen/go/v1" },
  orcarouter: { apiBase: "https://api.orcarouter.ai/v1" },
  edenai: { apiBase: "https://api.edenai.run/v3" },
  skywork: { apiBase: "https://api.apifree.ai/agent/v1" },
};

export function providerName(name: string): string {
  return Object.hasOwn(ourNames, name) ? (ourNames[name] ?? name) : name;
}

/** `google/gemini-3-pro` as `gemini/gemini-3-pro`. */
export function modelLabel(label: string): string {
  const slash = label.indexOf("/");
  return slash === -1 ? label : `${providerName(label.slice(0, slash))}${label.slice(slash)}`;
}

/** The address that its name stood for; undefined where nobody here knows one. */
export function withAddress(name: string, section: JsonObject): JsonObject | undefined {
  if (typeof section.apiBase === "string" && section.apiBase !== "") return section;
  if (Object.hasOwn(presets, name)) return section;
  const address = Object.hasOwn(addresses, name) ? addresses[name] : undefined;
  return address === undefined ? undefined : { ...section, ...address };
}
