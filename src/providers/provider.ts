import type {
  ImagePart,
  StopReason,
  TextPart,
  ThinkingPart,
  ToolResultPart,
  ToolUsePart,
  Usage,
} from "../events/content.js";

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
}

/** What a model's answer is made of, in the order of arrival. The last one is `end`. */
export type ProviderChunk =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  /** Closes the thinking so far with the provider's proof of it. */
  | { readonly kind: "thinking_signature"; readonly signature: string }
  | { readonly kind: "tool_call"; readonly id: string; readonly name: string }
  /** A piece of the call's JSON. Pieces of several calls may alternate. */
  | { readonly kind: "tool_input"; readonly id: string; readonly json: string }
  | { readonly kind: "end"; readonly stopReason: Exclude<StopReason, "interrupted" | "error">; readonly usage: Usage };

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

/** USD for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** A model that was chosen for a turn. */
export interface ChosenModel {
  readonly provider: Provider;
  /** As people write it in the config: `anthropic/claude-…` or an entry of `models`. */
  readonly label: string;
  /** As the provider's API wants it. */
  readonly model: string;
  readonly maxTokens: number;
  /** Tokens that fit into a request and its answer together. */
  readonly contextWindow: number;
  readonly temperature: number | undefined;
  readonly price: Price | undefined;
  readonly supportsImages: boolean;
}
