import type { ImagePart, TextPart, ThinkingPart, ToolResultPart, ToolUsePart } from "../events/content.js";
import { tokensOfResult } from "./content-tokens.js";

export type UserContent = readonly (TextPart | ImagePart)[];
export type AssistantContent = readonly (TextPart | ThinkingPart | ToolUsePart)[];

/** One message as a model may read it; structurally what providers take. */
export type HistoryMessage =
  | { readonly role: "user"; readonly content: UserContent }
  | { readonly role: "assistant"; readonly content: AssistantContent }
  | { readonly role: "tool"; readonly content: readonly ToolResultPart[] };

export interface UserEntry {
  readonly role: "user";
  readonly seq: number;
  readonly turnId: string | undefined;
  readonly content: UserContent;
  /** Where those parts came from that the sender did not write. */
  readonly outside: readonly string[];
  readonly isSummary?: true;
  readonly tokens: number;
}

export interface AssistantEntry {
  readonly role: "assistant";
  readonly seq: number;
  readonly turnId: string | undefined;
  readonly isSummary?: never;
  readonly model: string;
  readonly content: AssistantContent;
  readonly calls: readonly ToolUsePart[];
  readonly results: Map<string, ToolResultPart>;
  /** Where results came from that others wrote. */
  readonly outside: string[];
  /** The calls with such results. */
  readonly foreign: Set<string>;
  /** The message once its turn has ended: without thinking. */
  readonly rested: { readonly role: "assistant"; readonly content: AssistantContent };
  /** The message with the results of its calls. */
  tokens: number;
}

/** What the model is told of a call that has no result: the process ended while it ran. */
export const interruptedResult =
  "interrupted: the gateway stopped while this call ran, so its outcome is unknown. Check before doing it again.";

/** What a call brought, or what is known of one that was interrupted. */
export function resultOf(entry: AssistantEntry, call: ToolUsePart): ToolResultPart {
  return (
    entry.results.get(call.id) ?? {
      type: "tool_result",
      tool_call_id: call.id,
      content: interruptedResult,
      is_error: true,
    }
  );
}

export function tokensOfResults({ results }: AssistantEntry): number {
  return [...results.values()].reduce((sum, result) => sum + tokensOfResult(result), 0);
}
