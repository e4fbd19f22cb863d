import type { Payload } from "../events/catalogue.js";
import { textOf } from "../events/content.js";
import type { GatewayEvent } from "../events/event.js";
import { visibleInput } from "../util/text/visible.js";

/** One frame of the answer stream that `POST /api/message` gives; the Go maxclaw's fields. Absent where empty. */
export interface AnswerFrame {
  readonly type:
    | "status"
    | "content_delta"
    | "tool_start"
    | "tool_result"
    | "skill_start"
    | "skill_result"
    | "error"
    | "final";
  readonly iteration?: number;
  readonly message?: string;
  readonly delta?: string;
  readonly toolId?: string;
  readonly toolName?: string;
  /** JSON, at most 600 characters. */
  readonly toolArgs?: string;
  readonly skillName?: string;
  readonly skillDetail?: string;
  readonly summary?: string;
  /** At most 2000 characters. */
  readonly toolResult?: string;
  readonly response?: string;
  readonly error?: string;
  readonly sessionKey?: string;
  readonly messageId?: string;
  readonly done?: boolean;
  /** The turn waits for a person; answered by `POST /api/sessions/{key}/answer`. */
  readonly humanInput?: {
    readonly requestId: string;
    readonly kind: string;
    readonly options: readonly { readonly id: string; readonly label: string; readonly description?: string }[];
    readonly fields: readonly string[];
    readonly allowCustom: boolean;
    /** JSON of what would run, whole. */
    readonly input?: string;
  };
  /** This question does not wait any more, no matter who has answered it. */
  readonly humanInputClosed?: string;
}

/** Turns a session's events into the frames of the one turn that answers a message. */
export interface AnswerProjection {
  next(event: GatewayEvent): readonly AnswerFrame[];
  /** True once the turn's terminal event has been seen. */
  isOver(): boolean;
}

export function createAnswerProjection(messageId: string): AnswerProjection {
  return new TurnProjection(messageId);
}

class TurnProjection implements AnswerProjection {
  readonly #messageId: string;
  readonly #text = new TextProgress();
  #turnId: string | undefined;
  #iteration: number | undefined;
  #isOver = false;

  constructor(messageId: string) {
    this.#messageId = messageId;
  }

  next(event: GatewayEvent): readonly AnswerFrame[] {
    if (this.#isOver || !this.#isOurs(event)) return [];
    if (isTerminal(event) || isAnswerTo(event, this.#messageId)) this.#isOver = true;
    return this.#framesOf(event);
  }

  isOver(): boolean {
    return this.#isOver;
  }

  #isOurs(event: GatewayEvent): boolean {
    if (event.type === "assistant_message" && event.payload.answers !== undefined)
      return event.payload.answers === this.#messageId;
    const isBegun = event.type === "turn_execution_start" && event.payload.message_ids.includes(this.#messageId);
    // Text that joins a running turn is answered by that turn.
    const hasJoined = event.type === "user_message" && event.payload.message_id === this.#messageId;
    // So is the answer to what it asked.
    const isAnswer = event.type === "human_input_answered" && event.correlation_id === this.#messageId;
    if (isBegun || hasJoined || isAnswer) this.#turnId = event.turn_id;
    if (isTerminal(event) && event.payload.message_ids.includes(this.#messageId)) return true;
    return this.#turnId !== undefined && event.turn_id === this.#turnId;
  }

  #framesOf(event: GatewayEvent): readonly AnswerFrame[] {
    switch (event.type) {
      case "turn_execution_start":
        return [{ type: "status", message: event.payload.attempt > 1 ? "Working on it again" : "Working on it" }];
      case "turn_iteration_start":
        this.#iteration = event.payload.iteration;
        return [
          {
            type: "status",
            iteration: this.#iteration,
            message: `Iteration ${this.#iteration} with ${event.payload.model}`,
          },
        ];
      case "message_stream_start":
        this.#iteration = event.payload.iteration;
        this.#text.begin(event.payload.message_id);
        return [];
      case "text_delta":
        return this.#delta(this.#text.grow(event.payload.message_id, event.payload.text));
      case "assistant_message":
        this.#iteration = event.payload.iteration;
        return this.#delta(this.#text.complete(event.payload.message_id, textOf(event.payload.content)));
      case "tool_execution_start":
        return [toolStart(event.payload)];
      case "tool_execution_complete":
        return [toolResult(event.payload, this.#iteration)];
      case "skill_matched":
        return event.payload.skills.flatMap((skill) => skillFrames(skill, event.payload.selector));
      case "turn_execution_complete":
        return this.#delta(event.payload.remark === undefined ? "" : `\n\n${event.payload.remark}`);
      case "context_compressed":
        return [{ type: "status", message: "Older messages were summarised" }];
      case "human_input_asked":
        return [{ type: "status", message: event.payload.question, humanInput: questionOf(event.payload) }];
      case "human_input_answered":
        return [{ type: "status", message: closingOf(event.payload), humanInputClosed: event.payload.request_id }];
      default:
        return [];
    }
  }

  #delta(delta: string): readonly AnswerFrame[] {
    if (delta === "") return [];
    return [{ type: "content_delta", ...(this.#iteration === undefined ? {} : { iteration: this.#iteration }), delta }];
  }
}

type TerminalEvent = Extract<
  GatewayEvent,
  { type: "turn_execution_complete" | "turn_execution_failed" | "turn_execution_cancelled" }
>;

function isTerminal(event: GatewayEvent): event is TerminalEvent {
  return (
    event.type === "turn_execution_complete" ||
    event.type === "turn_execution_failed" ||
    event.type === "turn_execution_cancelled"
  );
}

/** A command that was answered while a turn waits for a person. */
function isAnswerTo(event: GatewayEvent, messageId: string): boolean {
  return event.type === "assistant_message" && event.payload.answers === messageId;
}

function questionOf(asked: Payload<"human_input_asked">): NonNullable<AnswerFrame["humanInput"]> {
  return {
    requestId: asked.request_id,
    kind: asked.kind,
    options: asked.options.map(({ id, label, description }) => {
      return { id, label, ...(description === undefined ? {} : { description }) };
    }),
    fields: asked.fields ?? [],
    allowCustom: asked.allow_custom,
    ...(asked.input === undefined ? {} : { input: visibleInput(asked.input) }),
  };
}

function closingOf({ outcome, answer }: Payload<"human_input_answered">): string {
  if (outcome === "answered") return `Answered: ${answer}`;
  if (outcome === "cancelled") return "The question was withdrawn";
  return answer === "" ? "Nobody answered in time" : `Nobody answered in time: ${answer}`;
}

/** Sends each character of a message once, however often its stream begins again, or comes only with the stored message. */
class TextProgress {
  #current = { messageId: "", text: "" };
  #sent = { messageId: "", length: 0 };

  begin(messageId: string): void {
    this.#current = { messageId, text: "" };
  }

  grow(messageId: string, delta: string): string {
    if (this.#current.messageId !== messageId) return "";
    this.#current.text += delta;
    return this.complete(messageId, this.#current.text);
  }

  /** The part of `text` that was not sent yet. */
  complete(messageId: string, text: string): string {
    if (this.#sent.messageId !== messageId) this.#sent = { messageId, length: 0 };
    const news = text.slice(this.#sent.length);
    this.#sent.length += news.length;
    return news;
  }
}

function toolStart(payload: Payload<"tool_execution_start">): AnswerFrame {
  return {
    type: "tool_start",
    iteration: payload.iteration,
    toolId: payload.tool_call_id,
    toolName: payload.tool_name,
    toolArgs: cut(JSON.stringify(payload.input), 600),
    summary: `Using ${payload.tool_name}`,
  };
}

function toolResult(payload: Payload<"tool_execution_complete">, iteration: number | undefined): AnswerFrame {
  return {
    type: "tool_result",
    ...(iteration === undefined ? {} : { iteration }),
    toolId: payload.tool_call_id,
    toolName: payload.tool_name,
    toolResult: cut(payload.output, 2000),
    summary: payload.summary,
  };
}

type Skill = Payload<"skill_matched">["skills"][number];

function skillFrames({ name, source, chars, truncated }: Skill, selector: string): readonly AnswerFrame[] {
  return [
    {
      type: "skill_start",
      skillName: name,
      skillDetail: `selector: ${selector}\nsource: ${source}`,
      summary: `Load skill ${name}`,
    },
    {
      type: "skill_result",
      skillName: name,
      skillDetail: `${chars} characters${truncated ? ", cut" : ""}`,
      summary: `Skill ${name} ready`,
    },
  ];
}

/** By whole characters, so that no half of a pair is left. */
function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = maxChars - 1;
  const isPair = /[\uD800-\uDBFF]/.test(text[end - 1] ?? "");
  return `${text.slice(0, isPair ? end - 1 : end)}…`;
}
