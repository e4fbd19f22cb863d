import type { Anthropic } from "@anthropic-ai/sdk";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { createAdjustmentMemory } from "../adjustments.js";
import { callModel, type HttpProviderOptions, secretsOf } from "../model-call.js";
import type { Provider } from "../provider.js";
import { fetchAnswer } from "../wire/refusal.js";
import { toSdkHeaders } from "../wire/sdk-headers.js";
import { defaultTimeLimits } from "../wire/timeouts.js";
import { eventsOfWhole } from "./event.js";
import { MessagesReader } from "./read-answer.js";
import { toMessagesRequest } from "./request.js";

/** Anthropic, or a server that speaks its messages API. The SDK is loaded at the first call. */
export function createAnthropicProvider(options: HttpProviderOptions): Provider {
  const limits = { ...defaultTimeLimits, ...options.limits };
  const apiBase = toMessagesBase(options.apiBase);
  const failure = {
    provider: options.name,
    apiBase,
    secrets: secretsOf(options),
  };
  const memory = createAdjustmentMemory();
  let client: Promise<Anthropic> | undefined;

  return {
    name: options.name,
    stream: (request, signal) =>
      memory.adjusting(request, async function* (known) {
        client ??= openClient(options, apiBase, limits.totalMs);
        const [sdk, body] = await Promise.all([client, toMessagesRequest(request, known)]);
        yield* callModel(
          {
            limits,
            failure,
            reader: new MessagesReader(),
            onUsage: request.onUsage,
            send: (callSignal) => sdk.messages.create(body, { signal: callSignal }).asResponse(),
            eventsOfWhole,
          },
          signal,
        );
      }),
  };
}

async function openClient(options: HttpProviderOptions, baseURL: string, totalMs: number): Promise<Anthropic> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const apiKey = options.apiKey === "" ? undefined : options.apiKey;
  return new Anthropic({
    // What is not given here the SDK takes from ANTHROPIC_* variables, which belong to another address.
    baseURL,
    apiKey: apiKey ?? "none",
    webhookKey: null,
    defaultHeaders: toSdkHeaders(process.env.ANTHROPIC_CUSTOM_HEADERS, authHeaders(apiKey, baseURL), options.headers),
    fetch: fetchAnswer,
    // A redirect would carry the key to another address.
    fetchOptions: { redirect: "manual" },
    maxRetries: 0,
    // The watch is stricter; this only keeps the SDK's own limit out of the way.
    timeout: totalMs + 60_000,
    logLevel: "off",
    openTelemetry: false,
  });
}

/** Other servers with this API read the key as a bearer token. */
function authHeaders(apiKey: string | undefined, baseURL: string): Record<string, string | null> {
  if (apiKey === undefined) return { "x-api-key": null, authorization: null };
  const isAnthropic = URL.canParse(baseURL) && new URL(baseURL).hostname === "api.anthropic.com";
  return { "x-api-key": apiKey, authorization: isAnthropic ? null : `Bearer ${apiKey}` };
}

/** The SDK adds `/v1/messages` itself; people write what they see in other tools. */
function toMessagesBase(apiBase: string): string {
  return withoutSlashes(apiBase)
    .replace(/(\/v1)?\/messages$/, "")
    .replace(/\/v1$/, "");
}
