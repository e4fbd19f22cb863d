import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemKey } from "../../src/events/session-key.js";
import { titled, until } from "../support/engine/engine-kit.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { openNode, quickTiming, urlOf } from "../support/postgres/postgres-kit.js";

let server: StorageServer | undefined;
before(async () => {
  server = await startServer("postgres");
});
after(() => server?.[Symbol.asyncDispose]());

test("the gateways' own log keeps its newest 20,000 events, and a conversation all of them", async () => {
  const timing = { ...quickTiming, cleanMs: 100 };
  const { engine } = await openNode(urlOf(server?.port ?? 0), "retention", { timing });
  try {
    const many = Array.from({ length: 1000 }, (_, n) => titled(`${n}`));
    const first = async (key: string): Promise<number | undefined> =>
      (await engine.events(key, { afterSeq: 0, limit: 1 })).events[0]?.seq;
    for (const key of [systemKey("local"), "telegram:42"])
      for (let batch = 0; batch < 27; batch += 1)
        await engine.append(
          key,
          many.map((event, n) => ({ ...event, event_id: `evt_${batch}_${n}` })),
          { durable: false },
        );
    await until("the oldest are gone", async () => (await first(systemKey("local"))) === 7001);
    assert.equal(await first("telegram:42"), 1);
    assert.equal(await engine.lastSequence(systemKey("local")), 27_000);
    const [next] = await engine.append(systemKey("local"), [titled("next")], { durable: true });
    assert.equal(next?.seq, 27_001);
  } finally {
    await engine[Symbol.asyncDispose]();
  }
});
