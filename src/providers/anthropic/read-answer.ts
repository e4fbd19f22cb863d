import type { Usage } from "../../events/content.js";
import { newId } from "../../util/ids.js";
import type { AnswerReader } from "../model-call.js";
import type { NamedUsage, ProviderChunk } from "../provider.js";
import { eventSchema, type WireBlock, type WireDelta, type WireUsage } from "./event.js";
import { toRedacted } from "./redacted.js";

interface OpenCall {
  readonly id: string;
  /** Given at the start by servers that do not stream it. */
  readonly input: Readonly<Record<string, unknown>>;
  hasPieces: boolean;
}

/** Reads the events of one messages answer. */
export class MessagesReader implements AnswerReader {
  readonly #calls = new Map<number, OpenCall>();
  readonly #usage: WireUsage = {};
  #named: NamedUsage | undefined;
  #stopReason: string | undefined;

  get isComplete(): boolean {
    return this.#stopReason !== undefined;
  }

  get named(): NamedUsage | undefined {
    return this.#named;
  }

  *read(raw: unknown): Generator<ProviderChunk> {
    const event = eventSchema.safeParse(raw).data;
    switch (event?.type) {
      case undefined:
        return;
      case "message_start":
        this.#take(event.message.usage);
        return;
      case "content_block_start":
        yield* this.#start(event.index, event.content_block);
        return;
      case "content_block_delta":
        yield* this.#readDelta(event.index, event.delta);
        return;
      case "content_block_stop": {
        const call = this.#calls.get(event.index);
        if (call !== undefined && !call.hasPieces && Object.keys(call.input).length > 0) {
          call.hasPieces = true;
          yield { kind: "tool_input", id: call.id, json: JSON.stringify(call.input) };
        }
        return;
      }
      case "message_delta":
        this.#take(event.usage);
        if (event.delta?.stop_reason) this.#stopReason = event.delta.stop_reason;
        return;
      case "message_stop":
        this.close(true);
        return;
      default:
        event satisfies never;
    }
  }

  close(isSaid: boolean): void {
    if (isSaid) this.#stopReason ??= "end_turn";
  }

  *end(): Generator<ProviderChunk> {
    const stopReason = toStopReason(this.#stopReason, this.#calls.size > 0);
    yield { kind: "end", stopReason, usage: toUsage(this.#usage) };
  }

  *#start(index: number, block: WireBlock): Generator<ProviderChunk> {
    switch (block.type) {
      case "text":
        if (block.text) yield { kind: "text", text: block.text };
        return;
      case "thinking":
        if (block.thinking) yield { kind: "thinking", text: block.thinking };
        if (block.signature) yield { kind: "thinking_signature", signature: block.signature };
        return;
      case "redacted_thinking":
        yield { kind: "thinking_signature", signature: toRedacted(block.data) };
        return;
      case "tool_use": {
        const isTaken = [...this.#calls.values()].some((call) => call.id === block.id);
        const id = block.id && !isTaken ? block.id : newId("call");
        this.#calls.set(index, { id, input: block.input ?? {}, hasPieces: false });
        yield { kind: "tool_call", id, name: block.name || "unknown" };
        return;
      }
      default:
        block satisfies never;
    }
  }

  *#readDelta(index: number, delta: WireDelta): Generator<ProviderChunk> {
    if (delta.type === "text_delta" && delta.text !== "") yield { kind: "text", text: delta.text };
    if (delta.type === "thinking_delta" && delta.thinking !== "") yield { kind: "thinking", text: delta.thinking };
    if (delta.type === "signature_delta") yield { kind: "thinking_signature", signature: delta.signature };
    const call = this.#calls.get(index);
    if (delta.type === "input_json_delta" && delta.partial_json !== "" && call !== undefined) {
      call.hasPieces = true;
      yield { kind: "tool_input", id: call.id, json: delta.partial_json };
    }
  }

  /** Later counts replace earlier ones: they are running totals. */
  #take(named: WireUsage | null | undefined): void {
    const counts = Object.entries(named ?? {}).filter(([, value]) => typeof value === "number");
    if (counts.length === 0) return;
    Object.assign(this.#usage, Object.fromEntries(counts));
    this.#named = { usage: toUsage(this.#usage) };
  }
}

type EndReason = Extract<ProviderChunk, { kind: "end" }>["stopReason"];

function toStopReason(reason: string | undefined, hasCalls: boolean): EndReason {
  if (reason === "refusal") return "refusal";
  if (reason === "max_tokens" || reason === "model_context_window_exceeded") return "max_tokens";
  return hasCalls ? "tool_use" : "end_turn";
}

function toUsage(usage: WireUsage): Usage {
  return {
    input_tokens: Math.round(usage.input_tokens ?? 0),
    output_tokens: Math.round(usage.output_tokens ?? 0),
    cache_read_tokens: Math.round(usage.cache_read_input_tokens ?? 0),
    cache_write_tokens: Math.round(usage.cache_creation_input_tokens ?? 0),
  };
}
