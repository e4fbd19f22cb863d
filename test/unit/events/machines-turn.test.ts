import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Usage } from "../../../src/events/content.js";
import { costOf } from "../../../src/events/machines/answer.js";
import type { MachineInput } from "../../../src/events/machines/input.js";
import { turnTracker } from "../../../src/events/machines/turn.js";
import {
  call,
  cancelledByUser,
  completed,
  end,
  ended,
  failedWith,
  round,
  runMachine,
  someUsage,
  text,
  toolFinished,
  turnStarted,
} from "../../support/engine/histories/machines.js";

const priced = (iteration: number, usage: Usage): readonly MachineInput[] => [
  { kind: "iteration_started", iteration, maxIterations: 20, model: "m" },
  { kind: "stream_started", messageId: `msg_${iteration}`, model: "m", iteration, price: { input: 1, output: 2 } },
  { kind: "chunk", chunk: text("x") },
  { kind: "chunk", chunk: end("end_turn", usage) },
];
const summaryOf = (inputs: readonly MachineInput[]) => runMachine(turnTracker, inputs).state.summary;

describe("the turn tracker", () => {
  test("sums up a whole turn in its terminal event", () => {
    const { outputs } = runMachine(turnTracker, [
      turnStarted,
      ...round(1, [call("a"), call("b"), end("tool_use")]),
      { kind: "stream_failed", code: "TIMEOUT", willRetry: true },
      toolFinished("b", "no", true),
      toolFinished("a"),
      { kind: "messages_joined", messageIds: ["msg_more"] },
      ...round(2, [text("done"), end("end_turn")]),
      completed(),
    ]);
    assert.deepEqual(outputs, [
      {
        type: "turn_execution_complete",
        payload: {
          message_ids: ["msg_in", "msg_more"],
          message_id: "msg_out",
          stop_reason: "end_turn",
          iterations: 2,
          usage: { input_tokens: 20, output_tokens: 10, cache_read_tokens: 6, cache_write_tokens: 4 },
          duration_ms: 7,
          tool_calls: [
            { id: "b", name: "exec", is_error: true, duration_ms: 4 },
            { id: "a", name: "exec", is_error: false, duration_ms: 4 },
          ],
          errors: ["TIMEOUT"],
        },
      },
    ]);
  });

  test("adds up cost where answers have a price, and names none where no answer had one", () => {
    const big = { input_tokens: 1_000_000, output_tokens: 500_000, cache_read_tokens: 0, cache_write_tokens: 0 };
    assert.equal(summaryOf([turnStarted, ...priced(1, big), ...priced(2, big)]).costUsd, 4);
    assert.equal(summaryOf([turnStarted, ...priced(1, big), ...round(2, [end("end_turn", big)])]).costUsd, 2);
    assert.equal(summaryOf([turnStarted, ...round(1, [text("x"), end("end_turn")])]).costUsd, undefined);
  });

  test("closes on every stop reason but tool_use, and opens again for the next iteration", () => {
    const after = (...chunks: Parameters<typeof round>[1]) => summaryOf([turnStarted, ...round(1, chunks)]).stopReason;
    assert.equal(after(text("x"), end("end_turn")), "end_turn");
    assert.equal(after(text("x"), end("max_tokens")), "max_tokens");
    assert.equal(after(end("refusal")), "refusal");
    assert.equal(after(text(" "), end("end_turn")), "empty");
    assert.equal(after(text("x"), call("a"), end("tool_use")), undefined);
    assert.equal(after(call("a"), end("end_turn")), undefined);
    assert.equal(after(text("x"), end("tool_use")), "end_turn");
    assert.equal(summaryOf([turnStarted, ...round(1, []), { kind: "interrupted" }]).stopReason, "interrupted");
    assert.equal(summaryOf([turnStarted, ...round(1, []), { kind: "stream_failed", code: "X" }]).stopReason, "error");
    assert.equal(summaryOf([turnStarted, ...round(1, []), { kind: "limit_reached" }]).stopReason, "max_iterations");
    const joined: MachineInput = { kind: "messages_joined", messageIds: ["msg_2"] };
    assert.equal(summaryOf([turnStarted, ...round(1, [text("x"), end("end_turn")]), joined]).stopReason, undefined);
  });

  test("counts what earlier attempts of the turn have written", () => {
    const summary = summaryOf([
      turnStarted,
      {
        kind: "answer_stored",
        message: {
          message_id: "msg_1",
          content: [{ type: "tool_use", id: "a", name: "exec", input: {} }],
          model: "m",
          iteration: 1,
          stop_reason: "tool_use",
          usage: someUsage,
          cost_usd: 0.25,
          final: false,
          partial: false,
        },
      },
      toolFinished("a"),
      toolFinished("a"),
      ...round(2, [text("x"), end("end_turn")]),
    ]);
    assert.deepEqual(summary.usage, {
      input_tokens: 20,
      output_tokens: 10,
      cache_read_tokens: 6,
      cache_write_tokens: 4,
    });
    assert.deepEqual([summary.iterations, summary.costUsd, summary.toolCalls.length], [2, 0.25, 1]);
  });

  test("tells about a failure and a cancel what their events carry", () => {
    const failed = runMachine(turnTracker, [turnStarted, ...round(1, [end("end_turn")]), ended(failedWith("TIMEOUT"))]);
    assert.deepEqual(failed.outputs, [
      {
        type: "turn_execution_failed",
        payload: {
          message_ids: ["msg_in"],
          code: "TIMEOUT",
          category: "driver",
          message: "the provider said no",
          recoverable: true,
          usage: someUsage,
          duration_ms: 7,
        },
      },
    ]);
    const cancelled = (partialMessageId?: string) =>
      runMachine(turnTracker, [turnStarted, ended({ ...cancelledByUser, partialMessageId })]).outputs;
    const payload = { message_ids: ["msg_in"], reason: "user_interrupt", mode: "cancel" };
    assert.deepEqual(cancelled(), [{ type: "turn_execution_cancelled", payload }]);
    assert.deepEqual(cancelled("msg_1"), [
      { type: "turn_execution_cancelled", payload: { ...payload, partial_message_id: "msg_1" } },
    ]);
  });

  test("ends a turn once, and none that was not begun", () => {
    const { outputs } = runMachine(turnTracker, [
      completed(),
      turnStarted,
      completed(),
      completed(),
      ended(cancelledByUser),
    ]);
    assert.equal(outputs.length, 1);
  });

  test("starts each turn from nothing", () => {
    const summary = summaryOf([turnStarted, ...round(1, [text("x"), end("end_turn")]), completed(), turnStarted]);
    assert.deepEqual([summary.iterations, summary.usage.input_tokens, summary.stopReason], [0, 0, undefined]);
  });
});

describe("cost", () => {
  const usage = {
    input_tokens: 1_000_000,
    output_tokens: 500_000,
    cache_read_tokens: 2_000_000,
    cache_write_tokens: 100_000,
  };

  test("is the sum of all four kinds of tokens", () => {
    assert.equal(costOf(usage, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }), 3 + 7.5 + 0.6 + 0.375);
  });

  test("counts cached tokens as input where they have no price", () => {
    assert.equal(costOf(usage, { input: 3, output: 15 }), 3 + 7.5 + 6 + 0.3);
  });
});
