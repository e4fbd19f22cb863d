import assert from "node:assert/strict";
import { test } from "node:test";
import { RunningTurns } from "../../../src/agent/turn/running-turns.js";
import { createLifecycle } from "../../../src/api/sessions/lifecycle.js";
import { answered, queued, tempFolder, titled } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";

test("a log that is too long for one transaction is not copied, and it is said up to where it can be", async (t) => {
  await using opened = await openStore(tempFolder(t));
  const { engine, store: sessions } = opened;
  const lifecycle = createLifecycle({
    engine,
    sessions,
    running: new RunningTurns(),
    isFreshStart: () => false,
    maxForkBytes: 5000,
  });
  for (let n = 0; n < 10; n += 1) await engine.append("webui:one", [titled("x".repeat(1000))], { durable: false });
  const refused = await lifecycle.fork("webui:one", undefined).then(
    () => undefined,
    (error: Error) => error.message,
  );
  assert.match(refused ?? "", /^webui:one is longer than 5000 bytes up to event 10: fork it at 3 or before$/);
  assert.equal((await sessions.list()).length, 1, "nothing is left of the attempt");
  const { key } = await lifecycle.fork("webui:one", 3);
  assert.equal(await engine.lastSequence(key), 5);
});

test("a copy keeps the times of what was said, is the newest conversation, and has the title with the next number", async (t) => {
  let now = Date.parse("2026-01-05T10:00:00.000Z");
  await using opened = await openStore(tempFolder(t), { now: () => new Date(now) });
  const { engine, store: sessions } = opened;
  const lifecycle = createLifecycle({ engine, sessions, running: new RunningTurns(), isFreshStart: () => false });
  const say = async (id: string): Promise<void> => {
    now += 3_600_000;
    await engine.append("webui:one", [queued(id), answered([id])], { durable: false });
  };
  await say("first");
  await say("second");
  await engine.append("webui:one", [titled("Cheese")], { durable: false });
  const before = await sessions.document("webui:one");
  now += 30 * 86_400_000;
  await engine.append("webui:other", [queued("later")], { durable: true });
  now += 60_000;
  const { key } = await lifecycle.fork("webui:one", undefined);
  const copy = await sessions.document(key);
  const timesOf = ({ messages }: typeof copy) => messages.map(({ timestamp }) => timestamp);
  assert.deepEqual(timesOf(copy), timesOf(before));
  assert.ok(new Set(timesOf(copy)).size >= 2);
  assert.equal(copy.metadata.createdAt, new Date(now).toISOString());
  assert.equal((await engine.events(key, { afterSeq: 0, limit: 1 })).events[0]?.timestamp, "2026-01-05T11:00:00.000Z");
  const newest = (await sessions.list())[0];
  assert.deepEqual([newest?.key, newest?.lastMessageAt], [key, new Date(now).toISOString()]);
  assert.match([...(await sessions.export(key, "markdown")).pieces].join(""), /2026-01-05 11:00:00 UTC/);

  assert.deepEqual([copy.title, copy.titleSource], ["Cheese (2)", "user"]);
  const { key: second } = await lifecycle.fork("webui:one", undefined);
  const { key: ofCopy } = await lifecycle.fork(key, undefined);
  assert.deepEqual(
    [(await sessions.document(second)).title, (await sessions.document(ofCopy)).title],
    ["Cheese (3)", "Cheese (4)"],
  );
  const { key: untitled } = await lifecycle.fork("webui:other", undefined);
  assert.equal((await sessions.document(untitled)).title, undefined);
});
