import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { ModelMessage } from "../../../src/providers/provider.js";
import { toCompactSchema } from "../../../src/providers/request/compact-schema.js";
import { toValidMessages } from "../../../src/providers/request/valid-messages.js";
import { fuzzOptions } from "../../support/fuzz.js";

const goodId = /^[a-zA-Z0-9_-]{1,40}$/;
const text = fc.constantFrom("", "  ", "\n", "hello", "世界").map((value) => ({ type: "text" as const, text: value }));
const id = fc.constantFrom("a", "b", "c", "", "functions.read:0", "x".repeat(99));
const thinking = fc.record({ type: fc.constant("thinking" as const), text: fc.constantFrom("", "hm") });
const call = fc.record({
  type: fc.constant("tool_use" as const),
  id,
  name: fc.constantFrom("read_file", "multi_tool.use", "", "名字"),
  input: fc.constant({}),
});
const result = fc.record({
  type: fc.constant("tool_result" as const),
  tool_call_id: id,
  content: fc.constantFrom("", "done"),
  is_error: fc.boolean(),
});
const message: fc.Arbitrary<ModelMessage> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), content: fc.array(text, { maxLength: 3 }) }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.array(fc.oneof(text, thinking, call), { maxLength: 4 }),
  }),
  fc.record({ role: fc.constant("tool" as const), content: fc.array(result, { maxLength: 3 }) }),
);

describe("conversations as requests", () => {
  test("any conversation becomes one that every API accepts", (t) => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const valid = toValidMessages(messages, goodId);
        assert.equal(valid[0]?.role, "user");
        assert.notEqual(valid.at(-1)?.role, "assistant");
        const ids = new Set<string>();
        valid.forEach((entry, index) => {
          const next = valid[index + 1];
          assert.ok(entry.content.length > 0);
          if (entry.role !== "tool") assert.notEqual(entry.role, next?.role);
          if (entry.role === "tool") assert.equal(valid[index - 1]?.role, "assistant");
          for (const part of entry.content) if (part.type === "text") assert.notEqual(part.text.trim(), "");
          if (entry.role !== "assistant") return;
          const calls = entry.content.filter((part) => part.type === "tool_use");
          assert.ok(entry.content.some((part) => part.type !== "thinking"));
          for (const part of calls) {
            assert.match(part.id, goodId);
            assert.match(part.name, /^[a-zA-Z0-9_-]{1,64}$/);
            assert.ok(!ids.has(part.id));
            ids.add(part.id);
          }
          if (calls.length === 0) return;
          assert.equal(next?.role, "tool");
          const answered = next.content.map((part) => (part.type === "tool_result" ? part.tool_call_id : ""));
          assert.deepEqual(
            answered,
            calls.map((part) => part.id),
          );
        });
      }),
      fuzzOptions(t, 500),
    );
  });

  test("a valid conversation stays as it is", () => {
    const messages: ModelMessage[] = [
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "now", input: {} }] },
      { role: "tool", content: [{ type: "tool_result", tool_call_id: "a", content: "noon", is_error: false }] },
      { role: "assistant", content: [{ type: "text", text: "It is noon." }] },
      { role: "user", content: [{ type: "text", text: "thanks" }] },
    ];
    assert.deepEqual(toValidMessages(messages, goodId), messages);
  });

  test("of two answers in a row nothing is left of the thinking, whose proof holds for its own answer only", () => {
    const answer = (n: number): ModelMessage => ({
      role: "assistant",
      content: [
        { type: "thinking", text: "hm", signature: `proof ${n}` },
        { type: "text", text: `answer ${n}` },
      ],
    });
    const valid = toValidMessages(
      [{ role: "user", content: [{ type: "text", text: "hi" }] }, answer(1), answer(2)],
      goodId,
    );
    assert.deepEqual(valid[1]?.content, [
      { type: "text", text: "answer 1" },
      { type: "text", text: "answer 2" },
    ]);
  });

  test("half of a surrogate pair never reaches an API, wherever it stands", () => {
    const half = "\ud83d";
    const valid = toValidMessages(
      [
        { role: "user", content: [{ type: "text", text: `a${half}` }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", text: half, signature: "proof" },
            { type: "text", text: `b${half}` },
            { type: "tool_use", id: half, name: half, input: { [half]: [{ deep: half }], fine: "😀" } },
          ],
        },
        { role: "tool", content: [{ type: "tool_result", tool_call_id: half, content: `c${half}`, is_error: false }] },
      ],
      goodId,
    );
    assert.equal(JSON.stringify(valid).includes("\\ud83d"), false);
    const [, answer, results] = valid;
    assert.deepEqual(answer?.content[0], { type: "thinking", text: "\ufffd" });
    assert.deepEqual(answer?.content[2]?.type === "tool_use" && answer.content[2].input, {
      "\ufffd": [{ deep: "\ufffd" }],
      fine: "😀",
    });
    assert.equal(results?.role === "tool" && results.content[0]?.content, "c\ufffd");
  });

  test("a call without a result gets one that says so, and results keep to their calls", () => {
    const calls = ["a", "b", "a"].map((name) => ({ type: "tool_use" as const, id: name, name: "now", input: {} }));
    const results = ["b", "a"].map((name) => ({
      type: "tool_result" as const,
      tool_call_id: name,
      content: `of ${name}`,
      is_error: false,
    }));
    const valid = toValidMessages(
      [
        { role: "assistant", content: calls },
        { role: "tool", content: results },
      ],
      goodId,
    );
    const told = valid.flatMap((entry) => (entry.role === "tool" ? entry.content : []));
    assert.deepEqual(
      told.map(({ content, is_error }) => [content, is_error]),
      [
        ["of a", false],
        ["of b", false],
        ["The call was interrupted; it is unknown whether it took effect.", true],
      ],
    );
  });
});

describe("tool schemas", () => {
  test("what models do not need is left out, and names that look like it are kept", () => {
    const schema = {
      $schema: "x",
      title: "Input",
      type: "object",
      properties: {
        title: { type: "string", title: "Title", minLength: 1 },
        $schema: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: 5 },
        map: {
          type: "object",
          propertyNames: { type: "string" },
          additionalProperties: { type: "string", title: "x" },
        },
        list: { type: "array", items: { type: "object", properties: {}, additionalProperties: false } },
        fixed: { const: { title: "kept" } },
      },
      required: ["title"],
      additionalProperties: false,
    };
    assert.deepEqual(toCompactSchema(schema), {
      type: "object",
      properties: {
        title: { type: "string", minLength: 1 },
        $schema: { type: "integer", maximum: 5 },
        map: { type: "object", additionalProperties: { type: "string" } },
        list: { type: "array", items: { type: "object", properties: {} } },
        fixed: { const: { title: "kept" } },
      },
      required: ["title"],
    });
  });

  test("a union at the top becomes one object, and a schema of nothing an empty one", () => {
    const branches = [
      { properties: { a: { type: "string" } }, required: ["a"] },
      { properties: { b: { type: "string" } } },
    ];
    assert.deepEqual(toCompactSchema({ oneOf: branches, properties: { c: {} } }), {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, c: {} },
    });
    assert.deepEqual(toCompactSchema({}), { type: "object", properties: {} });
  });
});
