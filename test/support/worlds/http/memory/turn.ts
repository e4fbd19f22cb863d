import type { EventType, Payload } from "../../../../../src/events/catalogue.js";
import { noUsage } from "../../../../../src/events/content.js";
import { newId } from "../../../../../src/util/ids.js";

export type Step = () => void;

type Tell = <T extends EventType>(type: T, payload: Payload<T>, turnId: string) => unknown;

/** What the steps of one turn have in common. */
interface Script {
  readonly tell: Tell;
  readonly turnId: string;
  readonly messageId: string;
}

/** Runs the steps one per turn of the event loop, as a real turn spreads over time. */
export function runSteps(steps: readonly Step[]): void {
  const [step, ...rest] = steps;
  if (step === undefined) return;
  setImmediate(() => {
    step();
    runSteps(rest);
  });
}

/** The events of a turn with one tool call that answers in small pieces, one step each. */
export function scriptTurn(tell: Tell, messageId: string, answer: readonly string[]): readonly Step[] {
  const script = { tell, turnId: newId("turn"), messageId };
  const [first, second, callId] = [newId("msg"), newId("msg"), newId("call")];
  return [
    ...begin(script),
    ...thinkAndCall(script, first, callId),
    ...runTool(script, callId),
    ...answerInPieces(script, second, answer),
    ...complete(script, second),
  ];
}

function begin({ tell, turnId, messageId }: Script): readonly Step[] {
  return [
    () => tell("turn_execution_start", { message_ids: [messageId], queued_ms: 0, attempt: 1 }, turnId),
    () => tell("user_message", { message_id: messageId, content: [], iteration: 1 }, turnId),
    () => tell("turn_iteration_start", { iteration: 1, max_iterations: 20, model: "m" }, turnId),
    () => tell("llm_retry_scheduled", { attempt: 1, delay_ms: 1, code: "TIMEOUT" }, turnId),
  ];
}

function thinkAndCall({ tell, turnId }: Script, id: string, callId: string): readonly Step[] {
  const said: Payload<"assistant_message"> = {
    message_id: id,
    model: "m",
    usage: noUsage,
    partial: false,
    iteration: 1,
    stop_reason: "tool_use",
    final: false,
    content: [
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: callId, name: "read_file", input: { path: "a" } },
    ],
  };
  return [
    () => tell("message_stream_start", { message_id: id, model: "m", iteration: 1 }, turnId),
    () => tell("thinking_delta", { message_id: id, text: "Hm. " }, turnId),
    () => tell("text_delta", { message_id: id, text: "Let me " }, turnId),
    () => tell("text_delta", { message_id: id, text: "look." }, turnId),
    () => tell("tool_call_start", { message_id: id, tool_call_id: callId, tool_name: "read_file" }, turnId),
    () => tell("tool_input_delta", { tool_call_id: callId, partial_json: '{"path":' }, turnId),
    () => tell("tool_input_delta", { tool_call_id: callId, partial_json: '"a"}' }, turnId),
    () => tell("message_stream_end", { message_id: id, stop_reason: "tool_use", usage: noUsage }, turnId),
    () => tell("assistant_message", said, turnId),
  ];
}

function runTool({ tell, turnId }: Script, callId: string): readonly Step[] {
  const execution = { tool_execution_id: newId("exe"), tool_call_id: callId, tool_name: "read_file" };
  const input = { path: "a", note: "x".repeat(900) };
  const result = { output: "y".repeat(3000), is_error: false, duration_ms: 1, summary: "read a" };
  return [
    () => tell("tool_execution_start", { ...execution, input, iteration: 1, origin: "builtin" }, turnId),
    () => tell("tool_execution_complete", { ...execution, ...result }, turnId),
  ];
}

function answerInPieces({ tell, turnId }: Script, id: string, answer: readonly string[]): readonly Step[] {
  const said: Payload<"assistant_message"> = {
    message_id: id,
    model: "m",
    usage: noUsage,
    partial: false,
    iteration: 2,
    stop_reason: "end_turn",
    final: true,
    content: [{ type: "text", text: answer.join("") }],
  };
  return [
    () => tell("turn_iteration_start", { iteration: 2, max_iterations: 20, model: "m" }, turnId),
    () => tell("message_stream_start", { message_id: id, model: "m", iteration: 2 }, turnId),
    ...answer.map((piece) => () => tell("text_delta", { message_id: id, text: piece }, turnId)),
    () => tell("message_stream_end", { message_id: id, stop_reason: "end_turn", usage: noUsage }, turnId),
    () => tell("assistant_message", said, turnId),
  ];
}

function complete({ tell, turnId, messageId }: Script, answerId: string): readonly Step[] {
  const ended: Payload<"turn_execution_complete"> = {
    message_ids: [messageId],
    message_id: answerId,
    stop_reason: "end_turn",
    iterations: 2,
    usage: noUsage,
    duration_ms: 1,
    tool_calls: [],
    errors: [],
  };
  return [() => tell("turn_execution_complete", ended, turnId)];
}
