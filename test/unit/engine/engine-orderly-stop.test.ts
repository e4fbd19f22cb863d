import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { test } from "node:test";
import { consuming, inbound, openIn, outbound, sessionOf, tempFolder, until } from "../../support/engine/engine-kit.js";

test("a reply that a power cut may have sent is still in doubt after an orderly stop", async (t) => {
  const home = tempFolder(t);
  const openSince = (bootId: string, folder: string) => openIn(folder, { process: { bootId } });
  const first = await openSince("one", home);
  await first.engine.accept(inbound("in_1"), { events: [] });
  const consumer = consuming(first.engine, "inbound", (delivery) =>
    delivery.commit({ events: [], emit: [outbound("out_1")] }).then(() => undefined),
  );
  await until("there is a reply", () => first.engine.status().outboundWaiting === 1);
  await consumer.stop();
  await first.engine[Symbol.asyncDispose]();
  const doubt = async (bootId: string, folder: string): Promise<boolean> => {
    const { engine } = await openSince(bootId, folder);
    const [reply] = await engine.waiting("outbound", sessionOf);
    await engine[Symbol.asyncDispose]();
    return reply?.mayHaveBegun === true;
  };
  // It was stopped in order.
  assert.equal(await doubt("two", home), false);
  const cut = await openSince("two", home);
  const left = tempFolder(t);
  cpSync(home, left, { recursive: true });
  await cut.engine[Symbol.asyncDispose]();
  const later = await openSince("three", left);
  await later.engine[Symbol.asyncDispose]();
  assert.equal(await doubt("three", left), true);
});
