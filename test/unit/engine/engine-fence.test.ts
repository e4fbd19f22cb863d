import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { acquireLock } from "../../../src/engine/embedded/locking/lock.js";
import { silentLog } from "../../../src/log.js";
import { inbound, logPath, openIn, queued, sessionOf, tempFolder, until } from "../../support/engine/engine-kit.js";

/** An engine with one durable message below a lock, and what it was told before it stopped. */
async function opened(t: TestContext) {
  const home = tempFolder(t);
  const lock = await acquireLock(join(home, "gateway.lock"), silentLog);
  t.after(() => lock.release());
  const fatal: Error[] = [];
  const { engine } = await openIn(home, {
    quietMs: 60_000,
    lock: { assertHeld: () => lock.assertHeld() },
    process: { onFatal: (error) => fatal.push(error) },
  });
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  return { home, engine, fatal };
}

function filesIn(home: string): Readonly<Record<string, string>> {
  const names = fs.readdirSync(home, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => fs.statSync(join(home, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, fs.readFileSync(join(home, name), "latin1")]));
}

test("who lost the lock writes nothing more: no message, no event, no session log, and says why", async (t) => {
  const { home, engine, fatal } = await opened(t);
  fs.rmSync(join(home, "gateway.lock"));
  const thief = await acquireLock(join(home, "gateway.lock"), silentLog);
  t.after(() => thief.release());
  const before = filesIn(home);
  // A look at the lock serves for five milliseconds, and these writes would come sooner.
  const looked = performance.now();
  await until("the last look is over", () => performance.now() - looked > 10);
  await assert.rejects(engine.accept(inbound("msg_2"), { events: [queued("msg_2")] }), /was taken by another maxclaw/);
  await assert.rejects(engine.append(sessionOf, [queued("msg_3")], { durable: true }));
  await assert.rejects(engine.flush());
  await assert.rejects(engine.deleteSession(sessionOf));
  await assert.rejects((await engine.records.open("kind")).put("id", { value: 1 }));
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(filesIn(home), before);
  assert.equal(fatal.length, 1);
});

test("a lock that is lost while a message is being synced lets it not count as accepted", async (t) => {
  const { home, engine, fatal } = await opened(t);
  const accepting = engine.accept(inbound("msg_2"), { events: [queued("msg_2")] });
  fs.rmSync(join(home, "gateway.lock"));
  await assert.rejects(accepting, /was deleted or replaced/);
  assert.equal(fatal.length, 1);
});

test("one look at the lock serves writes that follow each other at once, and none that counts after a sync", async (t) => {
  let looks = 0;
  const { engine } = await openIn(tempFolder(t), { quietMs: 60_000, lock: { assertHeld: () => void looks++ } });
  await engine.accept(inbound("msg_0"), { events: [] });
  const before = looks;
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => engine.append(sessionOf, [queued(`msg_${n}`)], { durable: false })),
  );
  assert.ok(looks - before < 10, `${looks - before} looks for 20 events`);
  const unsynced = looks;
  await engine.append(sessionOf, [queued("msg_durable")], { durable: true });
  assert.ok(looks > unsynced);
  await engine[Symbol.asyncDispose]();
});

test("an engine that rests notices a lost lock too", async (t) => {
  const { home, fatal } = await opened(t);
  fs.rmSync(join(home, "gateway.lock"));
  await until("it is told", () => fatal.length === 1);
});

test("a journal that somebody else has written to, or taken away, is written no more", async (t) => {
  const changes: readonly ((segment: string) => void)[] = [
    (segment) => fs.appendFileSync(segment, "text of another process\n"),
    (segment) => fs.truncateSync(segment, 10),
    (segment) => fs.rmSync(segment),
  ];
  for (const change of changes) {
    const { home, engine, fatal } = await opened(t);
    change(join(home, "journal", "00000001.log"));
    const before = filesIn(home);
    await assert.rejects(
      engine.accept(inbound("msg_2"), { events: [queued("msg_2")] }),
      /Another program has changed the journal/,
    );
    await engine[Symbol.asyncDispose]();
    assert.deepEqual(filesIn(home), before);
    assert.equal(fs.existsSync(logPath(home, sessionOf)), false);
    assert.equal(fatal.length, 1);
  }
});
