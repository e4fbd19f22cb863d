import { addUsage, type ContentPart, noUsage, textOf, type Usage } from "../events/content.js";
import type { StoredEvent } from "../events/event.js";
import type { DocumentMessage, SessionDocument, TimelineEntry } from "./session.js";

interface OpenTurn {
  text: string;
  readonly parts: ContentPart[];
  readonly timeline: TimelineEntry[];
  usedTools: boolean;
}

/** What the answers of the turn that runs have cost so far. */
interface TurnCost {
  usage: Usage;
  costUsd: number | undefined;
}

const detailLimit = 2000;

/** A session as people read it: a fold over the session's events into the shape of `.sessions/<name>.json`. */
export class DocumentFold {
  readonly #key: string;
  #messages: DocumentMessage[] = [];
  #title: Pick<SessionDocument, "title" | "titleSource" | "titleState" | "titleUpdatedAt"> = {};
  #state = "created";
  #model: string | undefined;
  #createdAt: string | undefined;
  #lastActivity: string | undefined;
  #usage: Usage = noUsage;
  #costUsd: number | undefined;
  #lastSequence = 0;
  #turn: OpenTurn | undefined;
  #turnCost: TurnCost = { usage: noUsage, costUsd: undefined };
  #cwd: string | undefined;

  constructor(key: string) {
    this.#key = key;
  }

  apply(event: StoredEvent): void {
    this.#lastSequence = event.seq;
    this.#createdAt ??= event.timestamp;
    switch (event.type) {
      case "user_message_queued":
        this.#add({ role: "user", content: readable(event.payload.content), timestamp: event.timestamp });
        break;
      case "turn_execution_start":
        this.#state = "active";
        this.#turn ??= { text: "", parts: [], timeline: [], usedTools: false };
        break;
      case "assistant_message":
        this.#assistant(event.payload.content, event.payload.final || event.payload.partial, event.timestamp);
        if (event.source === "gateway") break;
        this.#model = event.payload.model;
        this.#turnCost = {
          usage: addUsage(this.#turnCost.usage, event.payload.usage),
          costUsd: sum(this.#turnCost.costUsd, event.payload.cost_usd),
        };
        break;
      case "tool_execution_complete":
        this.#tool(event.payload);
        break;
      case "turn_execution_complete":
        this.#endTurn("idle", event.payload.usage, event.payload.cost_usd);
        break;
      case "turn_execution_failed":
        this.#add({ role: "error", content: event.payload.message, timestamp: event.timestamp });
        this.#endTurn("error", event.payload.usage, this.#turnCost.costUsd);
        break;
      case "turn_execution_cancelled":
        this.#add({ role: "system", content: "Stopped.", timestamp: event.timestamp });
        this.#endTurn("idle", this.#turnCost.usage, this.#turnCost.costUsd);
        break;
      case "session_title_generated":
        if (this.#title.titleSource === "user" && event.payload.generated_by !== "user") break;
        this.#title = {
          title: event.payload.title,
          titleSource: event.payload.generated_by === "user" ? "user" : "auto",
          titleState: "stable",
          titleUpdatedAt: event.timestamp,
        };
        break;
      case "session_state_changed":
        this.#state = event.payload.to;
        break;
      case "settings_changed":
        if (event.payload.key === "model") this.#model = event.payload.to || undefined;
        if (event.payload.key === "cwd") this.#cwd = event.payload.to || undefined;
        break;
      case "session_history_changed":
        this.#history(event.payload, event.timestamp);
        break;
      default:
        return;
    }
    this.#lastActivity = event.timestamp;
  }

  get messageCount(): number {
    return this.#messages.length;
  }

  get lastMessage(): DocumentMessage | undefined {
    return this.#messages.at(-1);
  }

  get title(): string | undefined {
    return this.#title.title;
  }

  get state(): string {
    return this.#state;
  }

  get usage(): Usage {
    return this.#usage;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** The first user text, 100 characters. */
  get summary(): string | undefined {
    const firstText = this.#messages.find((message) => message.role === "user")?.content;
    return firstText === undefined ? undefined : [...firstText.slice(0, 400)].slice(0, 100).join("");
  }

  toDocument(): SessionDocument {
    const { summary } = this;
    return {
      key: this.#key,
      ...this.#title,
      messages: [...this.#messages],
      metadata: {
        state: this.#state,
        ...(this.#model === undefined ? {} : { model: this.#model }),
        ...(this.#cwd === undefined ? {} : { cwd: this.#cwd }),
        createdAt: this.#createdAt ?? new Date(0).toISOString(),
        lastActivity: this.#lastActivity ?? this.#createdAt ?? new Date(0).toISOString(),
        ...(summary === undefined ? {} : { summary }),
        usage: this.#usage,
        ...(this.#costUsd === undefined ? {} : { costUsd: this.#costUsd }),
        lastSequence: this.#lastSequence,
      },
    };
  }

  #add(message: DocumentMessage): void {
    this.#messages.push(message);
  }

  /** A turn's answers become one message; what was said between tool calls stands in its timeline. */
  #assistant(content: readonly ContentPart[], closes: boolean, timestamp: string): void {
    const turn = this.#turn ?? { text: "", parts: [], timeline: [], usedTools: false };
    const text = textOf(content);
    turn.parts.push(...content);
    turn.usedTools ||= content.some((part) => part.type === "tool_use");
    if (text !== "") {
      turn.text = text;
      turn.timeline.push({ kind: "text", text });
    }
    if (!closes) return;
    if (turn.text !== "" || turn.parts.length > 0)
      this.#add({
        role: "assistant",
        content: turn.text,
        ...(turn.usedTools ? { parts: turn.parts, timeline: turn.timeline } : {}),
        timestamp,
      });
    this.#turn = undefined;
  }

  #tool(call: Extract<StoredEvent, { type: "tool_execution_complete" }>["payload"]): void {
    if (this.#turn === undefined) return;
    this.#turn.parts.push({
      type: "tool_result",
      tool_call_id: call.tool_call_id,
      content: call.output,
      is_error: call.is_error,
    });
    this.#turn.timeline.push({
      kind: "activity",
      activity: { type: call.tool_name, summary: call.summary, detail: call.output.slice(0, detailLimit) },
    });
  }

  #endTurn(state: string, usage: Usage, costUsd: number | undefined): void {
    this.#state = state;
    this.#usage = addUsage(this.#usage, usage);
    this.#costUsd = sum(this.#costUsd, costUsd);
    this.#turn = undefined;
    this.#turnCost = { usage: noUsage, costUsd: undefined };
  }

  #history(change: Extract<StoredEvent, { type: "session_history_changed" }>["payload"], timestamp: string): void {
    if (change.kind !== "import") return;
    for (const message of change.messages ?? [])
      this.#add({ role: roleOf(message.role), content: message.content, timestamp: message.timestamp ?? timestamp });
  }
}

function sum(known: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? known : (known ?? 0) + more;
}

/** A role as documents name it; what is unknown is told as by the system. */
export function roleOf(role: string): DocumentMessage["role"] {
  return role === "user" || role === "assistant" || role === "tool" || role === "error" ? role : "system";
}

/** What a person wrote, with a line for each file that came along. */
function readable(content: readonly ContentPart[]): string {
  const lines = content.map((part) => {
    if (part.type === "text") return part.text;
    return part.type === "file" || part.type === "image" ? `[${part.filename ?? part.path}]` : "";
  });
  return lines.filter((line) => line !== "").join("\n");
}
