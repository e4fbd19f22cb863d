import type { Usage } from "../events/content.js";
import { noUsage } from "../events/content.js";
import type { NamedUsage, ProviderChunk } from "./provider.js";
import { sizes } from "./request/sizes.js";

/** Measures an answer while it comes, and cuts it where it is longer than is taken. */
export class AnswerMeter {
  #characters = 0;
  #calls = 0;
  #isFull = false;

  /** True once something had to be left out: nothing that comes behind it is of use. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The chunks up to the limit. */
  *within(chunks: Iterable<ProviderChunk>): Generator<ProviderChunk> {
    for (const chunk of chunks) {
      const fitting = this.#fitting(chunk);
      if (fitting !== undefined) yield fitting;
      if (this.#isFull) return;
    }
  }

  /** The end of an answer that was cut. */
  end(named: NamedUsage | undefined): ProviderChunk {
    const usage: Usage = named?.usage ?? noUsage;
    return { kind: "end", stopReason: "max_tokens", usage, isCut: true };
  }

  #fitting(chunk: ProviderChunk): ProviderChunk | undefined {
    if (chunk.kind === "tool_call") {
      this.#calls += 1;
      this.#isFull = this.#calls > sizes.toolCalls;
      return this.#isFull ? undefined : chunk;
    }
    if (chunk.kind === "end" || chunk.kind === "was_thinking") return chunk;
    const room = sizes.answerCharacters - this.#characters;
    const length = lengthOf(chunk);
    this.#characters += length;
    if (length <= room) return chunk;
    this.#isFull = true;
    if (chunk.kind !== "text" && chunk.kind !== "thinking") return undefined;
    return { ...chunk, text: cutWithin(chunk.text, room) };
  }
}

function lengthOf(chunk: Exclude<ProviderChunk, { readonly kind: "end" | "tool_call" | "was_thinking" }>): number {
  if (chunk.kind === "tool_input") return chunk.json.length;
  return chunk.kind === "thinking_signature" ? chunk.signature.length : chunk.text.length;
}

/** Never between the halves of one character. */
function cutWithin(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
