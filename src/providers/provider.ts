import type { ProviderError } from "../errors.js";
import type { ImagePart, TextPart, ThinkingPart, ToolResultPart, ToolUsePart, Usage } from "../events/content.js";
import type { AnswerChunk, TokenPrice } from "../events/machines/input.js";

/** One entry of the conversation as every provider understands it. */
export type ModelMessage =
  | { readonly role: "user"; readonly content: readonly (TextPart | ImagePart)[] }
  | { readonly role: "assistant"; readonly content: readonly (TextPart | ThinkingPart | ToolUsePart)[] }
  /** The results of the assistant message directly before it, one for each of its calls, in call order. */
  | { readonly role: "tool"; readonly content: readonly ToolResultPart[] };

/** A tool as the model sees it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** How much a model may think before it answers: in words, or as an upper bound in tokens. */
export type Thinking = "off" | "low" | "medium" | "high" | number;

export interface ModelRequest {
  /** The provider's own id of the model, without our provider prefix. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** Sorted by name. */
  readonly tools: readonly ToolDeclaration[];
  /** Upper bound of the answer, in tokens. */
  readonly maxTokens: number;
  readonly temperature?: number | undefined;
  /** Absent: as the model does by itself. */
  readonly thinking?: Thinking | undefined;
  /** Called with the running totals whenever the stream names some: an answer that is cut has no `end` to tell them. */
  readonly onUsage?: ((named: NamedUsage) => void) | undefined;
  /** Called with the whole body of each HTTP request when it is on its way. */
  readonly onSend?: ((body: Uint8Array) => void) | undefined;
}

/** What a model's answer is made of, in the order of arrival. The last one is `end`. */
export type ProviderChunk = AnswerChunk;

/** What the provider says that an answer has used. */
export interface NamedUsage {
  readonly usage: Usage;
  readonly costUsd?: number | undefined;
}

/** One model API behind one address. Translates and streams; decides nothing and never retries. */
export interface Provider {
  /** Key in the config file, e.g. `openai`. */
  readonly name: string;

  /**
   * Streams one answer. Closes the connection when `signal` aborts or the iteration is left. Unknown kinds of chunks
   * on the wire are skipped.
   *
   * @throws {ProviderError} for every failure but an abort; `garbage` when the stream ends without its end
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderChunk>;
}

/** A model that was chosen for a turn. */
export interface ChosenModel {
  readonly provider: Provider;
  /** As people write it in the config: `anthropic/claude-…` or an entry of `models`. */
  readonly label: string;
  /** As the provider's API wants it. */
  readonly model: string;
  /** Why this provider was chosen for the label, as the end of a sentence. */
  readonly why?: string | undefined;
  readonly maxTokens: number;
  /** Tokens that fit into a request and its answer together. */
  readonly contextWindow: number;
  readonly temperature: number | undefined;
  readonly thinking: Thinking | undefined;
  /** Absent: nobody knows what it costs. */
  readonly price: TokenPrice | undefined;
  readonly supportsImages: boolean;
}

/** The models that may answer a turn: the chosen one, and those that stand in for it when it fails. */
export interface ModelChain {
  /** In the order in which to ask now: the chosen one first, those at rest last. Never empty. */
  candidates(): readonly ChosenModel[];
  /** A call has failed for good. Lets the model rest for a while; says whether another one may answer in its place. */
  failed(model: ChosenModel, error: ProviderError): { readonly next: boolean };
  /** A call was answered: the model needs no rest. */
  answered(model: ChosenModel): void;
}
