import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { RecentIds } from "../../../src/engine/embedded/logs/recent-ids.js";
import { SessionTable, trim } from "../../../src/engine/embedded/logs/session-table.js";
import { toEvent } from "../../../src/engine/to-event.js";
import type { EventDraft } from "../../../src/events/event.js";
import { derivedId, isNewId, newId } from "../../../src/util/ids.js";
import { logPath, openIn, sessionOf, tempFolder, titled, titlesOf } from "../../support/engine/engine-kit.js";
import { liveBytes } from "../../support/engine/live-bytes.js";

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

test("an id is kept as one piece of text", () => {
  const count = 20_000;
  const ids = new Array<string>(count).fill("");
  const before = liveBytes();
  for (let n = 0; n < count; n += 1) ids[n] = newId("evt");
  const each = (liveBytes() - before) / count;
  assert.equal(new Set(ids).size, count);
  assert.ok(each < 64, `${each} bytes each`);
});

test("the newest ids of a session are known, and those of another form until the second segment after them", () => {
  const ids = new RecentIds();
  const made = Array.from({ length: 300 }, () => newId("evt"));
  for (const [n, id] of made.entries()) ids.add(id, n + 1);
  ids.add("mine", 301);
  const known = made.flatMap((id, n) => (ids.find(id) === n + 1 ? [n] : []));
  assert.deepEqual(
    known,
    Array.from({ length: 128 }, (_, n) => 172 + n),
  );
  assert.equal(ids.find(newId("evt")), undefined);
  assert.equal(ids.find(`msg${made.at(-1)?.slice(3)}`), undefined);
  ids.startSegment(false);
  assert.deepEqual([ids.find(made.at(-1) ?? ""), ids.find("mine")], [300, 301]);
  ids.startSegment(true);
  assert.deepEqual([ids.find(made.at(-1) ?? ""), ids.find("mine")], [300, undefined]);
  ids.startSegment(false);
  assert.equal(ids.size, 0);
  ids.add(made[0] ?? "", 302);
  assert.equal(ids.find(made[0] ?? ""), 302);
});

test("what is kept of the ids of a chat that was used lately takes 4 kB", () => {
  const chats = 200;
  const table = new SessionTable();
  const before = liveBytes();
  for (let segment = 0; segment < 2; segment += 1) {
    for (let n = 0; n < chats * 150; n += 1) {
      const sessionKey = `telegram:${n % chats}`;
      const seq = (table.find(sessionKey)?.lastSeq ?? 0) + 1;
      const event = toEvent(titled("x"), { sessionKey, seq, time: 0, instanceId: "gw" });
      table.applyEvent({ ...event, seq }, 300, 0);
      const session = table.find(sessionKey);
      if (session === undefined) continue;
      session.flushedSeq = session.lastSeq;
      trim(session, 0);
    }
    if (segment === 0) table.startSegment();
  }
  const each = (liveBytes() - before) / chats;
  assert.equal([...table.all()].length, chats);
  assert.ok(each < 4000, `${each} bytes each`);
});
