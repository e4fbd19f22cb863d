import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { collect, end, failureOf, hello, open, testKey, type WireUnderTest } from "./calls.js";

export function headersTests(name: string, wire: WireUnderTest): void {
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
}

export function adjustmentsTests(name: string, wire: WireUnderTest): void {
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
