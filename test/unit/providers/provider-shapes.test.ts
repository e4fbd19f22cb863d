import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createAnthropicProvider } from "../../../src/providers/anthropic/anthropic.js";
import { createOpenAIProvider } from "../../../src/providers/openai/openai.js";
import type { ModelMessage, Provider, ProviderChunk } from "../../../src/providers/provider.js";
import { collect, failureOf, hello, testKey } from "../../contracts/provider/calls.js";
import { startFakeAnthropic } from "../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { type AnswerShape, answerShapes, frames } from "../../support/rules/answer-shapes.js";
import { errorShapes } from "../../support/rules/error-shapes.js";
import type { AnswerScript, RecordedRequest } from "../../support/worlds/model-script.js";

async function open(answer: AnswerScript, wire: AnswerShape["wire"] = "openai") {
  const server = await (wire === "openai" ? startFakeOpenAI : startFakeAnthropic)({ answer });
  const create = wire === "openai" ? createOpenAIProvider : createAnthropicProvider;
  const provider: Provider = create({ name: "acme", apiKey: testKey, apiBase: server.apiBase });
  return { server, provider, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** What an answer comes to: thinking that was first taken for text is not text. */
function told(chunks: readonly ProviderChunk[]) {
  let text = "";
  let thinking = "";
  const calls: { id: string; name: string; json: string }[] = [];
  for (const chunk of chunks) {
    if (chunk.kind === "text") text += chunk.text;
    else if (chunk.kind === "thinking") thinking += chunk.text;
    else if (chunk.kind === "tool_call") calls.push({ id: chunk.id, name: chunk.name, json: "" });
    else if (chunk.kind === "tool_input") {
      const call = calls.find(({ id }) => id === chunk.id);
      if (call !== undefined) call.json += chunk.json;
    } else if (chunk.kind === "was_thinking") {
      assert.equal(text, chunk.text);
      thinking += text;
      text = "";
    }
  }
  return { text, thinking, calls: calls.map(({ name, json }) => [name, json]) };
}

describe("answers of every shape are read:", () => {
  for (const shape of answerShapes)
    test(`${shape.wire ?? "openai"}: ${shape.name}`, async () => {
      const { body, type = "text/event-stream", usage: [input, output] = [0, 0], calls = [] } = shape;
      await using setup = await open({ body, headers: { "content-type": type } }, shape.wire);
      const chunks = await collect(setup.provider);
      const { text = "", thinking = "" } = shape;
      assert.deepEqual(told(chunks), { text, thinking, calls });
      const stopReason = shape.stopReason ?? (calls.length > 0 ? "tool_use" : "end_turn");
      const usage = { input_tokens: input, output_tokens: output, cache_read_tokens: 0, cache_write_tokens: 0 };
      assert.deepEqual(chunks.at(-1), { kind: "end", stopReason, usage });
      assert.equal(setup.server.requests.length, 1);
    });
});

describe("failures of every shape are told in the server's words:", () => {
  for (const wire of ["openai", "anthropic"] as const)
    for (const { name, status, type = "application/json", body, kind, says } of errorShapes)
      test(`${wire}: ${name}`, async () => {
        const sent = typeof body === "string" ? body : JSON.stringify(body);
        await using setup = await open({ status, body: sent, headers: { "content-type": type } }, wire);
        const error = await failureOf(setup.provider);
        assert.match(error.message, says);
        assert.equal(error.kind, kind);
      });
});

describe("Gemini's signatures", () => {
  const asked: readonly ModelMessage[] = [
    { role: "user", content: [{ type: "text", text: "what time is it?" }] },
    { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "now", input: {} }] },
    { role: "tool", content: [{ type: "tool_result", tool_call_id: "call_1", content: "noon", is_error: false }] },
  ];
  const missing = "Function call is missing a thought_signature in functionCall parts.";
  const signatureIn = ({ body }: RecordedRequest): unknown =>
    /"thought_signature":"([^"]+)"/.exec(JSON.stringify(body))?.[1];

  for (const [what, body] of [
    ["in a list", [{ error: { code: 400, message: missing, status: "INVALID_ARGUMENT" } }]],
    ["in an object", { error: { code: 400, message: missing, status: "INVALID_ARGUMENT" } }],
    ["in the words of its own API", { error: { message: missing.replace("thought_signature", "thoughtSignature") } }],
    [
      "far behind in OpenRouter's raw answer",
      {
        error: {
          message: "Provider returned error",
          metadata: { raw: JSON.stringify([{ error: { message: `${"x".repeat(2000)} ${missing}` } }]) },
        },
      },
    ],
    ["in a detail", { detail: missing }],
  ] as const)
    test(`are learnt from an error ${what}`, async () => {
      await using setup = await open((request) =>
        signatureIn(request) === undefined
          ? { status: 400, body: JSON.stringify(body), headers: { "content-type": "application/json" } }
          : { text: "noon" },
      );
      assert.equal(told(await collect(setup.provider, { ...hello, messages: asked })).text, "noon");
      assert.equal(setup.server.requests.length, 2);
    });

  test("that came with a call go back with it", async () => {
    const signed = {
      index: 0,
      id: "call_1",
      function: { name: "now", arguments: "{}" },
      extra_content: { google: { thought_signature: "c2ln" } },
    };
    const first = frames({ choices: [{ delta: { tool_calls: [signed] }, finish_reason: "stop" }] }, "[DONE]");
    await using setup = await open([
      { body: first, headers: { "content-type": "text/event-stream" } },
      { text: "noon" },
    ]);
    const chunks = await collect(setup.provider);
    const signature = chunks.find((chunk) => chunk.kind === "thinking_signature");
    assert.ok(signature?.kind === "thinking_signature");
    const [question, answer, result] = asked;
    assert.ok(question && answer?.role === "assistant" && result);
    const content = [{ type: "thinking" as const, text: "", signature: signature.signature }, ...answer.content];
    await collect(setup.provider, { ...hello, messages: [question, { ...answer, content }, result] });
    const [, second] = setup.server.requests;
    assert.equal(second && signatureIn(second), "c2ln");
  });
});

describe("a model that thinks without an opening tag", () => {
  test("is known from its second answer on, whose thinking is never told as text", async () => {
    const body = frames(
      { choices: [{ delta: { content: "hm\n" } }] },
      { choices: [{ delta: { content: "</think>\n\nHello" }, finish_reason: "stop" }] },
    );
    await using setup = await open({ body, headers: { "content-type": "text/event-stream" } });
    const first = await collect(setup.provider);
    const second = await collect(setup.provider);
    assert.deepEqual(
      first.map(({ kind }) => kind),
      ["text", "was_thinking", "text", "end"],
    );
    assert.deepEqual(
      second.map(({ kind }) => kind),
      ["thinking", "text", "end"],
    );
  });

  test("loses nothing of an answer that speaks of the tags", async () => {
    const stop = { delta: {}, finish_reason: "stop" };
    const about = ["Write `", "</think>", "` at its end."];
    const inPairs = ["Between <think>", "x</think>", " it thinks."];
    const thinks = ["hm\n", "</think>\n\nHello"];
    const answers = [thinks, about, thinks, inPairs].map((texts) => ({
      body: frames(...texts.map((content) => ({ choices: [{ delta: { content } }] })), { choices: [stop] }),
      headers: { "content-type": "text/event-stream" },
    }));
    await using setup = await open(answers);
    const shown: string[] = [];
    for (const _ of answers) shown.push(told(await collect(setup.provider)).text);
    assert.deepEqual([shown[1], shown[3]], [about.join(""), inPairs.join("")]);
  });
});
