import type { ContentPart, ImagePart, TextPart, ThinkingPart, ToolResultPart, ToolUsePart } from "../events/content.js";
import type { StoredEvent } from "../events/event.js";

type UserContent = readonly (TextPart | ImagePart)[];
type AssistantContent = readonly (TextPart | ThinkingPart | ToolUsePart)[];

/** One message as a model may read it; structurally what providers take. */
export type HistoryMessage =
  | { readonly role: "user"; readonly content: UserContent }
  | { readonly role: "assistant"; readonly content: AssistantContent }
  | { readonly role: "tool"; readonly content: readonly ToolResultPart[] };

interface UserEntry {
  readonly role: "user";
  readonly seq: number;
  readonly content: UserContent;
}

interface AssistantEntry {
  readonly role: "assistant";
  readonly seq: number;
  readonly turnId: string | undefined;
  readonly content: AssistantContent;
  readonly calls: readonly ToolUsePart[];
  readonly results: Map<string, ToolResultPart>;
  /** The message once its turn has ended: without thinking. */
  readonly rested: { readonly role: "assistant"; readonly content: AssistantContent };
}

/** What the model is told of a call that has no result: the process ended while it ran. */
export const interruptedResult =
  "interrupted: the gateway stopped while this call ran, so its outcome is unknown. Check before doing it again.";

/**
 * A session as models see it: a fold over the session's events. Whatever the order of aborts, crashes and late
 * results, {@link toMessages} gives a list in which each call has exactly one result, directly behind it.
 */
export class History {
  readonly #entries: (UserEntry | AssistantEntry)[] = [];

  apply(event: StoredEvent): void {
    switch (event.type) {
      case "user_message":
        this.#entries.push({ role: "user", seq: event.seq, content: forUser(event.payload.content) });
        return;
      case "assistant_message":
        if (event.source !== "gateway") this.#addAssistant(event.seq, event.turn_id, event.payload.content);
        return;
      case "tool_execution_complete":
        this.#addResult({
          type: "tool_result",
          tool_call_id: event.payload.tool_call_id,
          content: event.payload.output,
          is_error: event.payload.is_error,
        });
        return;
      case "session_history_changed":
        this.#change(event.payload, event.seq);
        return;
      default:
        return;
    }
  }

  get size(): number {
    return this.#entries.length;
  }

  /** True when this text stands in some message that the model still sees; searched from the newest. */
  mentions(text: string): boolean {
    return this.#entries.some(
      (entry) =>
        entry.role === "user" && entry.content.some((part) => part.type === "text" && part.text.includes(text)),
    );
  }

  /** Thinking is kept only for the given turn: providers want it back until the turn ends, and no longer. */
  toMessages(currentTurnId: string | undefined): HistoryMessage[] {
    const messages: HistoryMessage[] = [];
    for (const entry of this.#entries) {
      if (entry.role === "user") {
        messages.push(entry);
        continue;
      }
      const message = entry.turnId === currentTurnId ? entry : entry.rested;
      if (message.content.length === 0) continue;
      messages.push(message);
      if (entry.calls.length > 0)
        messages.push({ role: "tool", content: entry.calls.map((call) => resultOf(entry, call)) });
    }
    return messages;
  }

  #addAssistant(seq: number, turnId: string | undefined, parts: readonly ContentPart[]): void {
    const content: (TextPart | ThinkingPart | ToolUsePart)[] = [];
    const calls: ToolUsePart[] = [];
    for (const part of parts) {
      if (part.type === "thinking" || (part.type === "text" && part.text !== "")) content.push(part);
      if (part.type !== "tool_use" || calls.some((call) => call.id === part.id)) continue;
      const call = { ...part, name: acceptableName(part.name) };
      content.push(call);
      calls.push(call);
    }
    const rested = { role: "assistant" as const, content: content.filter((part) => part.type !== "thinking") };
    this.#entries.push({ role: "assistant", seq, turnId, content, calls, results: new Map(), rested });
  }

  /** A result belongs to the newest call of that id that has none; any other is left out. */
  #addResult(result: ToolResultPart): void {
    for (let index = this.#entries.length - 1; index >= 0; index--) {
      const entry = this.#entries[index];
      if (entry?.role !== "assistant" || !entry.calls.some((call) => call.id === result.tool_call_id)) continue;
      if (!entry.results.has(result.tool_call_id)) entry.results.set(result.tool_call_id, result);
      return;
    }
  }

  #change(change: Extract<StoredEvent, { type: "session_history_changed" }>["payload"], seq: number): void {
    switch (change.kind) {
      case "new":
      case "deletion":
        this.#entries.length = 0;
        return;
      case "undo": {
        const keep = this.#entries.findIndex((entry) => entry.seq > (change.to_seq ?? 0));
        if (keep !== -1) this.#entries.length = keep;
        return;
      }
      case "import":
        for (const message of change.messages ?? []) {
          if (message.content === "") continue;
          const content: TextPart[] = [{ type: "text", text: message.content }];
          if (message.role === "user") this.#entries.push({ role: "user", seq, content });
          else if (message.role === "assistant") this.#addAssistant(seq, undefined, content);
        }
        return;
      case "fork":
      case "edit":
        return;
    }
  }
}

function forUser(parts: readonly ContentPart[]): UserContent {
  return parts.filter((part): part is TextPart | ImagePart => part.type === "text" || part.type === "image");
}

/** A name that a model made up must not make every later request fail: providers check it against this pattern. */
function acceptableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

function resultOf(entry: AssistantEntry, call: ToolUsePart): ToolResultPart {
  return (
    entry.results.get(call.id) ?? {
      type: "tool_result",
      tool_call_id: call.id,
      content: interruptedResult,
      is_error: true,
    }
  );
}
