import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProviderChunk } from "../../../src/providers/provider.js";
import type { ScriptedAnswer } from "../../support/worlds/model-script.js";
import { collect, end, open, type WireUnderTest } from "./calls.js";

const everything: ScriptedAnswer = {
  thinking: ["let me ", "see"],
  text: ["Hel", "lo ", "世界"],
  toolCalls: [
    { id: "call_a", name: "read_file", jsonPieces: ['{"pa', 'th":"a.', 'txt"}'] },
    { id: "call_b", name: "list_dir", jsonPieces: ["{", '"path":"b"}'] },
    { id: "call_c", name: "now" },
  ],
  usage: { input: 70, output: 9, cacheRead: 30 },
};

const everythingChunks: readonly ProviderChunk[] = [
  { kind: "thinking", text: "let me " },
  { kind: "thinking", text: "see" },
  { kind: "text", text: "Hel" },
  { kind: "text", text: "lo " },
  { kind: "text", text: "世界" },
  { kind: "tool_call", id: "call_a", name: "read_file" },
  { kind: "tool_input", id: "call_a", json: '{"pa' },
  { kind: "tool_input", id: "call_a", json: 'th":"a.' },
  { kind: "tool_input", id: "call_a", json: 'txt"}' },
  { kind: "tool_call", id: "call_b", name: "list_dir" },
  { kind: "tool_input", id: "call_b", json: "{" },
  { kind: "tool_input", id: "call_b", json: '"path":"b"}' },
  { kind: "tool_call", id: "call_c", name: "now" },
  {
    kind: "end",
    stopReason: "tool_use",
    usage: { input_tokens: 70, output_tokens: 9, cache_read_tokens: 30, cache_write_tokens: 0 },
  },
];

export function answersTests(name: string, wire: WireUnderTest): void {
  describe(`${name}: answers`, () => {
    test("thinking, text and parallel tool calls arrive in order, piece by piece", async () => {
      await using setup = await open(wire, everything);
      assert.deepEqual(await collect(setup.provider), everythingChunks);
    });

    test("pieces of parallel tool calls may alternate and keep their ids", async () => {
      await using setup = await open(wire, { ...everything, interleaved: true });
      const chunks = await collect(setup.provider);
      const jsonOf = (id: string) => chunks.map((c) => (c.kind === "tool_input" && c.id === id ? c.json : "")).join("");
      assert.equal(jsonOf("call_a"), '{"path":"a.txt"}');
      assert.equal(jsonOf("call_b"), '{"path":"b"}');
      const inputs = chunks.flatMap((c) => (c.kind === "tool_input" ? [c.id] : []));
      assert.deepEqual(inputs, ["call_a", "call_b", "call_a", "call_b", "call_a"]);
    });

    test("a tool call without an id, or with one used twice, gets an id of its own", async () => {
      const calls = [{ name: "now" }, { id: "same", name: "now" }, { id: "same", name: "now" }];
      await using setup = await open(wire, { toolCalls: calls.map((call) => ({ ...call, input: { n: 1 } })) });
      const chunks = await collect(setup.provider);
      const ids = chunks.flatMap((c) => (c.kind === "tool_call" ? [c.id] : []));
      assert.equal(new Set(ids).size, 3);
      assert.ok(ids.includes("same") && ids.every((id) => id !== ""));
      for (const id of ids)
        assert.ok(chunks.some((c) => c.kind === "tool_input" && c.id === id && c.json === '{"n":1}'));
    });

    test("chunks of unknown kinds are skipped", async () => {
      await using setup = await open(wire, { ...everything, unknownFrames: true });
      assert.deepEqual(await collect(setup.provider), everythingChunks);
    });

    test("a server that answers with one JSON document is understood", async () => {
      await using setup = await open(wire, {
        text: "hi",
        toolCalls: [{ id: "x", name: "now", input: { a: 1 } }],
        whole: true,
      });
      assert.deepEqual(await collect(setup.provider), [
        { kind: "text", text: "hi" },
        { kind: "tool_call", id: "x", name: "now" },
        { kind: "tool_input", id: "x", json: '{"a":1}' },
        end("tool_use"),
      ]);
    });

    test("a server that tells no usage gives zeros", async () => {
      await using setup = await open(wire, { text: "hi", usage: false });
      assert.deepEqual(await collect(setup.provider), [{ kind: "text", text: "hi" }, end("end_turn", 0, 0)]);
    });

    test("an empty answer is an end and nothing else", async () => {
      await using setup = await open(wire, {});
      assert.deepEqual(await collect(setup.provider), [end("end_turn")]);
    });

    for (const stopReason of ["end_turn", "max_tokens", "refusal"] as const) {
      test(`an answer that ends by ${stopReason} says so`, async () => {
        await using setup = await open(wire, { text: "x", stopReason });
        assert.deepEqual((await collect(setup.provider)).at(-1), end(stopReason));
      });
    }

    test("a complete answer counts although the server never closes the stream", async () => {
      await using setup = await open(wire, { text: "done", hang: "end" });
      const began = performance.now();
      assert.deepEqual(await collect(setup.provider), [{ kind: "text", text: "done" }, end("end_turn")]);
      assert.ok(performance.now() - began < 10_000);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });
  });
}
