import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { madeKey, makeHistory } from "../../support/engine/histories/made-history.js";
import { memoryFolder } from "../../support/engine/torture.js";
import { type Reads, watchReads } from "../../support/rules/watch-reads.js";
import { startGateway } from "../../support/worlds/gateway.js";
import { withoutProc } from "../../support/worlds/needs.js";

/** Starts a gateway that had so many sessions, and gives what it has read until it was ready. */
async function readsAtStart(t: TestContext, sessions: number): Promise<Reads> {
  const home = memoryFolder(t);
  const dir = join(home, "workspace", ".sessions");
  await mkdir(dir, { recursive: true });
  // By then the workspace has its files and the journal is there.
  await stop(await startGateway({ home, config: {} }));
  makeHistory(dir, { sessions, turnsPerSession: 2, answerBytes: 200 });
  const first = await startGateway({ home });
  await first.ask("hello", { key: madeKey(0) });
  await stop(await (await first.restart()).restart());
  const watch = watchReads(home);
  const gateway = await startGateway({ home });
  const { opened, ...reads } = watch.end();
  assert.equal((await gateway.gateway.api.listSessions({ limit: 10, offset: 0 })).total, sessions);
  await stop(gateway);
  // Each lock is first written under a name of its own.
  return { ...reads, opened: opened.filter((path) => !path.includes("lock")) };
}

async function stop(gateway: Awaited<ReturnType<typeof startGateway>>): Promise<void> {
  await gateway.gateway.drain(0);
  await gateway.gateway[Symbol.asyncDispose]();
}

test("a start opens no session, lists no folder of them, and reads as much with 1,000 sessions as with 10", {
  skip: withoutProc(),
}, async (t) => {
  const few = await readsAtStart(t, 10);
  const many = await readsAtStart(t, 1000);
  assert.deepEqual(many.opened, few.opened);
  assert.deepEqual(many.listed, few.listed);
  const ofSessions = [...many.opened, ...many.listed].filter(
    (path) => path.startsWith("/workspace/.sessions") && !path.endsWith("/.stale"),
  );
  // The second mark of the journal: one file, however many sessions there are.
  assert.deepEqual(ofSessions, ["/workspace/.sessions/.journal.mark"]);
  assert.ok(many.opened.some((path) => path.startsWith("/journal/")));
  assert.ok(Math.abs(many.bytes - few.bytes) < 50_000, `${few.bytes} and ${many.bytes} bytes`);
  t.diagnostic(`${many.opened.length} files opened, ${many.bytes} bytes read: ${many.opened.join(" ")}`);
});
