import type { TokenPrice } from "../../events/machines/input.js";
import { presets } from "./presets.js";

/** When the table was put together, from the providers' price lists and models.dev. Prices in the config go before it. */
export const pricesAsOf = "2026-10-08";

type Row = readonly [input: number, output: number, cacheRead?: number, cacheWrite?: number];
type Tiered = readonly [base: Row, aboveTokens: number, above: Row];

/** USD for a million tokens, by provider and model. `Tiered`: long prompts cost more. */
const table: Readonly<Record<string, Readonly<Record<string, Row | Tiered>>>> = {
  anthropic: {
    "claude-fable-5-1": [10, 50, 0.25, 12.5],
    "claude-fable-5": [10, 50, 1, 12.5],
    "claude-opus-5-5": [4, 20, 0.2, 5],
    "claude-opus-5": [5, 25, 0.5, 6.25],
    "claude-opus-4-8": [5, 25, 0.5, 6.25],
    "claude-opus-4-7": [5, 25, 0.5, 6.25],
    "claude-opus-4-6": [5, 25, 0.5, 6.25],
    "claude-opus-4-5": [5, 25, 0.5, 6.25],
    "claude-sonnet-5-5": [2, 10, 0.2, 2.5],
    "claude-sonnet-5": [2, 10, 0.2, 2.5],
    "claude-sonnet-4-6": [3, 15, 0.3, 3.75],
    "claude-sonnet-4-5": [3, 15, 0.3, 3.75],
    "claude-haiku-5-5": [[0.1, 0.5, 0.01, 0.125], 100_000, [0.5, 2.5, 0.05, 0.625]],
    "claude-haiku-4-5": [1, 5, 0.1, 1.25],
  },
  openai: {
    "gpt-6-astra": [[10, 50, 1, 12.5], 200_000, [20, 75, 2, 25]],
    "gpt-5.6-sol": [[4, 20, 0.4, 5], 200_000, [8, 30, 0.8, 10]],
    "gpt-5.6-terra": [[2, 12, 0.2, 2.5], 200_000, [4, 18, 0.4, 5]],
    "gpt-5.6-luna": [[0.2, 1.2, 0.02, 0.25], 200_000, [0.4, 1.8, 0.04, 0.5]],
    "gpt-5.6": [[4, 20, 0.4, 5], 200_000, [8, 30, 0.8, 10]],
    "gpt-5.5": [[5, 30, 0.5], 200_000, [10, 45, 1]],
    "gpt-5.4": [[2.5, 15, 0.25], 200_000, [5, 22.5, 0.5]],
    "gpt-5.4-mini": [0.75, 4.5, 0.075],
    "gpt-5.4-nano": [0.2, 1.25, 0.02],
    "gpt-5.2": [1.75, 14, 0.175],
    "gpt-5.1": [1.25, 10, 0.125],
    "gpt-5": [1.25, 10, 0.125],
    "gpt-5-mini": [0.25, 2, 0.025],
    "gpt-5-nano": [0.05, 0.4, 0.005],
    "gpt-4.1": [2, 8, 0.5],
    "gpt-4.1-mini": [0.4, 1.6, 0.1],
    "gpt-4.1-nano": [0.1, 0.4, 0.025],
    "gpt-4o": [2.5, 10, 1.25],
    "gpt-4o-mini": [0.15, 0.6, 0.075],
    o3: [2, 8, 0.5],
    "o4-mini": [1.1, 4.4, 0.275],
  },
  gemini: {
    "gemini-3.8-flash": [0.75, 3.75, 0.075],
    "gemini-3.7-flash": [0.75, 3.75, 0.075],
    "gemini-3.6-flash": [0.75, 3.75, 0.075],
    "gemini-3.5-flash": [1.5, 9, 0.15],
    "gemini-3.5-flash-lite": [0.3, 2.5, 0.03],
    "gemini-3.1-pro-preview": [[2, 12, 0.2], 200_000, [4, 18, 0.4]],
    "gemini-3.1-flash-lite": [0.25, 1.5, 0.025],
    "gemini-3-flash-preview": [0.5, 3, 0.05],
    "gemini-2.5-pro": [[1.25, 10, 0.125], 200_000, [2.5, 15, 0.25]],
    "gemini-2.5-flash": [0.3, 2.5, 0.03],
    "gemini-2.5-flash-lite": [0.1, 0.4, 0.01],
  },
  deepseek: {
    "deepseek-v4-pro": [0.435, 0.87, 0.003625],
    "deepseek-v4-flash": [0.15, 0.6, 0.003],
    "deepseek-flash": [0.15, 0.6, 0.003],
  },
  zhipu: {
    "glm-5.3": [1.4, 4.4, 0.26],
    "glm-5.3-flash": [0.15, 0.5, 0.03],
    "glm-5.2": [1.4, 4.4, 0.26],
    "glm-5.1": [1.4, 4.4, 0.26],
    "glm-5": [1, 3.2, 0.2],
    "glm-4.7": [0.6, 2.2, 0.11],
    "glm-4.6": [0.6, 2.2, 0.11],
    "glm-4.5-air": [0.2, 1.1, 0.03],
  },
  moonshot: {
    "kimi-k3": [3, 15, 0.3],
    "kimi-k2.7-code": [0.95, 4, 0.19],
    "kimi-k2.6": [0.95, 4, 0.16],
  },
  minimax: {
    "MiniMax-M3": [[0.3, 1.2, 0.06], 200_000, [0.6, 2.4, 0.12]],
    "MiniMax-M2.7": [0.3, 1.2, 0.06, 0.375],
    "MiniMax-M2.5": [0.3, 1.2, 0.03, 0.375],
    "MiniMax-M2.1": [0.3, 1.2, 0.03, 0.375],
  },
  dashscope: {
    "qwen3.8-max": [2, 6, 0.25, 2.5],
    "qwen3.8-flash": [0.15, 0.47, 0.016, 0.2],
    "qwen3.7-max": [2.5, 7.5, 0.5, 3.125],
    "qwen3.7-plus": [[0.5, 3, 0.05, 0.625], 200_000, [2, 6, 0.2, 2.5]],
    "qwen3-max": [1.2, 6],
    "qwen-plus": [0.4, 1.2],
    "qwen-flash": [0.05, 0.4],
  },
  groq: {
    "llama-3.3-70b-versatile": [0.59, 0.79],
    "llama-3.1-8b-instant": [0.05, 0.08],
    "openai/gpt-oss-120b": [0.15, 0.6, 0.075],
    "openai/gpt-oss-20b": [0.075, 0.3, 0.0375],
  },
};

/** How OpenRouter calls the makers of models, where that is not our name for them. */
const makers: Readonly<Record<string, string>> = {
  google: "gemini",
  "z-ai": "zhipu",
  moonshotai: "moonshot",
  qwen: "dashscope",
};

const shipped: ReadonlyMap<string, TokenPrice> = new Map(
  Object.entries(table).flatMap(([provider, models]) =>
    Object.entries(models).map(([model, row]) => [keyOf(provider, model), toPrice(row)] as const),
  ),
);

const free: TokenPrice = { input: 0, output: 0 };

/**
 * What a model costs: as the config says by label, `provider/model` or model, else nothing where it runs on one's own
 * machine, else by the table. Undefined when nobody knows.
 */
export function priceOf(
  configured: Readonly<Record<string, TokenPrice>>,
  { label, provider, model }: { readonly label: string; readonly provider: string; readonly model: string },
): TokenPrice | undefined {
  const name = [label, `${provider}/${model}`, model].find((candidate) => Object.hasOwn(configured, candidate));
  if (name !== undefined) return configured[name];
  if (Object.hasOwn(presets, provider) && presets[provider]?.isLocal === true) return free;
  if (provider !== "openrouter") return shipped.get(keyOf(provider, model));
  const [, maker = "", id = "", variant = ""] = /^([^/]+)\/([^:]+)(?::(.*))?$/.exec(model) ?? [];
  return variant === "free" ? free : shipped.get(keyOf(makers[maker] ?? maker, id));
}

/** The models of the table, as `provider/model`. */
export function shippedPrices(): ReadonlyMap<string, TokenPrice> {
  return shipped;
}

/** Case, dots, a date and `-latest` make no other model. */
function keyOf(provider: string, model: string): string {
  const plain = model
    .toLowerCase()
    .replaceAll(".", "-")
    .replace(/-(latest|20\d{6}|20\d\d-\d\d-\d\d)$/, "");
  return `${provider}/${plain}`;
}

function toPrice(row: Row | Tiered): TokenPrice {
  if (isTiered(row)) return { ...rates(row[0]), above: { tokens: row[1], ...rates(row[2]) } };
  return rates(row);
}

function isTiered(row: Row | Tiered): row is Tiered {
  return typeof row[0] !== "number";
}

function rates([input, output, cacheRead, cacheWrite]: Row) {
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}
