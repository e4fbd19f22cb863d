import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { createOpenAIProvider } from "../../../src/providers/openai/openai.js";
import { createToolCallReader } from "../../../src/providers/openai/tool-calls.js";
import type { ModelMessage, Thinking } from "../../../src/providers/provider.js";
import { collect, hello, open, providerContract, testKey } from "../../contracts/provider.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";

const wire = { create: createOpenAIProvider, startFake: startFakeOpenAI };

providerContract("openai", wire);

const turn: readonly ModelMessage[] = [
  { role: "user", content: [{ type: "text", text: "what is in a.txt?" }] },
  {
    role: "assistant",
    content: [
      { type: "thinking", text: "hm", signature: "s" },
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: "call_1", name: "read_file", input: { path: "a.txt" } },
      { type: "tool_use", id: "call_2", name: "now", input: {}, invalid_json: "{oops" },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool_result", tool_call_id: "call_1", content: "hello", is_error: false },
      { type: "tool_result", tool_call_id: "call_2", content: "", is_error: true },
    ],
  },
];

describe("openai: requests", () => {
  test("a conversation with tools is sent as chat messages, thinking left out", async () => {
    await using setup = await open(wire, { text: "ok" });
    const inputSchema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { path: { type: "string" }, title: { type: "integer", maximum: Number.MAX_SAFE_INTEGER } },
      required: ["path"],
      additionalProperties: false,
    };
    await collect(setup.provider, {
      ...hello,
      messages: turn,
      tools: [{ name: "read_file", description: "Read.", inputSchema }],
    });
    assert.deepEqual(setup.server.requests[0]?.body, {
      model: "model-1",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "what is in a.txt?" },
        {
          role: "assistant",
          content: "Let me look.",
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a.txt"}' } },
            { id: "call_2", type: "function", function: { name: "now", arguments: "{}" } },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "hello" },
        { role: "tool", tool_call_id: "call_2", content: "(no output)" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "read_file",
            description: "Read.",
            parameters: {
              type: "object",
              properties: { path: { type: "string" }, title: { type: "integer" } },
              required: ["path"],
            },
          },
        },
      ],
      max_tokens: 100,
      temperature: 0.7,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("the next turn repeats the bytes of the one before", async () => {
    await using setup = await open(wire, { text: "ok" });
    await collect(setup.provider, { ...hello, messages: turn });
    const answer: ModelMessage = { role: "assistant", content: [{ type: "text", text: "It says hello." }] };
    await collect(setup.provider, { ...hello, messages: [...turn, answer, ...hello.messages] });
    const [first = "", second = ""] = setup.server.requests.map((request) => request.bodyText);
    const prefix = first.slice(0, first.indexOf('],"max_tokens"'));
    assert.ok(prefix.length > 300);
    assert.ok(second.startsWith(prefix));
  });

  test("an image goes along as a data URL, and a missing one as a line of text", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "maxclaw-"));
    try {
      const image = path.join(folder, "dot.png");
      await writeFile(image, "GIF89a");
      await using setup = await open(wire, { text: "ok" });
      await collect(setup.provider, {
        ...hello,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "look" },
              { type: "image", mime_type: "image/png", path: image },
              { type: "image", mime_type: "image/png", path: `${image}.gone`, filename: "gone.png" },
            ],
          },
        ],
      });
      assert.deepEqual(setup.server.requests[0]?.body.messages, [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "data:image/gif;base64,R0lGODlh" } },
            { type: "text", text: "[gone.png cannot be shown: the file is gone]" },
          ],
        },
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("the key goes into the Authorization header, and without one there is no such header", async () => {
    await using setup = await open(wire, { text: "ok" });
    await collect(setup.provider);
    await collect(
      createOpenAIProvider({ name: "local", apiBase: setup.server.apiBase, headers: { "x-team": "blue" } }),
    );
    const [keyed, keyless] = setup.server.requests.map((request) => request.headers);
    assert.equal(keyed?.authorization, `Bearer ${testKey}`);
    assert.equal(keyless?.authorization, undefined);
    assert.equal(keyless?.["x-team"], "blue");
  });

  test("OPENAI_* variables of the environment change nothing", async () => {
    const variables = {
      OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
      OPENAI_API_KEY: "sk-of-somebody-else",
      OPENAI_ORG_ID: "org",
      OPENAI_CUSTOM_HEADERS: "Authorization: Bearer sk-of-somebody-else\nX-Other: secret",
    };
    Object.assign(process.env, variables);
    try {
      await using setup = await open(wire, { text: "ok" });
      await collect(setup.provider);
      const headers = setup.server.requests[0]?.headers;
      assert.equal(headers?.authorization, `Bearer ${testKey}`);
      assert.equal(headers?.["openai-organization"], undefined);
      assert.equal(headers?.["x-other"], undefined);
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
  });

  test("an address may be the server's root, end in a slash, or name the whole path", async () => {
    await using setup = await open(wire, { text: "ok" });
    const root = setup.server.apiBase.replace("/v1", "");
    for (const apiBase of [root, `${root}/v1/`, `${root}/v1/chat/completions`]) {
      await collect(createOpenAIProvider({ name: "acme", apiKey: testKey, apiBase }));
    }
    assert.deepEqual(
      setup.server.requests.map(({ path }) => path),
      Array.from({ length: 3 }, () => "/v1/chat/completions"),
    );
  });

  for (const [what, message, field] of [
    ["max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"],
    ["stream_options", "Unknown field stream_options", "stream_options"],
  ] as const) {
    test(`a server that refuses ${what} is asked without it`, async () => {
      const refusal = { status: 400, body: { error: { message } } };
      await using setup = await open(wire, ({ body }) => (field in body ? refusal : { text: "ok" }));
      assert.equal((await collect(setup.provider))[0]?.kind, "text");
      if (what === "max_tokens") assert.equal(setup.server.requests[1]?.body.max_completion_tokens, 100);
    });
  }

  test("a server that wants the thinking back gets it with each message that calls tools", async () => {
    const message = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    const refusal = { status: 400, body: { error: { message } } };
    await using setup = await open(wire, ({ bodyText }) =>
      bodyText.includes("reasoning_content") ? { text: "ok" } : refusal,
    );
    await collect(setup.provider, { ...hello, messages: turn });
    assert.match(setup.server.requests[1]?.bodyText ?? "", /"reasoning_content":"hm","tool_calls"/);
  });
});

describe("openai: careless servers", () => {
  const read = (pieces: Parameters<ReturnType<typeof createToolCallReader>["read"]>[0][]) => {
    const reader = createToolCallReader();
    const chunks = [...pieces.flatMap((piece) => [...reader.read(piece)]), ...reader.end()];
    const calls = chunks.flatMap((chunk) => (chunk.kind === "tool_call" ? [chunk] : []));
    return calls.map(({ id, name }) => ({
      name,
      json: chunks.map((chunk) => (chunk.kind === "tool_input" && chunk.id === id ? chunk.json : "")).join(""),
    }));
  };

  test("calls that all say index 0 are told apart by their ids", () => {
    const pieces = ["a", "b"].map((id) => ({ index: 0, id, function: { name: "read", arguments: `{"f":"${id}"}` } }));
    assert.deepEqual(read(pieces), [
      { name: "read", json: '{"f":"a"}' },
      { name: "read", json: '{"f":"b"}' },
    ]);
  });

  test("complete calls without index and id are told apart by their names", () => {
    const pieces = ["a", "b"].map((f) => ({ function: { name: "read", arguments: `{"f":"${f}"}` } }));
    assert.deepEqual(read(pieces), [
      { name: "read", json: '{"f":"a"}' },
      { name: "read", json: '{"f":"b"}' },
    ]);
  });

  test("pieces without index and id belong to the call before, also when the name is repeated", () => {
    const pieces = ['{"f":', '"a"}'].map((json) => ({ function: { name: "read", arguments: json } }));
    assert.deepEqual(read([...pieces, { function: { arguments: " " } }]), [{ name: "read", json: '{"f":"a"} ' }]);
  });

  test("a name that comes late, arguments that are an object, and a call without a name are borne", () => {
    assert.deepEqual(
      read([
        { index: 0, id: "a", function: { arguments: "{" } },
        { index: 0, function: { name: "read", arguments: "}" } },
        { index: 1, id: "b", function: { name: "list", arguments: { f: 1 } } },
        { index: 2, id: "c", function: { arguments: "{}" } },
      ]),
      [
        { name: "read", json: "{}" },
        { name: "list", json: '{"f":1}' },
        { name: "unknown", json: "{}" },
      ],
    );
  });

  test("a refusal is text that ends by refusal", async () => {
    const body = { choices: [{ message: { content: null, refusal: "I cannot help." }, finish_reason: "stop" }] };
    await using setup = await open(wire, { body });
    const chunks = await collect(setup.provider);
    assert.deepEqual(chunks[0], { kind: "text", text: "I cannot help." });
    assert.equal(chunks[1]?.kind === "end" && chunks[1].stopReason, "refusal");
  });

  test("fields of surprising types cost nothing but themselves", async () => {
    const body = {
      choices: [{ message: { content: "hi", tool_calls: "none", reasoning: { a: 1 } }, finish_reason: "stop" }],
      usage: { prompt_tokens: "many", completion_tokens: 3, prompt_tokens_details: 7 },
    };
    await using setup = await open(wire, { body });
    assert.deepEqual(await collect(setup.provider), [
      { kind: "text", text: "hi" },
      {
        kind: "end",
        stopReason: "end_turn",
        usage: { input_tokens: 0, output_tokens: 3, cache_read_tokens: 0, cache_write_tokens: 0 },
      },
    ]);
  });
});

describe("openai: thinking", () => {
  const effortOf = async (thinking: Thinking | undefined): Promise<unknown> => {
    await using setup = await open(wire, { text: "ok" });
    await collect(setup.provider, { ...hello, thinking });
    return setup.server.requests[0]?.body.reasoning_effort;
  };

  test("is told as an effort, and not at all without a wish", async () => {
    const efforts = [undefined, "off", "low", "medium", "high", 1024, 2049, 9000] as const;
    assert.deepEqual(await Promise.all(efforts.map(effortOf)), [
      undefined,
      "none",
      "low",
      "medium",
      "high",
      "low",
      "medium",
      "high",
    ]);
  });

  test("a model that refuses the effort is asked without it, from then on", async () => {
    const refusal = { status: 400, body: { error: { message: "Unrecognized request argument: reasoning_effort" } } };
    await using setup = await open(wire, ({ body }) => ("reasoning_effort" in body ? refusal : { text: "ok" }));
    for (let n = 0; n < 2; n += 1) await collect(setup.provider, { ...hello, thinking: "high" });
    assert.deepEqual(
      setup.server.requests.map(({ body }) => body.reasoning_effort),
      ["high", undefined, undefined],
    );
  });
});

describe("openai: what a call has cost", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.0123 };
  const costFrom = async (name: string): Promise<unknown> => {
    const choices = [{ message: { content: "hi" }, finish_reason: "stop" }];
    await using server = await startFakeOpenAI({ answer: { body: { choices, usage } } });
    const chunks = await collect(createOpenAIProvider({ name, apiKey: "k", apiBase: server.apiBase }));
    const end = chunks.at(-1);
    return end?.kind === "end" && end.costUsd;
  };

  test("is believed to OpenRouter, which counts in USD, and to nobody else", async () => {
    assert.deepEqual([await costFrom("openrouter"), await costFrom("acme")], [0.0123, undefined]);
  });
});
