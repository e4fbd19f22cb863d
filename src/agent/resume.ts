import type { ToolUsePart } from "../events/content.js";
import type { StoredEvent } from "../events/event.js";
import type { MachineInput } from "../events/machines/input.js";
import type { PendingCall } from "./tool-calls.js";

/** What earlier attempts at a turn have left in the log. */
export interface EarlierAttempts {
  readonly turnId: string;
  /** Messages that already stand in the context, the turn's own included. */
  readonly messageIds: readonly string[];
  /** Model answers that are in the log: they are not asked for again. */
  readonly answers: number;
  /** Calls of the last answer without a result, in call order. */
  readonly pending: readonly PendingCall[];
  /** Brings fresh machines to where the turn stands. */
  readonly inputs: readonly MachineInput[];
  readonly lastEventId: string | undefined;
}

/** Reads an unfinished turn from its events; undefined when there is none for this message. */
export function readEarlierAttempts(openTurn: readonly StoredEvent[], messageId: string): EarlierAttempts | undefined {
  const start = openTurn.find((event) => event.type === "turn_execution_start");
  if (start?.type !== "turn_execution_start" || start.turn_id === undefined) return undefined;
  if (!start.payload.message_ids.includes(messageId)) return undefined;

  const messageIds: string[] = [];
  const inputs: MachineInput[] = [];
  const calls = new Map<string, ToolUsePart>();
  const started = new Map<string, string>();
  let answers = 0;
  for (const event of openTurn) {
    switch (event.type) {
      case "user_message":
        messageIds.push(event.payload.message_id);
        break;
      case "assistant_message":
        if (event.payload.partial) break;
        answers = Math.max(answers, event.payload.iteration);
        inputs.push({ kind: "answer_stored", message: event.payload });
        calls.clear();
        for (const part of event.payload.content) if (part.type === "tool_use") calls.set(part.id, part);
        break;
      case "tool_execution_start":
        started.set(event.payload.tool_call_id, event.payload.tool_execution_id);
        break;
      case "tool_execution_complete":
        calls.delete(event.payload.tool_call_id);
        inputs.push({
          kind: "tool_finished",
          toolCallId: event.payload.tool_call_id,
          toolName: event.payload.tool_name,
          output: event.payload.output,
          isError: event.payload.is_error,
          durationMs: event.payload.duration_ms,
        });
        break;
      default:
        break;
    }
  }
  return {
    turnId: start.turn_id,
    messageIds,
    answers,
    pending: [...calls.values()].map((call) => ({ call, startedAs: started.get(call.id) })),
    inputs,
    lastEventId: openTurn.at(-1)?.event_id,
  };
}
