import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../../src/log.js";
import { underLease } from "../../../src/wiring/turns/under-lease.js";
import { gate, openIn, tempFolder, until } from "../../support/engine/engine-kit.js";

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

test("what runs under a lease runs in one place at a time, and in the next one when it ends there", async (t) => {
  const { engine } = await openIn(tempFolder(t));
  const log: string[] = [];
  const stops = [new AbortController(), new AbortController()];
  const running = stops.map(({ signal }, n) =>
    underLease(
      engine,
      "channel:telegram",
      async (own) => {
        log.push(`${n} begins`);
        await ended(own);
        log.push(`${n} ends`);
      },
      { signal, log: silentLog },
    ),
  );
  await until("the first one runs", () => log.length === 1);
  stops[0]?.abort();
  await until("the second one runs", () => log.length === 3);
  stops[1]?.abort();
  await Promise.all(running);
  assert.deepEqual(log, ["0 begins", "0 ends", "1 begins", "1 ends"]);
  await engine[Symbol.asyncDispose]();
});

test("work under a lease that is lost is told to stop, and ends with the engine", async (t) => {
  const { engine } = await openIn(tempFolder(t));
  const begun = gate();
  let wasStopped = false;
  const running = underLease(
    engine,
    "channel:telegram",
    async (signal) => {
      begun.open();
      await ended(signal);
      wasStopped = true;
    },
    { signal: new AbortController().signal, log: silentLog },
  );
  await begun.opened;
  await engine[Symbol.asyncDispose]();
  await running;
  assert.ok(wasStopped);
});

test("what the work throws is passed on, and the lease is free again", async (t) => {
  const { engine } = await openIn(tempFolder(t));
  const { signal } = new AbortController();
  const fail = async (): Promise<void> => {
    throw new Error("broken");
  };
  await assert.rejects(underLease(engine, "x", fail, { signal, log: silentLog }), /broken/);
  await (await engine.lease("x", signal))[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});
