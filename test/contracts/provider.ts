import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { isAbortError, ProviderError, type ProviderErrorKind } from "../../src/errors.js";
import type { HttpProviderOptions } from "../../src/providers/model-call.js";
import type { ModelRequest, Provider, ProviderChunk } from "../../src/providers/provider.js";
import type { TimeLimits } from "../../src/providers/wire/timeouts.js";
import type { AnswerScript, FakeModelServer, ScriptedAnswer } from "../support/worlds/model-script.js";

export const testKey = "test-key-0123456789abcdef";

export const hello: ModelRequest = {
  model: "model-1",
  system: "Be brief.",
  messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  tools: [],
  maxTokens: 100,
  temperature: 0.7,
};

export const noAbort = new AbortController().signal;

export async function collect(provider: Provider, request = hello, signal = noAbort): Promise<ProviderChunk[]> {
  const chunks: ProviderChunk[] = [];
  for await (const chunk of provider.stream(request, signal)) chunks.push(chunk);
  return chunks;
}

export async function failureOf(provider: Provider, request = hello): Promise<ProviderError> {
  try {
    await collect(provider, request);
  } catch (error) {
    assert.ok(error instanceof ProviderError, inspect(error));
    return error;
  }
  return assert.fail("the call did not fail");
}

/** The two wires that can be faked. */
export interface WireUnderTest {
  readonly create: (options: HttpProviderOptions) => Provider;
  readonly startFake: (options: { answer: AnswerScript }) => Promise<FakeModelServer>;
}

/** A provider in front of a fake server that plays the script. */
export async function open(wire: WireUnderTest, answer: AnswerScript, limits: Partial<TimeLimits> = {}) {
  const server = await wire.startFake({ answer });
  const provider = wire.create({ name: "acme", apiKey: testKey, apiBase: server.apiBase, limits });
  return { server, provider, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

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

const end = (stopReason: string, input = 10, output = 5) => ({
  kind: "end",
  stopReason,
  usage: { input_tokens: input, output_tokens: output, cache_read_tokens: 0, cache_write_tokens: 0 },
});

/** What every provider behind an HTTP address promises. */
export function providerContract(name: string, wire: WireUnderTest): void {
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

  describe(`${name}: aborts`, () => {
    test("an abort in the middle closes the connection and rejects with the reason", async () => {
      await using setup = await open(wire, { text: ["a", "b"], hang: "middle" });
      const abort = new AbortController();
      const seen: string[] = [];
      const reading = (async () => {
        for await (const chunk of setup.provider.stream(hello, abort.signal)) {
          seen.push(chunk.kind);
          if (seen.length === 2) abort.abort();
        }
      })();
      await assert.rejects(reading, isAbortError);
      assert.deepEqual(seen, ["text", "text"]);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });

    test("an abort while the server is silent closes the connection", async () => {
      await using setup = await open(wire, { hang: "start" });
      const abort = new AbortController();
      const reading = collect(setup.provider, hello, abort.signal);
      await setup.server.waitForRequests(1);
      abort.abort();
      await assert.rejects(reading, isAbortError);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });

    test("nothing is sent when the signal is already aborted", async () => {
      await using setup = await open(wire, { text: "x" });
      await assert.rejects(collect(setup.provider, hello, AbortSignal.abort()), isAbortError);
      assert.equal(setup.server.requests.length, 0);
    });

    test("leaving the iteration closes the connection", async () => {
      await using setup = await open(wire, { text: ["a", "b"], hang: "middle" });
      for await (const chunk of setup.provider.stream(hello, noAbort)) {
        assert.equal(chunk.kind, "text");
        break;
      }
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });
  });

  describe(`${name}: failures`, () => {
    const failures: readonly [string, ScriptedAnswer, ProviderErrorKind][] = [
      ["401", { status: 401 }, "auth"],
      ["403", { status: 403 }, "auth"],
      ["402", { status: 402 }, "billing"],
      ["429", { status: 429 }, "rate_limit"],
      [
        "429 for lack of credit",
        { status: 429, body: { error: { message: "x", code: "insufficient_quota" } } },
        "billing",
      ],
      [
        "400 for lack of credit",
        { status: 400, body: { error: { message: "Your credit balance is too low" } } },
        "billing",
      ],
      ["500", { status: 500 }, "overloaded"],
      ["502 with a page", { status: 502, body: "<html>bad gateway</html>" }, "overloaded"],
      ["503", { status: 503 }, "overloaded"],
      ["529", { status: 529 }, "overloaded"],
      ["408", { status: 408 }, "timeout"],
      ["400", { status: 400 }, "bad_request"],
      ["422", { status: 422 }, "bad_request"],
      ["404", { status: 404 }, "not_found"],
      ["413", { status: 413 }, "context_overflow"],
      [
        "400 that speaks of the context length",
        { status: 400, body: { error: { message: "This model's maximum context length is 8192 tokens." } } },
        "context_overflow",
      ],
      [
        "400 that speaks of a long prompt",
        { status: 400, body: { error: { message: "prompt is too long: 208310 tokens > 200000 maximum" } } },
        "context_overflow",
      ],
      ["an error body with status 200", { body: { error: { message: "no", type: "authentication_error" } } }, "auth"],
      [
        "a rate limit told in mid-stream",
        { text: "a", streamError: { type: "rate_limit_error", message: "slow down" } },
        "rate_limit",
      ],
      [
        "an overload told in mid-stream",
        { text: "a", streamError: { type: "overloaded_error", message: "busy" } },
        "overloaded",
      ],
      ["a cut connection", { text: ["a", "b", "c"], cutAfter: 3 }, "network"],
      ["a stream that ends without its end", { text: ["a", "b", "c"], endAfter: 3 }, "garbage"],
      ["a stream without anything in it", { endAfter: 0 }, "garbage"],
      ["broken JSON in the stream", { text: "a", garbage: "event: message_delta\ndata: {oops\n\n" }, "garbage"],
      [
        "broken JSON in the place of the stream",
        { body: "{oops", headers: { "content-type": "application/json" } },
        "garbage",
      ],
      ["a web page", { body: "<html>hi</html>", headers: { "content-type": "text/html" } }, "garbage"],
    ];
    for (const [what, answer, kind] of failures) {
      test(`${what} is ${kind}, and is not tried again`, async () => {
        await using setup = await open(wire, answer);
        const error = await failureOf(setup.provider);
        assert.equal(error.kind, kind, error.message);
        assert.equal(error.status, answer.status);
        assert.match(error.message, /acme/);
        assert.equal(setup.server.requests.length, 1);
      });
    }

    test("a server that is not there is a network failure with its address", async () => {
      const setup = await open(wire, {});
      await setup.server[Symbol.asyncDispose]();
      const error = await failureOf(setup.provider);
      assert.equal(error.kind, "network");
      assert.match(error.message, /http:\/\/127\.0\.0\.1:\d+.*ECONNREFUSED/);
      assert.equal(error.retryable, true);
    });

    for (const [header, value, expected] of [
      ["retry-after", "7", 7000],
      ["retry-after", "0.5", 500],
      ["retry-after-ms", "1234", 1234],
    ] as const) {
      test(`${header}: ${value} is ${expected} ms`, async () => {
        await using setup = await open(wire, { status: 429, headers: { [header]: value } });
        assert.equal((await failureOf(setup.provider)).retryAfterMs, expected);
      });
    }

    test("retry-after may be a date", async () => {
      const headers = { "retry-after": new Date(Date.now() + 30_000).toUTCString() };
      await using setup = await open(wire, { status: 503, headers });
      const { retryAfterMs = 0 } = await failureOf(setup.provider);
      assert.ok(retryAfterMs > 25_000 && retryAfterMs <= 30_000, String(retryAfterMs));
    });

    test("no error shows the key, even when the server repeats it", async () => {
      await using setup = await open(wire, {
        status: 401,
        body: { error: { message: `Incorrect API key provided: ${testKey}.` } },
      });
      const error = await failureOf(setup.provider);
      assert.match(error.message, /refused the API key.*providers\.acme\.apiKey/);
      assert.ok(!inspect(error, { depth: 10 }).includes(testKey));
    });

    for (const status of [301, 302, 303, 307, 308])
      test(`the key does not follow a redirect (${status})`, async () => {
        await using elsewhere = await wire.startFake({ answer: { text: "give me" } });
        const headers = { location: `${elsewhere.apiBase}/messages` };
        await using setup = await open(wire, { status, headers, body: "" });
        const error = await failureOf(setup.provider);
        assert.equal(error.kind, "bad_request");
        assert.match(error.message, /redirect, which is not followed with a key/);
        assert.equal(elsewhere.requests.length, 0);
      });
  });

  describe(`${name}: limits`, () => {
    test("no first byte in time is a timeout", async () => {
      await using setup = await open(wire, { hang: "start" }, { firstByteMs: 60 });
      const error = await failureOf(setup.provider);
      assert.equal(error.kind, "timeout");
      assert.match(error.message, /did not begin to answer within 60 ms/);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });

    test("silence in the middle is a timeout", async () => {
      await using setup = await open(wire, { text: "a", hang: "middle" }, { idleMs: 60 });
      const error = await failureOf(setup.provider);
      assert.equal(error.kind, "timeout");
      assert.match(error.message, /fell silent for 60 ms/);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });

    test("an answer that never ends is a timeout", async () => {
      const text = Array.from({ length: 200 }, () => "x");
      await using setup = await open(wire, { text, chunkDelayMs: 10 }, { totalMs: 120, idleMs: 1000 });
      const error = await failureOf(setup.provider);
      assert.equal(error.kind, "timeout");
      assert.match(error.message, /did not finish its answer within 120 ms/);
    });

    test("a slow reader is not a silent server", async () => {
      await using setup = await open(wire, { text: ["a", "b"], chunkDelayMs: 40 }, { idleMs: 100 });
      const chunks: ProviderChunk[] = [];
      for await (const chunk of setup.provider.stream(hello, noAbort)) {
        chunks.push(chunk);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      assert.equal(chunks.length, 3);
    });

    test("keep-alive comments hold off the idle limit", async () => {
      // Without them nothing would be heard for longer than the limit.
      const answer = { thinking: "a", text: "b", keepAlives: 15, chunkDelayMs: 40 };
      await using setup = await open(wire, answer, { idleMs: 400 });
      assert.equal((await collect(setup.provider)).at(-1)?.kind, "end");
    });
  });

  describe(`${name}: images`, () => {
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );

    async function sent(file: string, mimeType: string): Promise<string> {
      await using setup = await open(wire, { text: "ok" });
      const content: ModelRequest["messages"][number]["content"] = [
        { type: "text", text: "what is this?" },
        { type: "image", mime_type: mimeType, path: file, filename: "photo.png" },
      ];
      await collect(setup.provider, { ...hello, messages: [{ role: "user", content }] });
      return setup.server.requests[0]?.bodyText ?? "";
    }

    test("an image goes along as it is on the disk", async () => {
      const folder = await mkdtemp(join(tmpdir(), "maxclaw-image-"));
      try {
        const file = join(folder, "photo.png");
        await writeFile(file, png);
        const body = await sent(file, "image/png");
        assert.ok(body.includes(png.toString("base64")));
        assert.ok(body.includes("image/png") && body.includes("what is this?"));
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    test("one that is gone, or is none whatever it is said to be, is told in its place", async () => {
      assert.match(await sent("/nowhere/photo.png", "image/png"), /photo\.png cannot be shown: the file is gone/);
      const folder = await mkdtemp(join(tmpdir(), "maxclaw-image-"));
      try {
        const file = join(folder, "photo.png");
        await writeFile(file, "<html>not found</html>");
        const body = await sent(file, "image/png");
        assert.match(body, /photo\.png cannot be shown: it is not a JPEG, PNG, GIF or WebP/);
        assert.doesNotMatch(body, /image\/png/);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  });

  describe(`${name}: headers`, () => {
    test("what the config adds is sent, and shown in no error", async () => {
      const secret = "team-token-0123456789";
      await using server = await wire.startFake({
        answer: { status: 400, body: { error: { message: `bad ${secret}` } } },
      });
      const headers = { "X-Team": secret };
      const provider = wire.create({ name: "acme", apiKey: testKey, apiBase: server.apiBase, headers });
      const error = await failureOf(provider);
      assert.equal(server.requests[0]?.headers["x-team"], secret);
      assert.ok(!inspect(error, { depth: 10 }).includes(secret));
    });
  });

  describe(`${name}: adjustments`, () => {
    test("a model that refuses temperature is asked without it, from then on", async () => {
      const refusal = { status: 400, body: { error: { message: "`temperature` is deprecated for this model." } } };
      await using setup = await open(wire, ({ body }) => ("temperature" in body ? refusal : { text: "ok" }));
      for (let n = 0; n < 2; n += 1)
        assert.deepEqual(await collect(setup.provider), [{ kind: "text", text: "ok" }, end("end_turn")]);
      assert.deepEqual(
        setup.server.requests.map(({ body }) => "temperature" in body),
        [true, false, false],
      );
    });

    test("calls side by side each recover from the same refusal", async () => {
      const refusal = { status: 400, delayMs: 20, body: { error: { message: "temperature is not supported" } } };
      await using setup = await open(wire, ({ body }) => ("temperature" in body ? refusal : { text: "ok" }));
      const answers = await Promise.all([collect(setup.provider), collect(setup.provider)]);
      assert.deepEqual(
        answers.map(([first]) => first),
        [0, 1].map(() => ({ kind: "text", text: "ok" })),
      );
      assert.equal(setup.server.requests.length, 4);
    });

    test("a model without tools is asked without them", async () => {
      const refusal = { status: 400, body: { error: { message: "gemma:2b does not support tools" } } };
      await using setup = await open(wire, ({ body }) => ("tools" in body ? refusal : { text: "ok" }));
      const tools = [{ name: "now", description: "Tells the time.", inputSchema: { type: "object" } }];
      assert.equal((await collect(setup.provider, { ...hello, tools })).length, 2);
    });

    test("a request that is refused for the same reason again fails", async () => {
      await using setup = await open(wire, { status: 400, body: { error: { message: "bad temperature" } } });
      assert.equal((await failureOf(setup.provider)).kind, "bad_request");
      assert.equal(setup.server.requests.length, 2);
    });
  });
}
