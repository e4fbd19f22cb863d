import { withoutSlashes } from "../../util/text/trim-where.js";
import { createAdjustmentMemory } from "../adjustments.js";
import { callModel, type HttpProviderOptions, secretsOf } from "../model-call.js";
import type { Provider } from "../provider.js";
import { askServer, type CallHeaders } from "../wire/refusal.js";
import { defaultTimeLimits } from "../wire/timeouts.js";
import { eventsOfWhole } from "./event.js";
import { MessagesReader } from "./read-answer.js";
import { toMessagesRequest } from "./request.js";

/** The only one there is: what an answer looks like depends on it. https://docs.claude.com/en/api/versioning */
const apiVersion = "2023-06-01";

/** Anthropic, or a server that speaks its messages API. */
export function createAnthropicProvider(options: HttpProviderOptions): Provider {
  const limits = { ...defaultTimeLimits, ...options.limits };
  const apiBase = toMessagesBase(options.apiBase);
  const failure = {
    provider: options.name,
    apiBase,
    secrets: secretsOf(options),
  };
  const memory = createAdjustmentMemory();
  const own = { "anthropic-version": apiVersion, ...authHeaders(options.apiKey, apiBase) };
  const headers = { own, configured: options.headers };

  return {
    name: options.name,
    stream: (request, signal) =>
      memory.adjusting(request, async function* (known) {
        const { onSend } = request;
        const body = await toMessagesRequest(request, known);
        yield* callModel(
          {
            limits,
            failure,
            reader: new MessagesReader(),
            onUsage: request.onUsage,
            send: (callSignal) => askServer(`${apiBase}/v1/messages`, body, { ...headers, onSend }, callSignal),
            eventsOfWhole,
          },
          signal,
        );
      }),
  };
}

/** Other servers with this API read the key as a bearer token. */
function authHeaders(apiKey: string | undefined, baseURL: string): CallHeaders {
  if (apiKey === undefined || apiKey === "") return {};
  const isAnthropic = URL.canParse(baseURL) && new URL(baseURL).hostname === "api.anthropic.com";
  return { "x-api-key": apiKey, authorization: isAnthropic ? undefined : `Bearer ${apiKey}` };
}

/** People write what they see in other tools. */
function toMessagesBase(apiBase: string): string {
  return withoutSlashes(apiBase)
    .replace(/(\/v1)?\/messages$/, "")
    .replace(/\/v1$/, "");
}
