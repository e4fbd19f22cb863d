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
  /** This question does not wait any more, whoever has answered it. */
  readonly humanInputClosed?: string;
}

/** Turns a session's events into the frames of the one turn that answers a message. */
export interface AnswerProjection {
  next(event: GatewayEvent): readonly AnswerFrame[];
  /** True once the turn's terminal event has been seen. */
  isOver(): boolean;
}

export function createAnswerProjection(messageId: string): AnswerProjection {
  let turnId: string | undefined;
  let iteration: number | undefined;
  let over = false;
  const text = createTextProgress();

  const isOurs = (event: GatewayEvent): boolean => {
    if (event.type === "turn_execution_start" && event.payload.message_ids.includes(messageId)) turnId = event.turn_id;
    // Text that joins a running turn is answered by that turn.
    if (event.type === "user_message" && event.payload.message_id === messageId) turnId = event.turn_id;
    // So is the answer to what it asked.
    if (event.type === "human_input_answered" && event.correlation_id === messageId) turnId = event.turn_id;
    if (isTerminal(event) && event.payload.message_ids.includes(messageId)) return true;
    return turnId !== undefined && event.turn_id === turnId;
  };

  const framesOf = (event: GatewayEvent): readonly AnswerFrame[] => {
    switch (event.type) {
      case "turn_execution_start":
        return [{ type: "status", message: event.payload.attempt > 1 ? "Working on it again" : "Working on it" }];
      case "turn_iteration_start":
        iteration = event.payload.iteration;
        return [{ type: "status", iteration, message: `Iteration ${iteration} with ${event.payload.model}` }];
      case "message_stream_start":
        iteration = event.payload.iteration;
        text.begin(event.payload.message_id);
        return [];
      case "text_delta":
        return deltaFrames(text.grow(event.payload.message_id, event.payload.text));
      case "assistant_message":
        iteration = event.payload.iteration;
        return deltaFrames(text.complete(event.payload.message_id, textOf(event.payload.content)));
      case "tool_execution_start":
        return [toolStart(event.payload)];
      case "tool_execution_complete":
        return [
          {
            type: "tool_result",
            ...(iteration === undefined ? {} : { iteration }),
            toolId: event.payload.tool_call_id,
            toolName: event.payload.tool_name,
            toolResult: cut(event.payload.output, 2000),
            summary: event.payload.summary,
          },
        ];
      case "skill_matched":
        return event.payload.skills.flatMap((skill): AnswerFrame[] => [
          {
            type: "skill_start",
            skillName: skill.name,
            skillDetail: `selector: ${event.payload.selector}\nsource: ${skill.source}`,
            summary: `Load skill ${skill.name}`,
          },
          {
            type: "skill_result",
            skillName: skill.name,
            skillDetail: `${skill.chars} characters${skill.truncated ? ", cut" : ""}`,
            summary: `Skill ${skill.name} ready`,
          },
        ]);
      case "turn_execution_complete":
        return deltaFrames(event.payload.remark === undefined ? "" : `\n\n${event.payload.remark}`);
      case "context_compressed":
        return [{ type: "status", message: "Older messages were summarised" }];
      case "human_input_asked":
        return [{ type: "status", message: event.payload.question, humanInput: questionOf(event.payload) }];
      case "human_input_answered":
        return [{ type: "status", message: closingOf(event.payload), humanInputClosed: event.payload.request_id }];
      default:
        return [];
    }
  };

  const deltaFrames = (delta: string): readonly AnswerFrame[] =>
    delta === "" ? [] : [{ type: "content_delta", ...(iteration === undefined ? {} : { iteration }), delta }];

  return {
    next(event) {
      if (over || !isOurs(event)) return [];
      if (isTerminal(event)) over = true;
      return framesOf(event);
    },
    isOver: () => over,
  };
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

/** Tells each character of a message once, however often its stream is begun again or only told when stored. */
function createTextProgress() {
  let current = { messageId: "", text: "" };
  let told = { messageId: "", length: 0 };

  const advance = (messageId: string, text: string): string => {
    if (told.messageId !== messageId) told = { messageId, length: 0 };
    const news = text.slice(told.length);
    told.length += news.length;
    return news;
  };

  return {
    begin(messageId: string): void {
      current = { messageId, text: "" };
    },
    grow(messageId: string, delta: string): string {
      if (current.messageId !== messageId) return "";
      current.text += delta;
      return advance(messageId, current.text);
    },
    complete: advance,
  };
}

function toolStart(payload: {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly input: unknown;
  readonly iteration: number;
}): AnswerFrame {
  return {
    type: "tool_start",
    iteration: payload.iteration,
    toolId: payload.tool_call_id,
    toolName: payload.tool_name,
    toolArgs: cut(JSON.stringify(payload.input), 600),
    summary: `Using ${payload.tool_name}`,
  };
}

/** By whole characters, so that no half of a pair is left. */
function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = maxChars - 1;
  const isPair = /[\uD800-\uDBFF]/.test(text[end - 1] ?? "");
  return `${text.slice(0, isPair ? end - 1 : end)}…`;
}
