import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AgentState } from "../../../src/events/catalogue.js";
import { noUsage } from "../../../src/events/content.js";
import type { MachineInput } from "../../../src/events/machines/input.js";
import { stateTracker, visibleState } from "../../../src/events/machines/state.js";
import {
  call,
  cancelledByUser,
  completed,
  end,
  ended,
  failedWith,
  json,
  round,
  runMachine,
  stateTrace,
  text,
  thinking,
  toolFinished,
  toolStarted,
  turnStarted,
} from "../../support/engine/histories/machines.js";

const oneCall = [call("a"), json("a", "{}"), end("tool_use")];
const twoCalls = [call("a"), call("b"), end("tool_use")];
const answer = [text("Hel"), text("lo"), end("end_turn")];
const asked: MachineInput = { kind: "human_asked", requestId: "r1" };
const answered: MachineInput = { kind: "human_answered", requestId: "r1" };

const traces: readonly { readonly story: string; readonly inputs: readonly MachineInput[]; readonly trace: string }[] =
  [
    {
      story: "a plain answer",
      inputs: [turnStarted, ...round(1, answer), completed()],
      trace: "idle thinking responding idle",
    },
    {
      story: "one tool without text before the call",
      inputs: [
        turnStarted,
        ...round(1, oneCall),
        toolStarted("a"),
        toolFinished("a"),
        ...round(2, answer),
        completed(),
      ],
      trace: "idle thinking planning_tool awaiting_tool_result thinking responding idle",
    },
    {
      story: "one tool with thinking and text before the call, and text besides it",
      inputs: [
        turnStarted,
        ...round(1, [thinking("hm"), text("I look"), call("a"), text(" it up"), end("tool_use")]),
        toolStarted("a"),
        toolFinished("a"),
        ...round(2, answer),
        completed(),
      ],
      trace: "idle thinking responding planning_tool awaiting_tool_result thinking responding idle",
    },
    {
      story: "a tool that fails",
      inputs: [
        turnStarted,
        ...round(1, oneCall),
        toolStarted("a"),
        toolFinished("a", "no such file", true),
        ...round(2, answer),
        completed(),
      ],
      trace: "idle thinking planning_tool awaiting_tool_result thinking responding idle",
    },
    {
      story: "a call that never starts, as its arguments are not JSON",
      inputs: [turnStarted, ...round(1, oneCall), toolFinished("a", "no JSON", true), ...round(2, answer), completed()],
      trace: "idle thinking planning_tool thinking responding idle",
    },
    {
      story: "two calls one after the other: waiting once both are under way, thinking after the last result",
      inputs: [
        turnStarted,
        ...round(1, twoCalls),
        toolStarted("a"),
        toolFinished("a"),
        toolStarted("b"),
        toolFinished("b"),
        ...round(2, answer),
        completed(),
      ],
      trace: "idle thinking planning_tool awaiting_tool_result thinking responding idle",
    },
    {
      story: "two calls side by side, the second one done first",
      inputs: [
        turnStarted,
        ...round(1, twoCalls),
        toolStarted("a"),
        toolStarted("b"),
        toolFinished("b"),
        toolFinished("a"),
        ...round(2, answer),
        completed(),
      ],
      trace: "idle thinking planning_tool awaiting_tool_result thinking responding idle",
    },
    {
      story: "tools in two rounds",
      inputs: [
        turnStarted,
        ...round(1, oneCall),
        toolStarted("a"),
        toolFinished("a"),
        ...round(2, [call("c"), end("tool_use")]),
        toolStarted("c"),
        toolFinished("c"),
        ...round(3, answer),
        completed(),
      ],
      trace:
        "idle thinking planning_tool awaiting_tool_result thinking planning_tool awaiting_tool_result thinking responding idle",
    },
    {
      story: "the limit: the last result leads to idle",
      inputs: [
        turnStarted,
        ...round(1, oneCall, 1),
        toolStarted("a"),
        toolFinished("a"),
        { kind: "limit_reached" },
        completed("max_iterations"),
      ],
      trace: "idle thinking planning_tool awaiting_tool_result idle",
    },
    {
      story: "a model error before anything was said",
      inputs: [
        turnStarted,
        ...round(1, []),
        { kind: "stream_failed", code: "AUTH_FAILED" },
        ended(failedWith("AUTH_FAILED")),
      ],
      trace: "idle thinking error idle",
    },
    {
      story: "a model error in the middle of the text",
      inputs: [
        turnStarted,
        ...round(1, [text("Hel")]),
        { kind: "stream_failed", code: "TIMEOUT" },
        ended(failedWith("TIMEOUT")),
      ],
      trace: "idle thinking responding error idle",
    },
    {
      story: "a model call that is tried again",
      inputs: [
        turnStarted,
        ...round(1, [text("Hel")]),
        { kind: "stream_failed", code: "TIMEOUT", willRetry: true },
        { kind: "stream_started", messageId: "msg_again", model: "m", iteration: 1 },
        { kind: "chunk", chunk: text("Hello") },
        { kind: "chunk", chunk: end("end_turn") },
        completed(),
      ],
      trace: "idle thinking responding thinking responding idle",
    },
    {
      story: "a failure outside of any model call",
      inputs: [turnStarted, ended(failedWith("PERSISTENCE_FAILED"))],
      trace: "idle thinking error idle",
    },
    {
      story: "a cancel in the middle of the text",
      inputs: [turnStarted, ...round(1, [text("Hel")]), { kind: "interrupted" }, ended(cancelledByUser)],
      trace: "idle thinking responding idle",
    },
    {
      story: "a cancel while a tool runs, whose result still comes in",
      inputs: [
        turnStarted,
        ...round(1, oneCall),
        toolStarted("a"),
        { kind: "interrupted" },
        toolFinished("a", "stopped", true),
        ended(cancelledByUser),
      ],
      trace: "idle thinking planning_tool awaiting_tool_result idle",
    },
    {
      story: "a permission that is asked before the tool runs",
      inputs: [
        turnStarted,
        ...round(1, oneCall),
        asked,
        answered,
        toolStarted("a"),
        toolFinished("a"),
        ...round(2, answer),
        completed(),
      ],
      trace: "idle thinking planning_tool awaiting_human planning_tool awaiting_tool_result thinking responding idle",
    },
    {
      story: "a tool that asks a person while another one ends",
      inputs: [
        turnStarted,
        ...round(1, twoCalls),
        toolStarted("a"),
        toolStarted("b"),
        asked,
        toolFinished("b"),
        answered,
        toolFinished("a"),
        ...round(2, answer),
        completed(),
      ],
      trace:
        "idle thinking planning_tool awaiting_tool_result awaiting_human awaiting_tool_result thinking responding idle",
    },
    {
      story: "a cancel while a person is asked",
      inputs: [turnStarted, ...round(1, oneCall), asked, { kind: "interrupted" }, ended(cancelledByUser)],
      trace: "idle thinking planning_tool awaiting_human idle",
    },
    {
      story: "inputs outside of a turn, which change nothing",
      inputs: [
        { kind: "chunk", chunk: text("x") },
        toolStarted("a"),
        asked,
        { kind: "stream_failed", code: "X" },
        completed(),
      ],
      trace: "idle",
    },
    {
      story: "a resumed turn whose calls an earlier attempt had written, one of them with its result",
      inputs: [
        { kind: "restarted", lastState: "awaiting_tool_result" },
        turnStarted,
        storedAnswer(["a", "b"]),
        toolFinished("a"),
        toolStarted("b"),
        toolFinished("b"),
        ...round(2, answer),
        completed(),
      ],
      trace: "awaiting_tool_result idle thinking planning_tool awaiting_tool_result thinking responding idle",
    },
    {
      story: "a resumed turn whose final text is in the log",
      inputs: [{ kind: "restarted", lastState: "responding" }, turnStarted, storedAnswer([]), completed()],
      trace: "responding idle thinking responding idle",
    },
  ];

describe("the agent's states are told exactly so:", () => {
  for (const { story, inputs, trace } of traces) {
    test(story, () => assert.equal(stateTrace(inputs).join(" "), trace));
  }
});

test("the change at a restart has the cause restart, and there is none when the agent was idle", () => {
  const changes = (lastState: AgentState) => runMachine(stateTracker, [{ kind: "restarted", lastState }]).outputs;
  assert.deepEqual(changes("thinking"), [
    { type: "agent_state_changed", payload: { from: "thinking", to: "idle", cause: "restart" } },
  ]);
  assert.deepEqual(changes("idle"), []);
});

test("the causes name what happened", () => {
  const { outputs } = runMachine(stateTracker, [
    turnStarted,
    ...round(1, oneCall),
    toolStarted("a"),
    toolFinished("a"),
    ...round(2, [text("x")]),
    { kind: "stream_failed", code: "RATE_LIMIT" },
    ended(failedWith("RATE_LIMIT")),
  ]);
  assert.deepEqual(
    outputs.map((output) => (output.type === "agent_state_changed" ? output.payload.cause : output.type)),
    ["turn_started", "tool_call", "tools_running", "tool_results", "text", "RATE_LIMIT", "turn_failed"],
  );
});

test("two questions at once are both to be answered before the agent goes on", () => {
  const inputs: MachineInput[] = [turnStarted, asked, asked, { kind: "human_asked", requestId: "r2" }, answered];
  const { state } = runMachine(stateTracker, inputs);
  assert.equal(visibleState(state), "awaiting_human");
  const later = runMachine(stateTracker, [{ kind: "human_answered", requestId: "r2" }], state);
  assert.equal(visibleState(later.state), "thinking");
});

function storedAnswer(calls: readonly string[]): MachineInput {
  return {
    kind: "answer_stored",
    message: {
      message_id: "msg_1",
      content: calls.map((id) => ({ type: "tool_use", id, name: "exec", input: {} })),
      model: "m",
      iteration: 1,
      stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
      usage: noUsage,
      final: calls.length === 0,
      partial: false,
    },
  };
}
