import assert from "node:assert/strict";
import { test } from "node:test";
import { consuming, inbound, openIn, outbound, tempFolder, until } from "../../../support/engine/engine-kit.js";

test("the engine measures its syncs, and knows the oldest work of each queue, also after a restart", async (t) => {
  const home = tempFolder(t);
  let clock = 1_800_000_000_000;
  const now = (): number => clock;
  const first = await openIn(home, { now });
  assert.deepEqual(first.engine.measures().oldest, {});
  await first.engine.accept(inbound("msg_1", "telegram:1"), { events: [] });
  clock += 5000;
  await first.engine.accept(inbound("msg_2", "telegram:2"), { events: [] });
  await first.engine.accept(outbound("out_1"), { events: [] });
  const oldest = { inbound: clock - 5000, outbound: clock };
  assert.deepEqual(first.engine.measures().oldest, oldest);
  const { count, sum } = first.engine.measures().syncSeconds;
  assert.ok(count >= 3 && sum > 0, `${count} syncs in ${sum} s`);
  await first.engine[Symbol.asyncDispose]();

  const { engine } = await openIn(home, { now });
  assert.deepEqual(engine.measures().oldest, oldest);
  const lane = consuming(engine, "inbound", async (delivery) => {
    await delivery.commit({ events: [], emit: [] });
  });
  await until("both are done", () => engine.status().inboundWaiting === 0);
  await lane.stop();
  assert.deepEqual(engine.measures().oldest, { outbound: clock });
  await engine[Symbol.asyncDispose]();
});
