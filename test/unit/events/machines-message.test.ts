import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Payload } from "../../../src/events/catalogue.js";
import type { AnswerChunk, MachineInput, MachineOutput, TokenPrice } from "../../../src/events/machines/input.js";
import { messageAssembler, toolResultsOf } from "../../../src/events/machines/message.js";
import {
  call,
  cancelledByUser,
  end,
  ended,
  json,
  round,
  runMachine,
  signature,
  someUsage,
  text,
  thinking,
  toolFinished,
  turnStarted,
} from "../../support/engine/histories/machines.js";

const run = (inputs: readonly MachineInput[]): readonly MachineOutput[] => runMachine(messageAssembler, inputs).outputs;
const answer = (...chunks: AnswerChunk[]): readonly MachineOutput[] => run([turnStarted, ...round(1, chunks)]);

function messagesIn(outputs: readonly MachineOutput[]): readonly Payload<"assistant_message">[] {
  return outputs.flatMap((output) => (output.type === "assistant_message" ? [output.payload] : []));
}

/** The one message of the outputs. */
function messageIn(outputs: readonly MachineOutput[]): Payload<"assistant_message"> {
  const [message, ...others] = messagesIn(outputs);
  assert.ok(message !== undefined && others.length === 0, "exactly one message");
  return message;
}

describe("the message assembler", () => {
  test("tells each chunk as its own stream event, with growing delta_index, and the whole after the end", () => {
    const outputs = answer(thinking("hm"), signature("sig"), text("Hel"), text("lo"), end("end_turn"));
    const message_id = "msg_1";
    assert.deepEqual(outputs, [
      { type: "message_stream_start", payload: { message_id, model: "m", iteration: 1 } },
      { type: "thinking_delta", payload: { message_id, text: "hm" }, delta_index: 0 },
      { type: "text_delta", payload: { message_id, text: "Hel" }, delta_index: 1 },
      { type: "text_delta", payload: { message_id, text: "lo" }, delta_index: 2 },
      { type: "message_stream_end", payload: { message_id, stop_reason: "end_turn", usage: someUsage } },
      {
        type: "assistant_message",
        payload: {
          message_id,
          content: [
            { type: "thinking", text: "hm", signature: "sig" },
            { type: "text", text: "Hello" },
          ],
          model: "m",
          iteration: 1,
          stop_reason: "end_turn",
          usage: someUsage,
          final: true,
          partial: false,
        },
      },
    ]);
  });

  test("keeps text and calls in stream order, and the JSON of each call apart when their pieces alternate", () => {
    const outputs = answer(
      text("first "),
      call("a", "read_file"),
      json("a", '{"path":'),
      call("b", "exec"),
      json("b", '{"command":"l'),
      json("a", '"x"}'),
      text("then"),
      json("b", 's"}'),
      end("tool_use"),
    );
    const message = messageIn(outputs);
    assert.deepEqual(message.content, [
      { type: "text", text: "first " },
      { type: "tool_use", id: "a", name: "read_file", input: { path: "x" } },
      { type: "tool_use", id: "b", name: "exec", input: { command: "ls" } },
      { type: "text", text: "then" },
    ]);
    assert.equal(message.final, false);
    assert.deepEqual(
      outputs.filter((output) => output.type === "tool_call_start" || output.type === "tool_input_delta"),
      [
        { type: "tool_call_start", payload: { message_id: "msg_1", tool_call_id: "a", tool_name: "read_file" } },
        { type: "tool_input_delta", payload: { tool_call_id: "a", partial_json: '{"path":' }, delta_index: 1 },
        { type: "tool_call_start", payload: { message_id: "msg_1", tool_call_id: "b", tool_name: "exec" } },
        { type: "tool_input_delta", payload: { tool_call_id: "b", partial_json: '{"command":"l' }, delta_index: 2 },
        { type: "tool_input_delta", payload: { tool_call_id: "a", partial_json: '"x"}' }, delta_index: 3 },
        { type: "tool_input_delta", payload: { tool_call_id: "b", partial_json: 's"}' }, delta_index: 5 },
      ],
    );
  });

  test("keeps the model's own bytes where a call's JSON is broken or no object, and takes no bytes as no arguments", () => {
    for (const broken of ['{"a":', "[1]", '"text"', "null", "7", "{'a':1}"]) {
      assert.deepEqual(messageIn(answer(call("a"), json("a", broken), end("tool_use"))).content, [
        { type: "tool_use", id: "a", name: "exec", input: {}, invalid_json: broken },
      ]);
    }
    for (const blank of [[], [json("a", " ")]]) {
      assert.deepEqual(messageIn(answer(call("a"), ...blank, end("tool_use"))).content, [
        { type: "tool_use", id: "a", name: "exec", input: {} },
      ]);
    }
  });

  test("leaves no message of an answer without text and calls, but ends its stream", () => {
    for (const chunks of [[], [text("")], [text(" \n")], [thinking("hm"), signature("s")]]) {
      const outputs = answer(...chunks, end("end_turn"));
      assert.deepEqual(messagesIn(outputs), []);
      assert.equal(outputs.at(-1)?.type, "message_stream_end");
    }
  });

  test("keeps each block of thinking with its own signature, also one whose text the provider hides", () => {
    const message = messageIn(
      answer(
        thinking("a"),
        thinking("b"),
        signature("1"),
        thinking("c"),
        signature("2"),
        signature("3"),
        text("x"),
        end("end_turn"),
      ),
    );
    assert.deepEqual(message.content, [
      { type: "thinking", text: "ab", signature: "1" },
      { type: "thinking", text: "c", signature: "2" },
      { type: "thinking", text: "", signature: "3" },
      { type: "text", text: "x" },
    ]);
  });

  test("says tool_use exactly when there are calls to run, whatever the API said", () => {
    assert.equal(messageIn(answer(call("a"), end("end_turn"))).stop_reason, "tool_use");
    assert.equal(messageIn(answer(text("x"), end("tool_use"))).stop_reason, "end_turn");
  });

  test("leaves out the calls of an answer that was cut off, as nobody will run them", () => {
    for (const reason of ["max_tokens", "refusal"] as const) {
      const message = messageIn(answer(text("x"), call("a"), json("a", "{}"), end(reason)));
      assert.deepEqual(message.content, [{ type: "text", text: "x" }]);
      assert.equal(message.stop_reason, reason);
      assert.equal(message.final, true);
    }
  });

  test("flushes what it has as partial when interrupted or failed, without calls that are not complete", () => {
    const chunks = [text("Hel"), call("a"), json("a", '{"x":1}'), call("b"), json("b", '{"x":'), call("c")];
    const cuts: readonly (readonly [MachineInput, "interrupted" | "error"])[] = [
      [{ kind: "interrupted" }, "interrupted"],
      [{ kind: "stream_failed", code: "TIMEOUT" }, "error"],
      [ended(cancelledByUser), "interrupted"],
    ];
    for (const [input, reason] of cuts) {
      const outputs = run([turnStarted, ...round(1, chunks), input]);
      const message = messageIn(outputs);
      assert.deepEqual(message.content, [
        { type: "text", text: "Hel" },
        { type: "tool_use", id: "a", name: "exec", input: { x: 1 } },
      ]);
      assert.deepEqual([message.partial, message.final, message.stop_reason], [true, false, reason]);
      const stop = outputs.at(-2);
      assert.ok(stop?.type === "message_stream_end" && stop.payload.stop_reason === reason);
    }
  });

  test("leaves no message when it is cut before any text", () => {
    const outputs = run([
      turnStarted,
      ...round(1, [thinking("hm"), call("a"), json("a", "{")]),
      { kind: "interrupted" },
    ]);
    assert.deepEqual(messagesIn(outputs), []);
    assert.equal(outputs.at(-1)?.type, "message_stream_end");
  });

  test("gives up an answer that is tried again: its stream ends with error, and no message is left", () => {
    const again: MachineInput = { kind: "stream_started", messageId: "msg_again", model: "m", iteration: 1 };
    const retry: MachineInput = { kind: "stream_failed", code: "TIMEOUT", willRetry: true };
    for (const inputs of [[retry, again], [again]]) {
      const outputs = run([
        turnStarted,
        ...round(1, [text("Hel")]),
        ...inputs,
        { kind: "chunk", chunk: text("Hello") },
      ]);
      assert.deepEqual(
        outputs.map((output) => output.type),
        ["message_stream_start", "text_delta", "message_stream_end", "message_stream_start", "text_delta"],
      );
      const abandoned = outputs[2];
      assert.ok(abandoned?.type === "message_stream_end");
      assert.deepEqual([abandoned.payload.message_id, abandoned.payload.stop_reason], ["msg_1", "error"]);
      const delta = outputs[4];
      assert.ok(delta?.type === "text_delta" && delta.delta_index === 0 && delta.payload.message_id === "msg_again");
    }
  });

  test("counts a call id once, and ignores input for calls that were never named", () => {
    const message = messageIn(answer(json("z", "{}"), call("a"), json("a", "{}"), call("a"), end("tool_use")));
    assert.deepEqual(message.content, [{ type: "tool_use", id: "a", name: "exec", input: {} }]);
  });

  test("prices an answer where a price is given, cached tokens as fresh ones unless they have their own", () => {
    const priced = (price: TokenPrice): number | undefined =>
      messageIn(
        run([
          turnStarted,
          { kind: "stream_started", messageId: "m1", model: "m", iteration: 1, price },
          { kind: "chunk", chunk: text("x") },
          { kind: "chunk", chunk: end("end_turn") },
        ]),
      ).cost_usd;
    assert.equal(priced({ input: 2, output: 10 }), (10 * 2 + 5 * 10 + 3 * 2 + 2 * 2) / 1e6);
    assert.equal(
      priced({ input: 2, output: 10, cacheRead: 0.2, cacheWrite: 4 }),
      (10 * 2 + 5 * 10 + 3 * 0.2 + 2 * 4) / 1e6,
    );
    assert.equal(messageIn(answer(text("x"), end("end_turn"))).cost_usd, undefined);
  });

  test("pairs results by call id and gives them in call order, each once, whatever the order of arrival", () => {
    const inputs = [turnStarted, ...round(1, [call("a"), call("b"), call("c"), end("tool_use")])];
    const finished = [
      toolFinished("c", "3"),
      toolFinished("x", "?"),
      toolFinished("a", "1", true),
      toolFinished("a", "again"),
    ];
    const { state } = runMachine(messageAssembler, [...inputs, ...finished]);
    assert.deepEqual(toolResultsOf(state), [
      { type: "tool_result", tool_call_id: "a", content: "1", is_error: true },
      { type: "tool_result", tool_call_id: "c", content: "3", is_error: false },
    ]);
    const next = runMachine(messageAssembler, round(2, [text("x")]), state);
    assert.deepEqual(toolResultsOf(next.state), []);
  });

  test("takes over the calls of an answer that an earlier attempt has written", () => {
    const [message] = messagesIn(answer(call("a"), call("b"), end("tool_use")));
    assert.ok(message !== undefined);
    const { state, outputs } = runMachine(messageAssembler, [
      turnStarted,
      { kind: "answer_stored", message },
      toolFinished("b", "2"),
      toolFinished("a", "1"),
    ]);
    assert.deepEqual(outputs, []);
    assert.deepEqual(
      toolResultsOf(state).map((result) => result.content),
      ["1", "2"],
    );
  });
});
