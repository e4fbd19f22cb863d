import type {
  ContentPart,
  ImagePart,
  TextPart,
  ThinkingPart,
  ToolResultPart,
  ToolUsePart,
} from "../../events/content.js";
import { tokensOf, tokensOfResult } from "../../events/content-tokens.js";

export type UserContent = readonly (TextPart | ImagePart)[];
export type AssistantContent = readonly (TextPart | ThinkingPart | ToolUsePart)[];

/** One message as a model may read it; structurally what providers take. */
export type HistoryMessage =
  | { readonly role: "user"; readonly content: UserContent }
  | { readonly role: "assistant"; readonly content: AssistantContent }
  | { readonly role: "tool"; readonly content: readonly ToolResultPart[] };

/** Whose message it is. */
export interface Writer {
  /** What they were when they wrote; absent in old logs. */
  readonly role?: "owner" | "guest" | undefined;
  /** Absent where the log does not tell. */
  readonly channel?: string | undefined;
  readonly senderId?: string | undefined;
  readonly name?: string | undefined;
}

export interface UserEntry {
  readonly role: "user";
  readonly seq: number;
  readonly turnId: string | undefined;
  readonly content: UserContent;
  /** Where those parts came from that the sender did not write. */
  readonly outside: readonly string[];
  /** Of the message, or of those that a summary is of. */
  readonly writers: readonly Writer[];
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
  /** Where results came from that others wrote, or what the message itself was composed under. */
  outside: readonly string[];
  /** The message once its turn has ended, where that is another one: without thinking. */
  readonly rested: { readonly role: "assistant"; readonly content: AssistantContent } | undefined;
  /** The message with the results of its calls. */
  tokens: number;
}

/** The messages of one turn, as many as are still there. */
export interface TurnOfHistory {
  readonly turnId: string | undefined;
  /** How many messages; results count with their call. */
  readonly size: number;
  /** Estimated. */
  readonly tokens: number;
}

/** Oldest first. */
export function turnsOf(entries: readonly (UserEntry | AssistantEntry)[]): readonly TurnOfHistory[] {
  const turns: { turnId: string | undefined; size: number; tokens: number }[] = [];
  for (const { role, turnId, tokens } of entries) {
    const last = turns.at(-1);
    const goesOn = last !== undefined && last.turnId === turnId && (turnId !== undefined || role === "assistant");
    if (!goesOn) turns.push({ turnId, size: 1, tokens });
    else {
      last.size += 1;
      last.tokens += tokens;
    }
  }
  return turns;
}

/** So many messages are looked through for a writer. */
const lookedAt = 20;

/** Nobody can say any more what of a restored message others wrote. */
export const restoredOutside = "messages that were brought back after damage";

/** What the model is told about a call that has no result: the process ended while it ran. */
export const interruptedResult =
  "interrupted: the gateway stopped while this call ran, so its outcome is unknown. Check before doing it again.";

/** What a call brought, or what is known about one that was interrupted. */
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

/** Tells what guests wrote from all other text of others. */
export function isOfGuest(source: string): boolean {
  return /^what .+ wrote here$/s.test(source);
}

/** What the writer wrote, for people. */
export function nameOfTexts({ name = "somebody else" }: Writer): string {
  return `what ${name.slice(0, 40)} wrote here`;
}

export function differentWriters(writers: readonly Writer[]): readonly Writer[] {
  const byName = new Map(writers.map((writer) => [JSON.stringify(writer), writer]));
  return [...byName.values()];
}

/** What of a message goes to models. */
export function forUser(parts: readonly ContentPart[]): UserContent {
  return parts.filter((part): part is TextPart | ImagePart => part.type === "text" || part.type === "image").slice();
}

/** Of answers without calls, which never get one. */
export const noResults: Map<string, ToolResultPart> = new Map();
export const noCalls: readonly ToolUsePart[] = [];
/** Of messages that nobody else had a say in. */
export const nowhere: readonly string[] = [];

/** A person's message as it enters the context. */
export function toUserEntry(
  { seq, turnId, content, writers }: Pick<UserEntry, "seq" | "turnId" | "content" | "writers">,
  outside?: string,
): UserEntry {
  const sources = outside === undefined ? nowhere : [outside];
  return { role: "user", seq, turnId, content, tokens: tokensOf(content), outside: sources, writers };
}

/** Its writer as a list: the one that a message shortly before has, where it was the same. There are many of these, of few writers. */
export function writersOf(entries: readonly (UserEntry | AssistantEntry)[], writer: Writer): readonly Writer[] {
  for (let at = entries.length - 1; at >= Math.max(0, entries.length - lookedAt); at -= 1) {
    const entry = entries[at];
    if (entry?.role === "user" && isOf(entry.writers, writer)) return entry.writers;
  }
  return [writer];
}

function isOf([first, ...others]: readonly Writer[], { role, channel, senderId, name }: Writer): boolean {
  if (first === undefined || others.length > 0) return false;
  return first.role === role && first.channel === channel && first.senderId === senderId && first.name === name;
}

/** An answer as it enters the context. Copies have no room to grow: there are many of these. */
export function toAssistantEntry(
  seq: number,
  turnId: string | undefined,
  { content: parts, model }: { readonly content: readonly ContentPart[]; readonly model: string },
  outside?: string,
): AssistantEntry {
  const content: (TextPart | ThinkingPart | ToolUsePart)[] = [];
  const calls: ToolUsePart[] = [];
  for (const part of parts) {
    if (part.type === "thinking" || (part.type === "text" && part.text !== "")) content.push(part);
    if (part.type !== "tool_use" || calls.some((call) => call.id === part.id)) continue;
    const call = { ...part, name: acceptableName(part.name) };
    content.push(call);
    calls.push(call);
  }
  const own = content.slice();
  const hasThinking = own.some(({ type }) => type === "thinking");
  return {
    role: "assistant",
    seq,
    turnId,
    model,
    content: own,
    calls: calls.length === 0 ? noCalls : calls.slice(),
    results: calls.length === 0 ? noResults : new Map(),
    outside: outside === undefined ? nowhere : [outside],
    rested: hasThinking ? { role: "assistant", content: own.filter((part) => part.type !== "thinking") } : undefined,
    tokens: tokensOf(own),
  };
}

/** A name that a model made up must not make every later request fail: providers check it against this pattern. */
export function acceptableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

export function withoutImages({ images, ...result }: ToolResultPart): ToolResultPart {
  return result;
}

/** What is used instead of the messages that were summarised. */
export function summaryText(summary: string): string {
  return `<summary>\nThe conversation before this, summarised because it had grown too long:\n${summary}\n</summary>`;
}
