import { ProviderError } from "../../errors.js";
import type { Usage } from "../../events/content.js";
import type { AnswerReader } from "../model-call.js";
import type { ProviderChunk } from "../provider.js";
import { chunkSchema, type WireDelta, type WireUsage } from "./chunk.js";
import { createToolCallReader } from "./tool-calls.js";

/** Reads the events of one chat completions answer. */
export function createChatReader(provider: string): AnswerReader {
  const calls = createToolCallReader();
  let finishReason: string | undefined;
  let hasRefused = false;
  let usage: WireUsage | undefined;

  function* readDelta(delta: WireDelta): Generator<ProviderChunk> {
    const thinking = delta.reasoning_content || delta.reasoning;
    if (thinking) yield { kind: "thinking", text: thinking };
    if (delta.content) yield { kind: "text", text: delta.content };
    if (delta.refusal) {
      hasRefused = true;
      yield { kind: "text", text: delta.refusal };
    }
    for (const call of delta.tool_calls ?? []) yield* calls.read(call);
  }

  return {
    get isComplete() {
      return finishReason !== undefined;
    },
    *read(event) {
      const chunk = chunkSchema.safeParse(event).data;
      if (chunk === undefined) return;
      const choice = chunk.choices?.[0];
      usage = chunk.usage ?? choice?.usage ?? chunk.x_groq?.usage ?? usage;
      const delta = choice?.delta ?? choice?.message;
      if (delta) yield* readDelta(delta);
      if (choice?.finish_reason === "error") {
        throw new ProviderError(`${provider} broke off its answer with an error.`, { kind: "overloaded" });
      }
      if (choice?.finish_reason) finishReason = choice.finish_reason;
    },
    *end() {
      yield* calls.end();
      yield {
        kind: "end",
        stopReason: toStopReason(finishReason, calls.count > 0, hasRefused),
        usage: toUsage(usage),
        // Of others nobody knows in which money they count.
        ...(provider === "openrouter" && typeof usage?.cost === "number" ? { costUsd: usage.cost } : {}),
      };
    },
  };
}

type EndReason = Extract<ProviderChunk, { kind: "end" }>["stopReason"];

function toStopReason(finishReason: string | undefined, hasCalls: boolean, hasRefused: boolean): EndReason {
  if (hasRefused || finishReason === "content_filter" || finishReason === "refusal") return "refusal";
  if (finishReason === "length" || finishReason === "max_tokens") return "max_tokens";
  // Some servers say `stop` after tool calls, others `tool_calls` without any.
  return hasCalls ? "tool_use" : "end_turn";
}

/** This API counts cached tokens among the prompt's; we count each token once. */
function toUsage(usage: WireUsage | undefined): Usage {
  const details = usage?.prompt_tokens_details;
  const cacheRead = details?.cached_tokens ?? usage?.prompt_cache_hit_tokens ?? usage?.cached_tokens ?? 0;
  const cacheWrite = details?.cache_write_tokens ?? 0;
  return {
    input_tokens: Math.max(0, Math.round((usage?.prompt_tokens ?? 0) - cacheRead - cacheWrite)),
    output_tokens: Math.round(usage?.completion_tokens ?? 0),
    cache_read_tokens: Math.round(cacheRead),
    cache_write_tokens: Math.round(cacheWrite),
  };
}
