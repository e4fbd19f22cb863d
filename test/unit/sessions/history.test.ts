import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { EventType, Payload } from "../../../src/events/catalogue.js";
import { noUsage } from "../../../src/events/content.js";
import { draft, type StoredEvent } from "../../../src/events/event.js";
import { History } from "../../../src/sessions/history/history.js";
import { interruptedResult } from "../../../src/sessions/history/history-entries.js";
import { fuzzOptions } from "../../support/fuzz.js";

function stored<T extends EventType>(
  seq: number,
  type: T,
  payload: Payload<T>,
  turnId = "turn_1",
  source = "agent",
): StoredEvent {
  const drafted = draft(type, payload, { source, turn_id: turnId });
  return {
    ...drafted,
    schema_version: "1.0",
    session_key: "webui:a",
    seq,
    timestamp: new Date(seq).toISOString(),
    metadata: { instance_id: "gw" },
  } as StoredEvent;
}

function user(seq: number, text: string): StoredEvent {
  return stored(seq, "user_message", { message_id: `m${seq}`, content: [{ type: "text", text }], iteration: 1 });
}

function answer(
  seq: number,
  content: Payload<"assistant_message">["content"],
  turnId?: string,
  source?: string,
): StoredEvent {
  const payload = {
    message_id: `a${seq}`,
    content,
    model: "m",
    iteration: 1,
    stop_reason: "end_turn" as const,
    usage: noUsage,
    final: true,
    partial: false,
  };
  return stored(seq, "assistant_message", payload, turnId, source);
}

function call(id: string, name = "read_file") {
  return { type: "tool_use" as const, id, name, input: {} };
}

function result(seq: number, id: string, output: string, turnId?: string): StoredEvent {
  const payload = {
    tool_execution_id: `e${seq}`,
    tool_call_id: id,
    tool_name: "read_file",
    output,
    is_error: false,
    duration_ms: 1,
    summary: "",
  };
  return stored(seq, "tool_execution_complete", payload, turnId);
}

function fold(events: readonly StoredEvent[]): History {
  const history = new History();
  for (const event of events) history.apply(event);
  return history;
}

test("results are paired by call id and stand in call order, whatever the order of arrival", () => {
  const history = fold([user(1, "hi"), answer(2, [call("a"), call("b")]), result(3, "b", "B"), result(4, "a", "A")]);
  const tool = history.toMessages("turn_1")[2];
  assert.deepEqual(
    tool?.content.map((part) => part.type === "tool_result" && part.content),
    ["A", "B"],
  );
});

test("a call without a result gets an interrupted one, so that the session is never bricked", () => {
  const messages = fold([user(1, "hi"), answer(2, [call("a")]), user(3, "still there?")]).toMessages(undefined);
  assert.deepEqual(
    messages.map((message) => message.role),
    ["user", "assistant", "tool", "user"],
  );
  assert.deepEqual(messages[2]?.content, [
    { type: "tool_result", tool_call_id: "a", content: interruptedResult, is_error: true },
  ]);
});

test("a result without a call is left out", () => {
  assert.equal(fold([user(1, "hi"), result(2, "ghost", "boo")]).toMessages(undefined).length, 1);
});

test("a result answers its own turn's call, also where a server gives the calls of each answer the same ids", () => {
  const history = fold([
    user(1, "hi"),
    answer(2, [call("call_0")], "turn_1"),
    user(3, "again"),
    answer(4, [call("call_0")], "turn_2"),
    result(5, "call_0", "of no turn that is known", "turn_3"),
    result(6, "call_0", "second", "turn_2"),
    result(7, "call_0", "told twice", "turn_2"),
  ]);
  assert.deepEqual(
    history
      .toMessages(undefined)
      .flatMap((message) => (message.role === "tool" ? message.content.map((part) => part.content) : [])),
    [interruptedResult, "second"],
  );
});

test("thinking is kept for the current turn only", () => {
  const thinking = { type: "thinking" as const, text: "hm", signature: "s" };
  const history = fold([user(1, "hi"), answer(2, [thinking, { type: "text", text: "yes" }], "turn_9")]);
  assert.equal(history.toMessages("turn_9")[1]?.content.length, 2);
  assert.equal(history.toMessages("turn_10")[1]?.content.length, 1);
});

test("the gateway's own sentences are not shown to the model", () => {
  assert.equal(fold([answer(1, [{ type: "text", text: "Nothing is running." }], "t", "gateway")]).size, 0);
});

test("a fresh start hides what was before, an undo what came after", () => {
  const events = [user(1, "old"), answer(2, [{ type: "text", text: "x" }])];
  assert.equal(fold([...events, stored(3, "session_history_changed", { kind: "new" })]).size, 0);
  assert.equal(fold([...events, stored(3, "session_history_changed", { kind: "undo", to_seq: 1 })]).size, 1);
});

test("an imported history is what people and assistant said", () => {
  const messages = [
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
    { role: "error", content: "boom" },
    { role: "assistant", content: "" },
  ];
  const history = fold([stored(1, "session_history_changed", { kind: "import", messages })]);
  assert.deepEqual(
    history.toMessages(undefined).map((message) => message.role),
    ["user", "assistant"],
  );
});

test("a tool name that no provider would accept is made acceptable", () => {
  const messages = fold([answer(1, [call("a", "rm -rf /"), call("b", "")])]).toMessages(undefined);
  for (const part of messages[0]?.content ?? [])
    if (part.type === "tool_use") assert.match(part.name, /^[A-Za-z0-9_-]{1,64}$/);
});

test("any prefix of any mix of events gives calls and results that match one to one", (t) => {
  const ids = fc.constantFrom("a", "b", "c");
  const event = fc.oneof(
    fc.constant((seq: number) => user(seq, "text")),
    fc
      .array(ids, { maxLength: 3 })
      .map((calls) => (seq: number) => answer(seq, [{ type: "text", text: "t" }, ...calls.map((id) => call(id))])),
    ids.map((id) => (seq: number) => result(seq, id, "r")),
    fc.nat(20).map((to) => (seq: number) => stored(seq, "session_history_changed", { kind: "undo", to_seq: to })),
    fc.constant((seq: number) => stored(seq, "session_history_changed", { kind: "new" })),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (makers) => {
      const messages = fold(makers.map((make, index) => make(index + 1))).toMessages("turn_1");
      for (const [index, message] of messages.entries()) {
        if (message.role === "tool") assert.equal(messages[index - 1]?.role, "assistant");
        if (message.role !== "assistant") continue;
        const calls = message.content.flatMap((part) => (part.type === "tool_use" ? [part.id] : []));
        const next = messages[index + 1];
        const results = next?.role === "tool" ? next.content.map((part) => part.tool_call_id) : [];
        assert.deepEqual(results, calls);
        assert.equal(new Set(calls).size, calls.length);
        assert.ok(message.content.length > 0);
      }
    }),
    fuzzOptions(t, 100),
  );
});
