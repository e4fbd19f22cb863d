import { ProviderError } from "../../errors.js";
import type { Usage } from "../../events/content.js";
import type { AnswerReader } from "../model-call.js";
import type { NamedUsage, ProviderChunk } from "../provider.js";
import { chunkSchema, type WireDelta, type WireUsage } from "./chunk.js";
import { piecesOf, type SaidPiece } from "./content.js";
import { toGoogleSignature } from "./google-signature.js";
import { type ThinkingHabits, ThinkTags } from "./think-tags.js";
import { createToolCallReader, type ToolCallReader } from "./tool-calls.js";

/** Reads the events of one chat completions answer. */
export class ChatReader implements AnswerReader {
  readonly #provider: string;
  readonly #tags: ThinkTags;
  readonly #calls: ToolCallReader = createToolCallReader();
  #finishReason: string | undefined;
  #hasRefused = false;
  #hasSaid = false;
  /** The usage came by itself, which is the last event of a stream. */
  #hasLastUsage = false;
  #usage: WireUsage | undefined;
  #named: NamedUsage | undefined;

  constructor(provider: string, habits: ThinkingHabits) {
    this.#provider = provider;
    this.#tags = new ThinkTags(habits);
  }

  get isComplete(): boolean {
    return this.#finishReason !== undefined;
  }

  get named(): NamedUsage | undefined {
    return this.#named;
  }

  *read(event: unknown): Generator<ProviderChunk> {
    const chunk = chunkSchema.safeParse(event).data;
    if (chunk === undefined) return;
    const choice = chunk.choices?.[0];
    const usage = chunk.usage ?? choice?.usage ?? chunk.x_groq?.usage;
    if (usage) {
      this.#usage = usage;
      this.#named = { usage: toUsage(usage), ...costOf(this.#provider, usage) };
      this.#hasLastUsage = choice === undefined;
    }
    const delta = choice?.delta ?? choice?.message;
    if (delta) yield* this.#readDelta(delta);
    if (choice?.text) yield* this.#say({ kind: "text", text: choice.text });
    const reason = choice?.finish_reason ?? "";
    if (/^(error|network_error|insufficient_system_resource)$/.test(reason)) {
      const message = `${this.#provider} broke off its answer with an error.`;
      throw new ProviderError(message, { kind: "overloaded", provider: this.#provider });
    }
    if (reason !== "" && reason !== "null") this.#finishReason = reason;
  }

  close(isSaid: boolean): void {
    // Without any reason a stream that just ends may have been cut; unless all is there that is behind an answer.
    if (isSaid || (this.#hasLastUsage && this.#hasSaid)) this.#finishReason ??= "stop";
  }

  *end(): Generator<ProviderChunk> {
    const stopReason = toStopReason(this.#finishReason, this.#calls.count > 0, this.#hasRefused);
    yield* this.#tags.close(stopReason === "end_turn");
    yield* this.#calls.end();
    yield { kind: "end", stopReason, usage: toUsage(this.#usage), ...costOf(this.#provider, this.#usage) };
  }

  *#readDelta(delta: WireDelta): Generator<ProviderChunk> {
    const thinking = [delta.reasoning_content, delta.reasoning, delta.reasoning_details]
      .map((field) => piecesOf(field, "thinking"))
      .find((pieces) => pieces.length > 0);
    for (const piece of thinking ?? []) yield* this.#say({ ...piece, kind: "thinking" });
    for (const piece of piecesOf(delta.content)) yield* this.#say(piece);
    if (delta.refusal) {
      this.#hasRefused = true;
      yield* this.#say({ kind: "text", text: delta.refusal });
    }
    const calls = delta.tool_calls ?? (delta.function_call ? [{ index: 0, function: delta.function_call }] : []);
    for (const [index, call] of calls.entries()) {
      this.#hasSaid = true;
      yield* this.#tags.close(false);
      const signature = call.extra_content?.google?.thought_signature;
      if (signature) yield { kind: "thinking_signature", signature: toGoogleSignature(signature) };
      yield* this.#calls.read(call, calls.length > 1 ? index : undefined);
    }
  }

  *#say({ kind, text }: SaidPiece): Generator<ProviderChunk> {
    this.#hasSaid = true;
    if (kind === "text") return yield* this.#tags.read(text);
    this.#tags.ownField();
    yield { kind, text };
  }
}

/** What OpenRouter says about the cost. Of others nobody knows in which money they count. */
function costOf(provider: string, usage: WireUsage | undefined): { readonly costUsd?: number } {
  return provider === "openrouter" && typeof usage?.cost === "number" ? { costUsd: usage.cost } : {};
}

type EndReason = Extract<ProviderChunk, { kind: "end" }>["stopReason"];

function toStopReason(finishReason: string | undefined, hasCalls: boolean, hasRefused: boolean): EndReason {
  if (hasRefused || /^(content_filter|refusal|sensitive)$/.test(finishReason ?? "")) return "refusal";
  if (/^(length|max_tokens|model_context_window_exceeded)$/.test(finishReason ?? "")) return "max_tokens";
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
