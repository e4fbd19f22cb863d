import fc from "fast-check";
import type { AgentState } from "../../../../src/events/catalogue.js";
import type { Usage } from "../../../../src/events/content.js";
import type {
  AnswerChunk,
  Machine,
  MachineInput,
  MachineOutput,
  TurnEnd,
} from "../../../../src/events/machines/input.js";
import { messageAssembler } from "../../../../src/events/machines/message.js";
import { stateTracker } from "../../../../src/events/machines/state.js";
import { turnTracker } from "../../../../src/events/machines/turn.js";
import { deepFreeze } from "../../../../src/util/deep-freeze.js";

export const someUsage: Usage = { input_tokens: 10, output_tokens: 5, cache_read_tokens: 3, cache_write_tokens: 2 };

export const turnStarted: MachineInput = {
  kind: "turn_started",
  turnId: "turn_1",
  messageIds: ["msg_in"],
  attempt: 1,
  queuedMs: 3,
};

export const completed = (stopReason: "end_turn" | "max_iterations" | "empty" = "end_turn"): MachineInput =>
  ended({ end: "complete", messageId: "msg_out", stopReason });

export function ended(outcome: TurnEnd): MachineInput {
  return { kind: "turn_ended", outcome, durationMs: 7 };
}

export const cancelledByUser: Extract<TurnEnd, { readonly end: "cancelled" }> = {
  end: "cancelled",
  reason: "user_interrupt",
  mode: "cancel",
};

export function failedWith(code: string): TurnEnd {
  return { end: "failed", code, category: "driver", message: "the provider said no", recoverable: true };
}

/** One round's model call, up to its chunks. */
export function round(iteration: number, chunks: readonly AnswerChunk[], maxIterations = 20): readonly MachineInput[] {
  return [
    { kind: "iteration_started", iteration, maxIterations, model: "m" },
    { kind: "stream_started", messageId: `msg_${iteration}`, model: "m", iteration },
    ...chunks.map((chunk) => ({ kind: "chunk", chunk }) as const),
  ];
}

export const text = (value: string): AnswerChunk => ({ kind: "text", text: value });
export const thinking = (value: string): AnswerChunk => ({ kind: "thinking", text: value });
export const signature = (value: string): AnswerChunk => ({ kind: "thinking_signature", signature: value });
export const call = (id: string, name = "exec"): AnswerChunk => ({ kind: "tool_call", id, name });
export const json = (id: string, value: string): AnswerChunk => ({ kind: "tool_input", id, json: value });
export const end = (
  stopReason: Extract<AnswerChunk, { kind: "end" }>["stopReason"],
  usage: Usage = someUsage,
): AnswerChunk => ({ kind: "end", stopReason, usage });

export const toolStarted = (toolCallId: string): MachineInput => ({
  kind: "tool_started",
  toolCallId,
  toolName: "exec",
});
export const toolFinished = (toolCallId: string, output = "done", isError = false): MachineInput => ({
  kind: "tool_finished",
  toolCallId,
  toolName: "exec",
  output,
  isError,
  durationMs: 4,
});

/** Runs one machine with every state and input frozen. */
export function runMachine<S>(
  machine: Machine<S>,
  inputs: readonly MachineInput[],
  from: S = machine.initial,
): { readonly state: S; readonly outputs: readonly MachineOutput[] } {
  let state = deepFreeze(from);
  const outputs: MachineOutput[] = [];
  for (const input of inputs) {
    const [next, brought] = machine.step(state, deepFreeze(input));
    state = deepFreeze(next);
    outputs.push(...brought);
  }
  return { state, outputs };
}

export const builtIn: readonly Machine<unknown>[] = [messageAssembler, stateTracker, turnTracker];

/** The states that are told, the first one included. */
export function stateTrace(inputs: readonly MachineInput[]): readonly AgentState[] {
  const changes = runMachine(stateTracker, inputs).outputs.flatMap((output) =>
    output.type === "agent_state_changed" ? [output.payload] : [],
  );
  const [first] = changes;
  return first === undefined ? ["idle"] : [first.from, ...changes.map((change) => change.to)];
}

const ids = fc.constantFrom("call_1", "call_2", "call_3");
const messageIds = fc.constantFrom("msg_1", "msg_2");
const words = fc.string({ maxLength: 6, unit: "grapheme" });

export const anyChunk: fc.Arbitrary<AnswerChunk> = fc.oneof(
  words.map(text),
  words.map(thinking),
  words.map(signature),
  ids.map((id) => call(id)),
  fc.tuple(ids, fc.constantFrom("", "{", '"a":1', "}", "{}", "[1]")).map(([id, value]) => json(id, value)),
  fc.constantFrom("end_turn", "tool_use", "max_tokens", "refusal").map((reason) => end(reason as "end_turn")),
);

/** Any input at all, also where it makes no sense. */
export const anyInput: fc.Arbitrary<MachineInput> = fc.oneof(
  { arbitrary: anyChunk.map((chunk) => ({ kind: "chunk", chunk }) as const), weight: 6 },
  fc.constant(turnStarted),
  fc.record({
    kind: fc.constant("stream_started" as const),
    messageId: messageIds,
    model: fc.constant("m"),
    iteration: fc.nat(5),
  }),
  fc.record({
    kind: fc.constant("iteration_started" as const),
    iteration: fc.nat(5),
    maxIterations: fc.nat(5),
    model: fc.constant("m"),
  }),
  fc.record({ kind: fc.constant("stream_failed" as const), code: fc.constant("TIMEOUT"), willRetry: fc.boolean() }),
  fc.constant({ kind: "interrupted" } as const),
  fc.constant({ kind: "limit_reached" } as const),
  ids.map(toolStarted),
  ids.map((id) => toolFinished(id)),
  fc.record({ kind: fc.constantFrom("human_asked" as const, "human_answered" as const), requestId: ids }),
  fc.record({ kind: fc.constant("messages_joined" as const), messageIds: fc.array(messageIds, { maxLength: 2 }) }),
  fc.constantFrom(completed(), ended(cancelledByUser), ended(failedWith("TIMEOUT"))),
);
