import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { EventDraft } from "../../../src/events/event.js";
import { derivedId, isNewId, newId } from "../../../src/util/ids.js";
import { logPath, openIn, sessionOf, tempFolder, titled, titlesOf } from "../../support/engine/engine-kit.js";

/** An event whose id comes from what it tells, as that of a sub-agent's change does. */
function derived(title: string, id = derivedId("evt", title)): EventDraft {
  return { ...titled(title), event_id: id };
}

test("an event is stored once under its id, however often an orderly restart lies between", async (t) => {
  const home = tempFolder(t);
  for (let start = 0; start < 3; start += 1) {
    const { engine } = await openIn(home);
    const [first, second] = await engine.append(sessionOf, [derived("pending"), derived("running")], { durable: true });
    assert.deepEqual([first?.seq, second?.seq], [1, 2]);
    await engine[Symbol.asyncDispose]();
  }
  const { engine, log } = await openIn(home);
  assert.equal(await engine.lastSequence(sessionOf), 2);
  assert.deepEqual(log.lines, []);
  await engine[Symbol.asyncDispose]();
});

test("an event id is known after any number of journal segments", async (t) => {
  const { engine } = await openIn(tempFolder(t), { quietMs: 1, journal: { segmentBytes: 5000 } });
  await engine.append(sessionOf, [derived("pending")], { durable: true });
  for (let n = 0; n < 60; n += 1) await engine.append(`telegram:${n}`, [titled("x".repeat(800))], { durable: true });
  await engine.flush();
  const [again] = await engine.append(sessionOf, [derived("pending")], { durable: true });
  assert.equal(again?.seq, 1);
  await engine[Symbol.asyncDispose]();
});

test("a deleted session's event ids are free again", async (t) => {
  const home = tempFolder(t);
  const first = await openIn(home);
  await first.engine.append(sessionOf, [derived("pending")], { durable: true });
  await first.engine[Symbol.asyncDispose]();
  const second = await openIn(home);
  await second.engine.append(sessionOf, [derived("pending")], { durable: true });
  await second.engine.deleteSession(sessionOf);
  const [again] = await second.engine.append(sessionOf, [derived("pending")], { durable: true });
  assert.equal(again?.seq, 2);
  await second.engine[Symbol.asyncDispose]();
});

test("an event id of a deleted session stays free where a copy has brought its lines back", async (t) => {
  const home = tempFolder(t);
  const path = logPath(home, sessionOf);
  const first = await openIn(home);
  await first.engine.append(sessionOf, [derived("pending")], { durable: true });
  await first.engine[Symbol.asyncDispose]();
  const earlierLife = readFileSync(path);
  const second = await openIn(home);
  await second.engine.deleteSession(sessionOf);
  await second.engine.append(sessionOf, [derived("running")], { durable: true });
  await second.engine[Symbol.asyncDispose]();
  writeFileSync(path, Buffer.concat([earlierLife, readFileSync(path)]));
  const third = await openIn(home);
  const events = [derived("running"), derived("pending")];
  const [known, again] = await third.engine.append(sessionOf, events, { durable: true });
  assert.deepEqual([known?.seq, again?.seq], [2, 3]);
  await third.engine[Symbol.asyncDispose]();
});

test("another content under a known id is told by name, and the first one stays", async (t) => {
  const home = tempFolder(t);
  const first = await openIn(home);
  await first.engine.append(sessionOf, [derived("one", "evt_own")], { durable: true });
  await first.engine.append(sessionOf, [derived("two", "evt_own")], { durable: true });
  const message = "telegram:42: a second event has the id evt_own and has other content; the first one stays";
  assert.deepEqual(
    first.log.lines.map((line) => [line.level, line.message]),
    [["error", message]],
  );
  await first.engine[Symbol.asyncDispose]();
  const second = await openIn(home);
  await second.engine.append(sessionOf, [derived("three", "evt_own")], { durable: true });
  assert.equal(second.log.lines[0]?.message, message);
  const { events } = await second.engine.events(sessionOf, { afterSeq: 0, limit: 10 });
  assert.deepEqual(titlesOf(events), ["one"]);
  await second.engine[Symbol.asyncDispose]();
});

test("an id that is derived is never taken for one that was made for one use", () => {
  for (let n = 0; n < 2000; n += 1) {
    assert.ok(isNewId(newId("evt")));
    const id = derivedId("evt", n);
    assert.ok(!isNewId(id), id);
    assert.match(id, /^evt_[0-9a-f]{20}$/);
  }
});
