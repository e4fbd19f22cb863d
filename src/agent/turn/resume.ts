import type { Payload } from "../../events/catalogue.js";
import type { ToolUsePart } from "../../events/content.js";
import type { StoredEvent } from "../../events/event.js";
import type { MachineInput } from "../../events/machines/input.js";

/** A call of the model's answer, and how far it has come. */
export interface PendingCall {
  readonly call: ToolUsePart;
  /** Set when an earlier attempt had started it. */
  readonly startedAs?: string | undefined;
}

/** A question that was asked for a call of the last answer. */
export interface EarlierQuestion {
  readonly asked: Payload<"human_input_asked">;
  /** Unix ms. */
  readonly askedAt: number;
  readonly answered?: Payload<"human_input_answered"> | undefined;
}

interface FinishedCall extends Pick<ToolUsePart, "name" | "input"> {
  readonly output: string;
}

/** What earlier attempts at a turn have left in the log. */
export interface EarlierAttempts {
  readonly turnId: string;
  /** The last one's number. */
  readonly attempt: number;
  /** Messages that already stand in the context, the turn's own included. */
  readonly messageIds: readonly string[];
  /** Messages that the turn had taken when it began, edits of its own message among them. */
  readonly begunWith: readonly string[];
  /** Model answers that are in the log: they are not asked for again. */
  readonly answers: number;
  /** Calls of the last answer without a result, in call order. */
  readonly pending: readonly PendingCall[];
  readonly questions: readonly EarlierQuestion[];
  /** Messages that were taken as answers to questions. */
  readonly answeredBy: readonly string[];
  /** All calls that are over, in order. */
  readonly finished: readonly FinishedCall[];
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
  const underWay = new Map<string, Record<string, unknown>>();
  const questions = new Map<string, EarlierQuestion>();
  const answeredBy: string[] = [];
  const finished: FinishedCall[] = [];
  let answers = 0;
  let { attempt } = start.payload;
  for (const event of openTurn) {
    switch (event.type) {
      case "turn_execution_start":
        attempt = event.payload.attempt;
        break;
      case "user_message":
        messageIds.push(event.payload.message_id);
        break;
      case "assistant_message":
        // What a tool has said in between is none of the model's answers.
        if (event.payload.partial || event.payload.iteration === 0) break;
        answers = Math.max(answers, event.payload.iteration);
        inputs.push({ kind: "answer_stored", message: event.payload });
        calls.clear();
        // Models may use one call id again.
        started.clear();
        questions.clear();
        for (const part of event.payload.content) if (part.type === "tool_use") calls.set(part.id, part);
        break;
      case "tool_execution_start":
        started.set(event.payload.tool_call_id, event.payload.tool_execution_id);
        underWay.set(event.payload.tool_execution_id, event.payload.input);
        break;
      case "human_input_asked":
        questions.set(event.payload.request_id, { asked: event.payload, askedAt: Date.parse(event.timestamp) });
        break;
      case "human_input_answered": {
        const question = questions.get(event.payload.request_id);
        if (question !== undefined) questions.set(event.payload.request_id, { ...question, answered: event.payload });
        if (event.correlation_id !== undefined && event.correlation_id !== start.correlation_id)
          answeredBy.push(event.correlation_id);
        break;
      }
      case "tool_execution_complete":
        calls.delete(event.payload.tool_call_id);
        finished.push({
          name: event.payload.tool_name,
          input: underWay.get(event.payload.tool_execution_id) ?? {},
          output: event.payload.output,
        });
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
    attempt,
    messageIds,
    begunWith: start.payload.message_ids,
    answers,
    pending: [...calls.values()].map((call) => ({ call, startedAs: started.get(call.id) })),
    questions: [...questions.values()],
    answeredBy,
    finished,
    inputs,
    lastEventId: openTurn.at(-1)?.event_id,
  };
}
