import type { EventType, Payload } from "../../../../src/events/catalogue.js";
import type { ContentPart, ToolUsePart } from "../../../../src/events/content.js";
import { draft, type EventDraft, type StoredEvent } from "../../../../src/events/event.js";
import type { AnswerChunk, MachineInput } from "../../../../src/events/machines/input.js";
import { createMachines, toDraft } from "../../../../src/events/machines/run-machines.js";
import { silentLog } from "../../../../src/log.js";

export interface OpenCall {
  readonly call: ToolUsePart;
  startedAs: string | undefined;
}

/**
 * One session's log as it grows. What a turn writes is made as the agent makes it, by the real machines, one event after
 * the other; a crash may come between any two. {@link add} puts in whatever else a log may hold.
 */
export class SessionLog {
  readonly events: StoredEvent[] = [];
  /** The turn that has begun and not ended, and the one before it. */
  turnId: string | undefined;
  lastTurnId: string | undefined;
  /** Calls of the last answer without a result. */
  open: OpenCall[] = [];
  #machines = createMachines({ log: silentLog });
  #count = 0;
  #attempt = 1;
  #iteration = 0;

  /** A number that was not given before. */
  next(): number {
    this.#count += 1;
    return this.#count;
  }

  add<T extends EventType>(type: T, payload: Payload<T>, source = "agent"): void {
    this.#store(draft(type, payload, { source, ...(this.turnId === undefined ? {} : { turn_id: this.turnId }) }));
  }

  /** The turn that runs, or a new one. */
  turn(): void {
    if (this.turnId !== undefined) return;
    this.turnId = `turn_${this.next()}`;
    this.#attempt = 1;
    this.#iteration = 0;
    this.open = [];
    this.#begin();
  }

  /** A message of a person: begins a turn, or joins the one that runs. */
  user(content: ContentPart[]): void {
    this.turn();
    this.add("user_message", { message_id: `msg_${this.next()}`, content, iteration: this.#iteration + 1 });
  }

  /** One model call, to its end or to where it was cut. */
  answer(chunks: readonly AnswerChunk[], cut?: "interrupted" | "failed" | "retried"): void {
    this.turn();
    // Nobody asks again while calls run: what is left of them is given up.
    this.open = [];
    this.#iteration += 1;
    this.#feed({ kind: "iteration_started", iteration: this.#iteration, maxIterations: 99, model: "m" });
    this.#feed({ kind: "stream_started", messageId: `msg_${this.next()}`, model: "m", iteration: this.#iteration });
    for (const chunk of chunks) this.#feed({ kind: "chunk", chunk });
    if (cut === "interrupted") this.#feed({ kind: "interrupted" });
    else if (cut !== undefined) this.#feed({ kind: "stream_failed", code: "TIMEOUT", willRetry: cut === "retried" });
  }

  startTool(open: OpenCall): void {
    if (open.startedAs !== undefined) return;
    open.startedAs = `exe_${this.next()}`;
    const { id, name, input } = open.call;
    this.add("tool_execution_start", {
      tool_execution_id: open.startedAs,
      tool_call_id: id,
      tool_name: name,
      input,
      iteration: this.#iteration,
      origin: "builtin",
    });
    this.#feed({ kind: "tool_started", toolCallId: id, toolName: name });
  }

  finishTool(open: OpenCall, output: string, isError: boolean): void {
    this.startTool(open);
    this.open = this.open.filter((other) => other !== open);
    this.result(open.call.id, output, isError, open.startedAs);
    this.#feed({
      kind: "tool_finished",
      toolCallId: open.call.id,
      toolName: open.call.name,
      output,
      isError,
      durationMs: 1,
    });
  }

  /** A result as it is in the log, whether or not anybody asked for it. */
  result(callId: string, output: string, isError = false, executionId = `exe_${this.next()}`): void {
    const ids = { tool_execution_id: executionId, tool_call_id: callId, tool_name: "read_file" };
    this.add("tool_execution_complete", { ...ids, output, is_error: isError, duration_ms: 1, summary: "" });
  }

  end(how: "complete" | "failed" | "cancelled"): void {
    if (this.turnId === undefined) return;
    const failure = { code: "UNKNOWN", category: "runtime", message: "it broke", recoverable: false } as const;
    this.#feed({
      kind: "turn_ended",
      durationMs: 1,
      outcome:
        how === "complete"
          ? { end: how, messageId: "msg_last", stopReason: "end_turn" }
          : how === "failed"
            ? { end: how, ...failure }
            : { end: how, reason: "user_interrupt", mode: "stop" },
    });
    this.lastTurnId = this.turnId;
    this.turnId = undefined;
    this.open = [];
  }

  /** The process ends without a word; the next one finds the turn as the log tells it. */
  crash(): void {
    this.#machines = createMachines({ log: silentLog });
    if (this.turnId === undefined) return;
    this.#attempt += 1;
    this.#begin();
  }

  #begin(): void {
    const messageIds: string[] = [];
    this.add("turn_execution_start", { message_ids: messageIds, queued_ms: 0, attempt: this.#attempt });
    this.#feed({ kind: "turn_started", turnId: this.turnId ?? "", messageIds, attempt: this.#attempt, queuedMs: 0 });
  }

  #feed(input: MachineInput): void {
    const context = { source: "agent", ...(this.turnId === undefined ? {} : { turn_id: this.turnId }) };
    for (const output of this.#machines.feed(input).stored) {
      this.#store(toDraft(output, context));
      if (output.type !== "assistant_message" || output.payload.partial) continue;
      const calls = output.payload.content.filter((part) => part.type === "tool_use");
      this.open = calls.map((call) => ({ call, startedAs: undefined }));
    }
  }

  #store(drafted: EventDraft): void {
    const seq = this.events.length + 1;
    const place = {
      schema_version: "1.0" as const,
      session_key: "test:1",
      seq,
      timestamp: new Date(seq).toISOString(),
    };
    // As the engine makes it: through JSON, so that it shares nothing with the draft.
    this.events.push(JSON.parse(JSON.stringify({ ...drafted, ...place, metadata: { instance_id: "gw" } })));
  }
}
