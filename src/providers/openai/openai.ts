import type { OpenAI } from "openai";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { createAdjustmentMemory } from "../adjustments.js";
import { callModel, type HttpProviderOptions, secretsOf } from "../model-call.js";
import type { Provider } from "../provider.js";
import { fetchAnswer } from "../wire/refusal.js";
import { toSdkHeaders } from "../wire/sdk-headers.js";
import { defaultTimeLimits } from "../wire/timeouts.js";
import { ChatReader } from "./read-answer.js";
import { toChatRequest } from "./request.js";
import type { ThinkingHabits } from "./think-tags.js";

/** Any server that speaks OpenAI's chat completions. The SDK is loaded at the first call. */
export function createOpenAIProvider(options: HttpProviderOptions): Provider {
  const limits = { ...defaultTimeLimits, ...options.limits };
  const apiBase = toChatBase(options.apiBase);
  const failure = {
    provider: options.name,
    apiBase,
    secrets: secretsOf(options),
  };
  const memory = createAdjustmentMemory();
  const habits = new Map<string, ThinkingHabits>();
  const habitsOf = (model: string): ThinkingHabits => {
    const known = habits.get(model) ?? { opensInPrompt: false };
    habits.set(model, known);
    return known;
  };
  let client: Promise<OpenAI> | undefined;

  return {
    name: options.name,
    stream: (request, signal) =>
      memory.adjusting(request, async function* (known) {
        client ??= openClient(options, apiBase, limits.totalMs, fetchAnswer);
        const [sdk, body] = await Promise.all([client, toChatRequest(request, known)]);
        yield* callModel(
          {
            limits,
            failure,
            reader: new ChatReader(options.name, habitsOf(request.model)),
            onUsage: request.onUsage,
            send: (callSignal) => sdk.chat.completions.create(body, { signal: callSignal }).asResponse(),
            eventsOfWhole: (whole) => [whole],
          },
          signal,
        );
      }),
  };
}

/** A client that asks once, follows no redirect and takes nothing from the environment. */
export async function openClient(
  options: Pick<HttpProviderOptions, "apiKey" | "headers">,
  baseURL: string,
  totalMs: number,
  fetchWith: typeof fetchAnswer = fetch,
): Promise<OpenAI> {
  const { OpenAI } = await import("openai");
  const hasKey = options.apiKey !== undefined && options.apiKey !== "";
  return new OpenAI({
    // What is not given here the SDK takes from OPENAI_* variables, which belong to another address.
    baseURL,
    apiKey: hasKey ? options.apiKey : "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: toSdkHeaders(
      process.env.OPENAI_CUSTOM_HEADERS,
      { authorization: hasKey ? `Bearer ${options.apiKey}` : null },
      options.headers,
    ),
    fetch: fetchWith,
    // A redirect would carry the key to another address.
    fetchOptions: { redirect: "manual" },
    maxRetries: 0,
    // The watch is stricter; this only keeps the SDK's own limit out of the way.
    timeout: totalMs + 60_000,
    logLevel: "off",
  });
}

/** People write the server's root or the whole path of the call; the SDK wants what is before the call's own part. */
export function toChatBase(apiBase: string): string {
  const base = withoutSlashes(apiBase).replace(/\/(chat\/completions|audio\/transcriptions)$/, "");
  return /^https?:\/\/[^/]+$/.test(base) ? `${base}/v1` : base;
}
