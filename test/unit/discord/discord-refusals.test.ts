import assert from "node:assert/strict";
import { test } from "node:test";
import { sendError } from "../../../src/channels/discord/discord-error.js";

/** An error as Discord's client throws it. */
function refusal(status: number, code: number): Error {
  return Object.assign(new Error("Refused"), { name: `DiscordAPIError[${code}]`, status, code });
}

const cases: readonly (readonly [what: string, status: number, code: number, retryable: boolean, closed: boolean])[] = [
  ["a token that is not taken for a moment", 401, 0, true, false],
  ["a 403 that is not Discord's own", 403, 0, true, false],
  ["a 404 that names nothing", 404, 0, true, false],
  ["a rate limit", 429, 0, true, false],
  ["a channel that is gone", 404, 10_003, false, true],
  ["a person who takes no direct messages", 403, 50_007, false, true],
  ["permissions that are missing", 403, 50_013, false, true],
  ["a file that is too large", 413, 40_005, false, false],
  ["a body that is not valid", 400, 50_035, false, false],
];

for (const [what, status, code, retryable, closed] of cases)
  test(`${what} (${status}, ${code}) is ${retryable ? "waited for" : "the end of the message"}`, () => {
    const { outcome, ...error } = sendError(refusal(status, code), undefined);
    assert.deepEqual([outcome, error.retryable, error.isChatClosed], ["refused", retryable, closed]);
  });
