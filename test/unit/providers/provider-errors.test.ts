import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { errorInBody, toProviderError } from "../../../src/providers/wire/errors.js";
import { Refusal } from "../../../src/providers/wire/refusal.js";
import { toRetryAfterMs } from "../../../src/providers/wire/retry-after.js";

const context = { provider: "acme", apiBase: "https://api.example.org", secrets: ["very-secret-key"] };
const failed = (status: number | undefined, error: unknown) =>
  toProviderError(new Refusal(status, new Headers(), error), context);

describe("what providers say when they fail", () => {
  for (const [status, body, kind] of [
    [400, { message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" }, "auth"],
    [
      429,
      { message: "You exceeded your current quota. Please retry in 34.5s.", status: "RESOURCE_EXHAUSTED" },
      "rate_limit",
    ],
    [429, { type: "exceeded_current_quota_error", message: "suspended" }, "billing"],
    [429, { code: "1113", message: "您的账户已欠费" }, "billing"],
    [400, { code: "Arrearage", message: "Access denied" }, "billing"],
    [400, { message: "Range of input length should be [1, 30720]" }, "context_overflow"],
    [
      400,
      { message: "The input token count (1200000) exceeds the maximum number of tokens allowed" },
      "context_overflow",
    ],
    [
      400,
      { message: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000" },
      "context_overflow",
    ],
    [
      400,
      { message: "the request exceeds the available context size. try increasing the context size" },
      "context_overflow",
    ],
    [500, { message: "Your input exceeds the context window of this model." }, "context_overflow"],
    [400, { message: "temperature must be below 2" }, "bad_request"],
    [undefined, { code: 502, message: "Provider returned error" }, "overloaded"],
    [undefined, { code: 429, message: "Provider returned error" }, "rate_limit"],
    [undefined, { code: "model_not_found", message: "no" }, "not_found"],
    [undefined, { type: "invalid_request_error", message: "no" }, "bad_request"],
    [undefined, { message: "something" }, "overloaded"],
    [521, undefined, "overloaded"],
    [504, "gateway timeout", "timeout"],
  ] as const) {
    test(`${status ?? "in the body"} ${JSON.stringify(body)} is ${kind}`, () => {
      assert.equal(failed(status, body).kind, kind);
      if (status === undefined) assert.equal(toProviderError(errorInBody({ error: body }), context).kind, kind);
    });
  }

  test("the message names provider, status and the server's words, in one line and without secrets", () => {
    const error = failed(400, { error: { message: "key very-secret-key\n is\twrong, sk-abcdef123456 too" } });
    assert.equal(error.message, "acme refused the request (HTTP 400): key *** is wrong, sk-*** too");
    assert.ok(failed(400, { message: "long ".repeat(1000) }).message.length < 800);
  });

  test("what broke deep inside fetch is told", () => {
    const deep = Object.assign(new Error("connect failed"), { code: "ECONNREFUSED" });
    const error = toProviderError(
      new Error("Connection error.", { cause: new TypeError("fetch failed", { cause: deep }) }),
      context,
    );
    assert.equal(error.kind, "network");
    assert.match(error.message, /acme at https:\/\/api\.example\.org failed: ECONNREFUSED connect failed/);
  });
});

describe("how long to wait", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  for (const [headers, body, expected] of [
    [{ "retry-after": "12" }, undefined, 12_000],
    [{ "retry-after-ms": "250", "retry-after": "12" }, undefined, 250],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:20 GMT" }, undefined, 20_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, undefined, 0],
    [{ "retry-after": "soon" }, undefined, undefined],
    [{ "retry-after": "-5" }, undefined, undefined],
    [{}, { details: [{ retryDelay: "34s" }] }, 34_000],
    [{}, { message: "Please try again in 820ms." }, 820],
    [{}, { message: "Please retry in 1.2s." }, 1200],
    [{}, { message: "no hint" }, undefined],
  ] as const) {
    test(`${JSON.stringify(headers)} ${JSON.stringify(body)} is ${expected} ms`, () => {
      const given: Record<string, string> = headers;
      assert.equal(toRetryAfterMs(new Headers(given), body, now), expected);
    });
  }
});
