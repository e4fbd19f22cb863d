import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import type { ProviderErrorKind } from "../../../src/errors.js";
import type { ScriptedAnswer } from "../../support/worlds/model-script.js";
import { failureOf, open, testKey, type WireUnderTest } from "./calls.js";

const failures: readonly [string, ScriptedAnswer, ProviderErrorKind][] = [
  ["401", { status: 401 }, "auth"],
  ["403", { status: 403 }, "auth"],
  ["402", { status: 402 }, "billing"],
  ["429", { status: 429 }, "rate_limit"],
  ["429 for lack of credit", { status: 429, body: { error: { message: "x", code: "insufficient_quota" } } }, "billing"],
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
  ["broken JSON instead of the stream", { body: "{oops", headers: { "content-type": "application/json" } }, "garbage"],
  ["a web page", { body: "<html>hi</html>", headers: { "content-type": "text/html" } }, "garbage"],
];

export function failuresTests(name: string, wire: WireUnderTest): void {
  describe(`${name}: failures`, () => {
    kindsTests(wire);
    waitsTests(wire);
    keyTests(wire);
  });
}

/** What an answer means. */
function kindsTests(wire: WireUnderTest): void {
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
}

/** When it may be tried again. */
function waitsTests(wire: WireUnderTest): void {
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
}

/** That nobody gets to see it. */
function keyTests(wire: WireUnderTest): void {
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
}
