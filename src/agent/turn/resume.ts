import type { Payload } from "../../events/catalogue.js";
import type { ToolUsePart } from "../../events/content.js";
import type { EventOf, StoredEvent } from "../../events/event.js";
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
  /** Messages that are already in the context, the turn's own included. */
  readonly messageIds: readonly string[];
  /** Messages that the turn had taken when it began, edits of its own message among them. */
  readonly begunWith: readonly string[];
  /** Model answers that are in the log: they are not asked for again. */
  readonly answers: number;
  /** Calls of the last answer without a result, in call order. */
  readonly pending: readonly PendingCall[];
  readonly questions: readonly EarlierQuestion[];
  /** Messages that were taken as answers to questions, and commands that were answered meanwhile. */
  readonly answeredBy: readonly string[];
  /** All calls that are over, in order. */
  readonly finished: readonly FinishedCall[];
  /** Brings fresh machines to where the turn is. */
  readonly inputs: readonly MachineInput[];
  readonly lastEventId: string | undefined;
}

/** Reads an unfinished turn from its events; undefined when there is none for this message. */
export function readEarlierAttempts(openTurn: readonly StoredEvent[], messageId: string): EarlierAttempts | undefined {
  const start = openTurn.find((event) => event.type === "turn_execution_start");
  if (start?.type !== "turn_execution_start" || start.turn_id === undefined) return undefined;
  if (!start.payload.message_ids.includes(messageId)) return undefined;
  const fold = new AttemptsFold(start);
  for (const event of openTurn) fold.apply(event);
  return { turnId: start.turn_id, ...fold.toAttempts(), lastEventId: openTurn.at(-1)?.event_id };
}

class AttemptsFold {
  readonly #start: EventOf<"turn_execution_start">;
  #attempt: number;
  readonly #messageIds: string[] = [];
  #answers = 0;
  /** Of the last answer, by call id. */
  readonly #calls = new Map<string, ToolUsePart>();
  /** By call id: the execution that was started for it. */
  readonly #executions = new Map<string, string>();
  /** By execution id. */
  readonly #executionInputs = new Map<string, Record<string, unknown>>();
  readonly #questions = new Map<string, EarlierQuestion>();
  readonly #answeredBy: string[] = [];
  readonly #finished: FinishedCall[] = [];
  readonly #inputs: MachineInput[] = [];

  constructor(start: EventOf<"turn_execution_start">) {
    this.#start = start;
    this.#attempt = start.payload.attempt;
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case "turn_execution_start":
        this.#attempt = event.payload.attempt;
        break;
      case "user_message":
        this.#messageIds.push(event.payload.message_id);
        break;
      case "assistant_message":
        this.#answer(event.payload);
        break;
      case "tool_execution_start":
        this.#executions.set(event.payload.tool_call_id, event.payload.tool_execution_id);
        this.#executionInputs.set(event.payload.tool_execution_id, event.payload.input);
        break;
      case "human_input_asked":
        this.#questions.set(event.payload.request_id, { asked: event.payload, askedAt: Date.parse(event.timestamp) });
        break;
      case "human_input_answered":
        this.#answerQuestion(event);
        break;
      case "tool_execution_complete":
        this.#finish(event.payload);
        break;
      default:
        break;
    }
  }

  toAttempts(): Omit<EarlierAttempts, "turnId" | "lastEventId"> {
    return {
      attempt: this.#attempt,
      messageIds: this.#messageIds,
      begunWith: this.#start.payload.message_ids,
      answers: this.#answers,
      pending: [...this.#calls.values()].map((call) => ({ call, startedAs: this.#executions.get(call.id) })),
      questions: [...this.#questions.values()],
      answeredBy: this.#answeredBy,
      finished: this.#finished,
      inputs: this.#inputs,
    };
  }

  #answer(message: Payload<"assistant_message">): void {
    if (message.answers !== undefined) this.#answeredBy.push(message.answers);
    // What a tool has said in between is none of the model's answers.
    if (message.partial || message.iteration === 0) return;
    this.#answers = Math.max(this.#answers, message.iteration);
    this.#inputs.push({ kind: "answer_stored", message });
    this.#calls.clear();
    // Models may use one call id again.
    this.#executions.clear();
    this.#questions.clear();
    for (const part of message.content) if (part.type === "tool_use") this.#calls.set(part.id, part);
  }

  #answerQuestion({ payload, correlation_id }: EventOf<"human_input_answered">): void {
    const question = this.#questions.get(payload.request_id);
    if (question !== undefined) this.#questions.set(payload.request_id, { ...question, answered: payload });
    if (correlation_id !== undefined && correlation_id !== this.#start.correlation_id)
      this.#answeredBy.push(correlation_id);
  }

  #finish(ended: Payload<"tool_execution_complete">): void {
    const { tool_call_id: toolCallId, tool_name: toolName, output, is_error: isError, duration_ms: durationMs } = ended;
    this.#calls.delete(toolCallId);
    const input = this.#executionInputs.get(ended.tool_execution_id) ?? {};
    this.#finished.push({ name: toolName, input, output });
    this.#inputs.push({ kind: "tool_finished", toolCallId, toolName, output, isError, durationMs });
  }
}
