import { textOf } from "../../content.js";
import type { StoredEvent } from "../../event.js";
import { begunAt, errorAt, excerptOf, noteAt, type Stored, sumOf } from "./parts.js";
import { SideSteps } from "./side-steps.js";
import type { ModelStep, Step, ToolStep, WaitStep } from "./step.js";

/** A turn's steps: a fold over the events of its session's log. */
export class TurnSteps {
  readonly #turnId: string;
  readonly #zero: number;
  readonly #messageIds: ReadonlySet<string>;
  readonly #steps: Step[] = [];
  readonly #sides = new SideSteps((step) => this.#add(step));
  readonly #waits = new Map<string, WaitStep>();
  readonly #tools = new Map<string, ToolStep>();
  #call: ModelStep | undefined;
  /** When the last thing before a model call happened. */
  #boundaryMs = 0;
  #lastMs = 0;
  #isOpen = false;

  /** @param zero Unix ms from which the steps count */
  constructor(turnId: string, events: readonly StoredEvent[], zero: number) {
    this.#turnId = turnId;
    this.#zero = zero;
    this.#messageIds = new Set(events.filter((event) => event.turn_id === turnId).flatMap(messagesOf));
  }

  get result(): { readonly steps: readonly Step[]; readonly totalMs: number } {
    // Sorting keeps the order of what begins at the same time.
    return { steps: [...this.#steps].sort((a, b) => a.atMs - b.atMs), totalMs: this.#lastMs };
  }

  apply(event: StoredEvent): void {
    if (event.type === "user_message_queued") {
      this.#queue(event);
      return;
    }
    if (!this.#isOwn(event)) return;
    const at = this.#at(event);
    this.#lastMs = Math.max(this.#lastMs, at);
    switch (event.type) {
      case "turn_execution_start":
        this.#begin(event, at);
        break;
      case "user_message":
        this.#take(event.payload.message_id, at);
        break;
      case "turn_iteration_start":
        this.#call = this.#add({ kind: "model", ...begunAt(event, at), ...callOf(event.payload), isTimed: true });
        break;
      case "agent_state_changed":
        this.#changeState(event.payload, at);
        break;
      case "assistant_message":
        this.#answer(event, at);
        break;
      case "tool_execution_start":
        this.#startTool(event, at);
        break;
      case "tool_execution_complete":
        this.#endTool(event, at);
        break;
      case "context_compressed":
        this.#compress(event, at);
        break;
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        this.#end(event, at);
        break;
      default:
        this.#sides.apply(event, at);
    }
  }

  /** Sub-agents are started without the turn's id; a session has one turn at a time. */
  #isOwn(event: StoredEvent): boolean {
    if (event.turn_id === this.#turnId || this.#sides.knows(event)) return true;
    return this.#isOpen && event.type === "subagent_state_changed" && event.payload.from === "none";
  }

  #at({ timestamp }: StoredEvent): number {
    return Math.max(0, Date.parse(timestamp) - this.#zero);
  }

  #add<T extends Step>(step: T): T {
    this.#steps.push(step);
    return step;
  }

  #queue(event: Stored<"user_message_queued">): void {
    const { message_id, content, channel, sender_name, sender_id } = event.payload;
    if (!this.#messageIds.has(message_id)) return;
    const from = { said: excerptOf(textOf(content)), channel, sender: sender_name ?? sender_id };
    this.#waits.set(message_id, this.#add({ kind: "wait", ...begunAt(event, this.#at(event)), ...from }));
  }

  #begin(event: Stored<"turn_execution_start">, at: number): void {
    this.#isOpen = true;
    this.#boundaryMs = at;
    if (event.payload.attempt === 1) return;
    // What was cut off goes on from here, or is asked for again.
    if (this.#call !== undefined) this.#call.endMs ??= at;
    this.#call = undefined;
    this.#add(noteAt(event, at, "restart", String(event.payload.attempt)));
  }

  #take(messageId: string, at: number): void {
    this.#boundaryMs = at;
    const wait = this.#waits.get(messageId);
    if (wait !== undefined) wait.endMs = at;
  }

  #changeState({ from, to }: Stored<"agent_state_changed">["payload"], at: number): void {
    if (this.#call === undefined || this.#call.endMs !== undefined) return;
    if (to === "responding" || to === "planning_tool") this.#call.firstMs ??= at;
    else if (to === "thinking" && (from === "responding" || from === "planning_tool")) {
      this.#call.restarts += 1;
      this.#call.firstMs = undefined;
    }
  }

  #answer(event: Stored<"assistant_message">, at: number): void {
    // The gateway's own words are not an answer of a model.
    if (event.source === "gateway") return;
    const { payload } = event;
    const { content, cost_usd: costUsd, guess } = payload;
    const begun = { ...begunAt(event, Math.min(this.#boundaryMs, at)), ...callOf(payload), isTimed: false };
    const call = this.#call ?? this.#add<ModelStep>({ kind: "model", ...begun });
    call.endMs = at;
    call.model = payload.model;
    call.used = { usage: payload.usage, costUsd, guessedTokens: guess?.tokens };
    call.answer = {
      said: excerptOf(textOf(content)),
      calls: content.flatMap((part) => (part.type === "tool_use" ? [part.name] : [])),
      stopReason: payload.stop_reason,
      isPartial: payload.partial,
      seq: event.seq,
    };
    this.#call = undefined;
    this.#boundaryMs = at;
  }

  #startTool(event: Stored<"tool_execution_start">, at: number): void {
    const { tool_execution_id, tool_name, origin, input } = event.payload;
    const step = { name: tool_name, origin, input: excerptOf(JSON.stringify(input, undefined, 1)) };
    this.#tools.set(tool_execution_id, this.#add({ kind: "tool", ...begunAt(event, at), ...step }));
  }

  #endTool(event: Stored<"tool_execution_complete">, at: number): void {
    this.#boundaryMs = at;
    const step = this.#tools.get(event.payload.tool_execution_id);
    if (step === undefined) return;
    const { output, summary, is_error, error_code } = event.payload;
    step.resultSeq = event.seq;
    step.endMs = at;
    step.output = excerptOf(output);
    step.summary = summary;
    step.isError = is_error;
    if (error_code !== undefined) step.errorCode = error_code;
  }

  #compress(event: Stored<"context_compressed">, at: number): void {
    const { strategy, summary, model, usage, cost_usd } = event.payload;
    this.#add({
      kind: "compaction",
      ...begunAt(event, Math.min(this.#boundaryMs, at)),
      endMs: at,
      strategy,
      summary: excerptOf(summary),
      tokensBefore: event.payload.estimated_tokens,
      messagesBefore: event.payload.original_message_count,
      messagesAfter: event.payload.final_message_count,
      ...(model === undefined ? {} : { model }),
      ...(usage === undefined ? {} : { tokens: sumOf(usage) }),
      ...(cost_usd === undefined ? {} : { costUsd: cost_usd }),
    });
    this.#boundaryMs = at;
  }

  #end(event: EndEvent, at: number): void {
    this.#isOpen = false;
    if (this.#call !== undefined) this.#call.endMs ??= at;
    for (const step of [...this.#waits.values(), ...this.#tools.values()]) step.endMs ??= at;
    this.#sides.end(at);
    const { discarded = [] } = event.payload;
    if (discarded.length > 0) this.#add(noteAt(event, at, "discarded", discarded.map(({ model }) => model).join(", ")));
    if (event.type === "turn_execution_failed")
      this.#add(errorAt(event, at, event.payload.code, event.payload.message));
    // The log does not say when each failed: all that is known is that the call was made again.
    if (event.type === "turn_execution_complete")
      for (const code of event.payload.errors) this.#add(errorAt(event, at, code, ""));
  }
}

type EndEvent =
  | Stored<"turn_execution_complete">
  | Stored<"turn_execution_failed">
  | Stored<"turn_execution_cancelled">;

function messagesOf(event: StoredEvent): readonly string[] {
  if (event.type === "user_message") return [event.payload.message_id];
  return "message_ids" in event.payload ? event.payload.message_ids : [];
}

function callOf({ iteration, model }: Pick<ModelStep, "iteration" | "model">) {
  return { iteration, model, restarts: 0 };
}
