import { withoutSlashes } from "../../util/text/trim-where.js";
import { createAdjustmentMemory } from "../adjustments.js";
import { callModel, type HttpProviderOptions, secretsOf } from "../model-call.js";
import type { Provider } from "../provider.js";
import { askServer } from "../wire/refusal.js";
import { defaultTimeLimits } from "../wire/timeouts.js";
import { ChatReader } from "./read-answer.js";
import { toChatRequest } from "./request.js";
import type { ThinkingHabits } from "./think-tags.js";

/** Any server that speaks OpenAI's chat completions. */
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
  const { apiKey = "", headers: configured } = options;
  const headers = { own: { authorization: apiKey === "" ? undefined : `Bearer ${apiKey}` }, configured };

  return {
    name: options.name,
    stream: (request, signal) =>
      memory.adjusting(request, async function* (known) {
        const { onSend } = request;
        const body = await toChatRequest(request, known);
        yield* callModel(
          {
            limits,
            failure,
            reader: new ChatReader(options.name, habitsOf(request.model)),
            onUsage: request.onUsage,
            send: (callSignal) => askServer(`${apiBase}/chat/completions`, body, { ...headers, onSend }, callSignal),
            eventsOfWhole: (whole) => [whole],
          },
          signal,
        );
      }),
  };
}

/** People write the server's root or the whole path of the call; calls add their own part to what is before it. */
export function toChatBase(apiBase: string): string {
  const base = withoutSlashes(apiBase).replace(/\/(chat\/completions|audio\/transcriptions)$/, "");
  return /^https?:\/\/[^/]+$/.test(base) ? `${base}/v1` : base;
}
