import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createAnthropicProvider } from "../../../src/providers/anthropic/anthropic.js";
import type { ModelMessage, ModelRequest } from "../../../src/providers/provider.js";
import { collect, hello, open, testKey } from "../../contracts/provider/calls.js";
import { providerContract } from "../../contracts/provider.js";
import { startFakeAnthropic } from "../../support/fakes/models/fake-anthropic.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

const wire = { create: createAnthropicProvider, startFake: startFakeAnthropic };

providerContract("anthropic", wire);

const mark = { cache_control: { type: "ephemeral" } };
const turn: readonly ModelMessage[] = [
  { role: "user", content: [{ type: "text", text: "what is in a.txt?" }] },
  {
    role: "assistant",
    content: [
      { type: "thinking", text: "hm", signature: "proof" },
      { type: "thinking", text: "unproven" },
      { type: "thinking", text: "", signature: "redacted:abc" },
      { type: "tool_use", id: "functions.read_file:0", name: "functions.read_file", input: { path: "a.txt" } },
    ],
  },
  {
    role: "tool",
    content: [{ type: "tool_result", tool_call_id: "functions.read_file:0", content: "no such file", is_error: true }],
  },
  { role: "user", content: [{ type: "text", text: "hurry" }] },
];

const tools: ModelRequest["tools"] = ["list_dir", "read_file"].map((name) => ({
  name,
  description: "Does it.",
  inputSchema: { type: "object", properties: {} },
}));

describe("anthropic: requests", () => {
  test("system, last tool and last message are marked for the cache; results and text share a message", async () => {
    await using setup = await open(wire, { text: "ok" });
    await collect(setup.provider, { ...hello, messages: turn, tools, temperature: 1.5 });
    const body = setup.server.requests[0]?.body;
    const id = JSON.stringify(body).match(/"tool_use","id":"(call_[0-9a-f]{20})"/)?.[1];
    assert.deepEqual(body, {
      model: "model-1",
      max_tokens: 100,
      system: [{ type: "text", text: "Be brief.", ...mark }],
      tools: [
        { name: "list_dir", description: "Does it.", input_schema: { type: "object", properties: {} } },
        { name: "read_file", description: "Does it.", input_schema: { type: "object", properties: {} }, ...mark },
      ],
      messages: [
        { role: "user", content: [{ type: "text", text: "what is in a.txt?", ...mark }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "proof" },
            { type: "redacted_thinking", data: "abc" },
            { type: "tool_use", id, name: "functions_read_file", input: { path: "a.txt" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: id, content: "no such file", is_error: true },
            { type: "text", text: "hurry", ...mark },
          ],
        },
      ],
      temperature: 1,
      stream: true,
    });
  });

  test("the next turn repeats the bytes of the one before, except for the marks", async () => {
    await using setup = await open(wire, { text: "ok" });
    await collect(setup.provider, { ...hello, messages: turn, tools });
    const answer: ModelMessage = { role: "assistant", content: [{ type: "text", text: "There is none." }] };
    await collect(setup.provider, { ...hello, messages: [...turn, answer, ...hello.messages], tools });
    const unmarked = setup.server.requests.map(({ bodyText }) =>
      bodyText.replaceAll(`,"cache_control":{"type":"ephemeral"}`, ""),
    );
    const [first = "", second = ""] = unmarked;
    const prefix = first.slice(0, first.indexOf('],"temperature"'));
    assert.ok(prefix.length > 500);
    assert.ok(second.startsWith(prefix));
  });

  test("no request has more than four marks", async () => {
    await using setup = await open(wire, { text: "ok" });
    await collect(setup.provider, { ...hello, messages: [...turn, ...turn, ...turn], tools });
    assert.equal(setup.server.requests[0]?.bodyText.match(/cache_control/g)?.length, 4);
  });

  test("a conversation with tool calls but without tools names those it used and forbids them", async () => {
    await using setup = await open(wire, { text: "ok" });
    await collect(setup.provider, { ...hello, messages: turn });
    const body = setup.server.requests[0]?.body;
    assert.deepEqual(body?.tool_choice, { type: "none" });
    assert.deepEqual(body?.tools, [{ name: "functions_read_file", input_schema: { type: "object", properties: {} } }]);
  });

  test("thinking is closed by its signature, and cache writes are counted", async () => {
    await using setup = await open(wire, {
      thinking: "hm",
      signature: "proof",
      text: "hi",
      usage: { input: 3, output: 4, cacheRead: 5, cacheWrite: 6 },
    });
    assert.deepEqual(await collect(setup.provider), [
      { kind: "thinking", text: "hm" },
      { kind: "thinking_signature", signature: "proof" },
      { kind: "text", text: "hi" },
      {
        kind: "end",
        stopReason: "end_turn",
        usage: { input_tokens: 3, output_tokens: 4, cache_read_tokens: 5, cache_write_tokens: 6 },
      },
    ]);
  });

  test("thinking that the server cannot verify is left out from then on", async () => {
    const body = { error: { message: "messages.1.content.0: Invalid `signature` in `thinking` block" } };
    await using setup = await open(wire, ({ bodyText }) =>
      bodyText.includes("proof") ? { status: 400, body } : { text: "ok" },
    );
    await collect(setup.provider, { ...hello, messages: turn });
    await collect(setup.provider, { ...hello, messages: turn });
    assert.equal(setup.server.requests.length, 3);
  });

  test("the key goes to its server, and ANTHROPIC_* variables change nothing", async () => {
    const variables = {
      ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
      ANTHROPIC_API_KEY: "sk-of-somebody-else",
      ANTHROPIC_AUTH_TOKEN: "token-of-somebody-else",
      ANTHROPIC_CUSTOM_HEADERS: "X-Other: secret",
    };
    Object.assign(process.env, variables);
    try {
      await using setup = await open(wire, { text: "ok" });
      await collect(setup.provider);
      await collect(createAnthropicProvider({ name: "local", apiBase: `${setup.server.apiBase}/v1/` }));
      const [keyed, keyless] = setup.server.requests;
      assert.equal(keyed?.headers["x-api-key"], testKey);
      assert.equal(keyed?.headers.authorization, `Bearer ${testKey}`);
      assert.equal(keyed?.headers["x-other"], undefined);
      assert.equal(keyless?.headers["x-api-key"], undefined);
      assert.equal(keyless?.headers.authorization, undefined);
      assert.equal(keyless?.path, "/v1/messages");
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
  });
});

describe("anthropic: thinking", () => {
  /** The fields of the last request that have to do with thinking. */
  async function sent(
    model: string,
    thinking: ModelRequest["thinking"],
    more: { readonly messages?: ModelRequest["messages"]; readonly answer?: AnswerScript } = {},
  ) {
    await using setup = await open(wire, more.answer ?? { text: "ok" });
    const messages = more.messages ?? hello.messages;
    await collect(setup.provider, { ...hello, model, thinking, messages, maxTokens: 1000 });
    const body = setup.server.requests.at(-1)?.body ?? {};
    const { thinking: field, output_config, max_tokens, temperature } = body;
    return { thinking: field, output_config, max_tokens, temperature, requests: setup.server.requests.length };
  }
  const without = { thinking: undefined, output_config: undefined, max_tokens: 1000, temperature: 0.7, requests: 1 };
  const adaptive = (effort: string, extra: number) => ({
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort },
    max_tokens: 1000 + extra,
    temperature: undefined,
    requests: 1,
  });
  const budget = (budget_tokens: number) => ({
    thinking: { type: "enabled", budget_tokens },
    output_config: undefined,
    max_tokens: 1000 + budget_tokens,
    temperature: undefined,
    requests: 1,
  });

  test("without a wish nothing is said about it", async () => {
    assert.deepEqual(await sent("claude-opus-5-5", undefined), without);
    assert.deepEqual(await sent("claude-haiku-4-5", undefined), without);
  });

  test("Claude since 4.6 is told an effort, older ones and other models a budget on top of the answer", async () => {
    assert.deepEqual(await sent("claude-opus-5-5", "high"), adaptive("high", 16_384));
    assert.deepEqual(await sent("claude-opus-4-6", 5000), adaptive("medium", 5000));
    assert.deepEqual(await sent("claude-haiku-4-5-20251001", "low"), budget(2048));
    assert.deepEqual(await sent("claude-3-7-sonnet-latest", 100), budget(1024));
    assert.deepEqual(await sent("MiniMax-M3", "medium"), budget(8192));
  });

  test("off is said where a model thinks by itself, and is nothing elsewhere", async () => {
    assert.deepEqual(await sent("claude-opus-5", "off"), { ...without, thinking: { type: "disabled" } });
    assert.deepEqual(await sent("claude-haiku-4-5", "off"), without);
  });

  test("a model that refuses one form is asked in the other, and at last without", async () => {
    const refuse = (message: string) => ({ status: 400, body: { error: { type: "invalid_request_error", message } } });
    const onlyAdaptive: AnswerScript = ({ bodyText }) =>
      bodyText.includes('"enabled"')
        ? refuse('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".')
        : { text: "ok" };
    assert.deepEqual(await sent("gateway-model", "high", { answer: onlyAdaptive }), {
      ...adaptive("high", 16_384),
      requests: 2,
    });
    const onlyBudget: AnswerScript = ({ bodyText }) =>
      bodyText.includes('"adaptive"') ? refuse("adaptive thinking is not supported on this model") : { text: "ok" };
    assert.deepEqual(await sent("claude-opus-9", "high", { answer: onlyBudget }), { ...budget(16_384), requests: 2 });
    const none: AnswerScript = ({ bodyText }) =>
      bodyText.includes('"thinking"') ? refuse("thinking: this model does not think") : { text: "ok" };
    assert.deepEqual(await sent("old-model", "high", { answer: none }), { ...without, requests: 2 });
  });

  test("that thinking cannot be switched off does not switch it off for good", async () => {
    const refusal = { status: 400, body: { error: { message: "thinking.type: disabled is not allowed" } } };
    await using setup = await open(wire, ({ bodyText }) =>
      bodyText.includes('"disabled"') ? refusal : { text: "ok" },
    );
    await collect(setup.provider, { ...hello, model: "claude-opus-5-5", thinking: "off" });
    await collect(setup.provider, { ...hello, model: "claude-opus-5-5", thinking: "high" });
    assert.equal(setup.server.requests.length, 3);
    assert.deepEqual(setup.server.requests[2]?.body.thinking, { type: "adaptive", display: "summarized" });
  });

  test("a turn that was begun without thinking goes on without a budget for it, which the API would refuse", async () => {
    const call = { type: "tool_use", id: "call_1", name: "now", input: {} } as const;
    const result = { type: "tool_result", tool_call_id: "call_1", content: "12:00", is_error: false } as const;
    const begun = (
      thought: readonly { readonly type: "thinking"; readonly text: string; readonly signature: string }[],
    ) =>
      [
        ...hello.messages,
        { role: "assistant", content: [...thought, call] },
        { role: "tool", content: [result] },
      ] as const;
    assert.deepEqual(await sent("claude-haiku-4-5", "low", { messages: begun([]) }), without);
    const thought = { type: "thinking", text: "hm", signature: "proof" } as const;
    assert.deepEqual(await sent("claude-haiku-4-5", "low", { messages: begun([thought]) }), budget(2048));
    assert.deepEqual(await sent("claude-opus-5", "low", { messages: begun([]) }), adaptive("low", 2048));
  });
});
