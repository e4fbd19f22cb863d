import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CircuitChange, createCircuits } from "../../../src/providers/circuits.js";
import { createOpenAIProvider } from "../../../src/providers/openai/openai.js";
import type { ModelRequest, Provider } from "../../../src/providers/provider.js";
import { collect, failureOf, hello } from "../../contracts/provider.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

/** A guarded provider before a fake server, with a clock that stands still until it is moved. */
async function guarded(answer: AnswerScript) {
  const server = await startFakeOpenAI({ answer });
  const changes: CircuitChange[] = [];
  const clock = { now: 1_000_000 };
  const circuits = createCircuits({ now: () => clock.now, onChange: (change) => changes.push(change) });
  const open = (): Provider =>
    circuits.guard(createOpenAIProvider({ name: "acme", apiKey: "k", apiBase: server.apiBase }));
  return {
    server,
    clock,
    provider: open(),
    open,
    states: () => changes.map(({ to }) => to),
    changes,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const ask = (model: string): ModelRequest => ({ ...hello, model });
const kindOf = async (provider: Provider, request = hello): Promise<string> =>
  (await failureOf(provider, request)).kind;

describe("a circuit", () => {
  test("opens after five faults in a row, then calls fail at once and say how long it takes", async () => {
    await using t = await guarded({ status: 500 });
    for (let n = 0; n < 5; n += 1) assert.equal(await kindOf(t.provider), "overloaded");
    t.clock.now += 10_000;
    const error = await failureOf(t.provider);
    assert.deepEqual(
      [error.kind, error.code, error.retryable, error.retryAfterMs],
      ["circuit_open", "CIRCUIT_OPEN", false, 20_000],
    );
    assert.match(error.message, /acme\/model-1 has failed 5 times in a row .* another 20 s.*HTTP 500/);
    assert.equal(t.server.requests.length, 5);
    assert.deepEqual(t.states(), ["open"]);
    assert.match(t.changes[0]?.reason ?? "", /HTTP 500/);
  });

  test("counts only what comes in a row", async () => {
    await using t = await guarded(({ index }) => (index % 5 === 4 ? { text: "ok" } : { status: 500 }));
    for (let n = 0; n < 20; n += 1) await collect(t.provider).catch(() => undefined);
    assert.equal(t.server.requests.length, 20);
    assert.deepEqual(t.states(), []);
  });

  test("lets one call through after 30 s, which closes it when it works", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using t = await guarded(async ({ index }) => {
      if (index < 5) return { status: 500 };
      if (index === 5) await held;
      return { text: "ok" };
    });
    for (let n = 0; n < 5; n += 1) await kindOf(t.provider);
    t.clock.now += 29_999;
    assert.equal(await kindOf(t.provider), "circuit_open");
    t.clock.now += 1;
    const probe = collect(t.provider);
    await t.server.waitForRequests(6);
    assert.equal(await kindOf(t.provider), "circuit_open", "only one at a time");
    release();
    assert.equal((await probe)[0]?.kind, "text");
    assert.equal((await collect(t.provider))[0]?.kind, "text");
    assert.deepEqual(t.states(), ["open", "half_open", "closed"]);
    assert.equal(t.server.requests.length, 7);
  });

  test("opens again for as long when that call fails", async () => {
    await using t = await guarded({ status: 500 });
    for (let n = 0; n < 5; n += 1) await kindOf(t.provider);
    t.clock.now += 30_000;
    assert.equal(await kindOf(t.provider), "overloaded");
    t.clock.now += 29_999;
    assert.equal(await kindOf(t.provider), "circuit_open");
    assert.deepEqual(t.states(), ["open", "half_open", "open"]);
    assert.equal(t.server.requests.length, 6);
  });

  test("closes when the server is there but refuses the request", async () => {
    await using t = await guarded(({ index }) => ({ status: index < 5 ? 500 : 401 }));
    for (let n = 0; n < 5; n += 1) await kindOf(t.provider);
    t.clock.now += 30_000;
    assert.equal(await kindOf(t.provider), "auth");
    assert.equal(await kindOf(t.provider), "auth");
    assert.deepEqual(t.states(), ["open", "half_open", "closed"]);
  });

  test("learns nothing from an abort: the next call is the one that decides", async () => {
    await using t = await guarded(({ index }) =>
      index < 5 ? { status: 500 } : index === 5 ? { hang: "start" } : { text: "ok" },
    );
    for (let n = 0; n < 5; n += 1) await kindOf(t.provider);
    t.clock.now += 30_000;
    const abort = new AbortController();
    const probe = collect(t.provider, hello, abort.signal);
    await t.server.waitForRequests(6);
    abort.abort();
    await assert.rejects(probe);
    assert.equal((await collect(t.provider))[0]?.kind, "text");
    assert.equal(t.states().at(-1), "closed");
  });

  test("is the same for all who use the model, and another one for each model", async () => {
    await using t = await guarded({ status: 500 });
    for (let n = 0; n < 5; n += 1) await kindOf(n % 2 === 0 ? t.provider : t.open());
    assert.equal(await kindOf(t.open()), "circuit_open");
    assert.equal(await kindOf(t.provider, ask("model-2")), "overloaded");
  });

  test("is not kept open by calls that were on their way when it opened", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using t = await guarded(async ({ index }) => {
      if (index === 0) await held;
      return { status: 500 };
    });
    const slow = kindOf(t.provider);
    await t.server.waitForRequests(1);
    for (let n = 0; n < 5; n += 1) await kindOf(t.provider);
    t.clock.now += 20_000;
    release();
    await slow;
    t.clock.now += 10_000;
    assert.equal(await kindOf(t.provider), "overloaded", "the probe goes through 30 s after the fifth fault");
  });
});
