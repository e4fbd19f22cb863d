import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAfterCrash, runChild } from "../../support/engine/engine-crash.js";
import { consuming, openIn, tempFolder, until } from "../../support/engine/engine-kit.js";

const boundaries: readonly (readonly [string, number])[] = [
  ["accept:before-sync", 15],
  ["accept:after-sync", 15],
  ["append:after-write", 33],
  ["commit:before-write", 12],
  ["commit:after-write", 12],
  ["commit:after-sync", 12],
  ["attempt:started", 20],
  ["rotate:before", 2],
  ["rotate:checkpoint-written", 2],
  ["rotate:old-dropped", 2],
  ["seen:before-seal", 4],
  ["seen:sealed", 4],
  ["seen:merged", 1],
  ["seen:merge-noted", 1],
  ["session-log:before-write", 9],
  ["session-log:after-write", 9],
];

for (const [killAt, nth] of boundaries) {
  test(`nothing accepted is lost and no transaction is halved by a kill at ${killAt}`, async (t) => {
    const home = tempFolder(t);
    const crash = await runChild(home, { killAt, nth });
    assert.equal(crash.signal, "SIGKILL", "the boundary was reached");
    await checkAfterCrash(home, crash);
  });
}

test("an attempt that the process did not survive is counted, and neither exhausts its work nor is any of others", async (t) => {
  const home = tempFolder(t);
  for (let run = 0; run < 3; run += 1) await runChild(home, { killAt: "attempt:started", messages: 1 });
  const { engine } = await openIn(home, { limits: { suspectMs: 1 } });
  const [first] = engine.waiting("inbound", "telegram:0");
  assert.equal(first?.attempts, 3);
  const seen: unknown[] = [];
  const consumer = consuming(engine, "inbound", async (delivery) => {
    if (delivery.work.id === first?.id) seen.push(delivery.attempt, delivery.exhausted);
    await delivery.commit({ events: [], emit: [] });
  });
  await until("the lane is free", () => engine.status().inboundWaiting === 0);
  await consumer.stop();
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(seen, [4, false]);
});
