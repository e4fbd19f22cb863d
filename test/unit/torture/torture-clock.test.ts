import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import type { Engine } from "../../../src/engine/engine.js";
import {
  consuming,
  inbound,
  openIn,
  queued,
  sessionOf,
  tempFolder,
  titled,
  until,
} from "../../support/engine/engine-kit.js";
import { seedOf, tortureFactor } from "../../support/engine/torture-options.js";

const dayMs = 24 * 60 * 60 * 1000;

/** A clock that somebody sets. It runs as real time does. */
function createClock(): { now: () => number; turn: (ms: number) => void } {
  let offset = 0;
  return {
    now: () => Date.now() + offset,
    turn: (ms) => {
      offset += ms;
    },
  };
}

test("the times in a session never go back, whatever the clock does, over restarts, rests and deletions", async (t) => {
  const seed = seedOf(t);
  const step = fc.oneof(
    fc.record({ turnMs: fc.integer({ min: -400 * dayMs, max: 400 * dayMs }) }),
    fc.constantFrom("append" as const, "restart" as const, "flush" as const, "rest" as const, "delete" as const),
  );
  const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
    const home = tempFolder(t);
    const { now, turn } = createClock();
    const open = async () => (await openIn(home, { now, quietMs: 60_000, journal: { segmentBytes: 4000 } })).engine;
    let engine = await open();
    let last = "";
    let seq = 0;
    const append = async (): Promise<void> => {
      const [event] = await engine.append(sessionOf, [titled("x".repeat(100))], { durable: false });
      seq += 1;
      assert.equal(event?.seq, seq);
      assert.ok(event.timestamp >= last, `${event.timestamp} after ${last}`);
      last = event.timestamp;
    };
    for (const one of steps) {
      if (typeof one === "object") turn(one.turnMs);
      else if (one === "restart") {
        await engine[Symbol.asyncDispose]();
        engine = await open();
      } else if (one === "flush") await engine.flush();
      else if (one === "delete") await engine.deleteSession(sessionOf);
      // So many other sessions that this one leaves memory.
      else if (one === "rest") for (let n = 0; n < 70; n += 1) await engine.lastSequence(`telegram:other-${n}`);
      await append();
    }
    await engine[Symbol.asyncDispose]();
  });
  await fc.assert(property, { seed, numRuns: 15 * tortureFactor });
});

test("what a platform repeats is known again after the clock went back, also after a restart", async (t) => {
  const home = tempFolder(t);
  const { now, turn } = createClock();
  const accept = (engine: Engine, id: string) =>
    engine.accept(inbound(id, sessionOf, { dedupId: "telegram:1:77" }), { events: [queued(id)] });
  const first = await openIn(home, { now });
  assert.equal((await accept(first.engine, "msg_1")).status, "accepted");
  turn(-40 * dayMs);
  assert.equal((await accept(first.engine, "msg_2")).status, "duplicate");
  await first.engine[Symbol.asyncDispose]();
  const second = await openIn(home, { now });
  assert.equal((await accept(second.engine, "msg_3")).status, "duplicate");
  turn(45 * dayMs);
  assert.equal((await accept(second.engine, "msg_4")).status, "duplicate");
  await second.engine[Symbol.asyncDispose]();
});

/** A message whose first attempt asks for another one after a while. */
async function retryLater(t: TestContext, delayMs: number, turnMs: number, isRestarted: boolean): Promise<number> {
  const home = tempFolder(t);
  const { now, turn } = createClock();
  let { engine } = await openIn(home, { now });
  const attempts: number[] = [];
  const consume = () =>
    consuming(engine, "inbound", async (delivery) => {
      attempts.push(performance.now());
      if (delivery.attempt === 1) await delivery.retry({ reason: "later", delayMs });
      else await delivery.commit({ events: [], emit: [] });
    });
  let consumer = consume();
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  await until("the first attempt", () => attempts.length === 1);
  turn(turnMs);
  if (isRestarted) {
    await consumer.stop();
    await engine[Symbol.asyncDispose]();
    ({ engine } = await openIn(home, { now }));
    consumer = consume();
  }
  await until("the second attempt", () => attempts.length === 2);
  await consumer.stop();
  await engine[Symbol.asyncDispose]();
  return (attempts[1] ?? 0) - (attempts[0] ?? 0);
}

test("work that waits for its next attempt waits no longer because the clock went back", async (t) => {
  for (const isRestarted of [false, true]) {
    const waitedMs = await retryLater(t, 300, -30 * dayMs, isRestarted);
    assert.ok(waitedMs >= 290, `waited ${waitedMs} ms`);
  }
});

test("work whose time has come while no gateway ran is worked on at once", async (t) => {
  await retryLater(t, 60_000, dayMs, true);
});
