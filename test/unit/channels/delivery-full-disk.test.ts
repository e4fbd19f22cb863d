import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deliverOutbound, type Sender } from "../../../src/bus/delivery.js";
import { createMessageBus } from "../../../src/bus/message-bus.js";
import { createPreviews } from "../../../src/bus/previews.js";
import type { Engine } from "../../../src/engine/engine.js";
import { SessionLives } from "../../../src/events/session-lives.js";
import { silentLog } from "../../../src/log.js";
import { openIn, tempFolder, titled, until } from "../../support/engine/engine-kit.js";
import { fillUp, makeRoom, smallDisk } from "../../support/engine/small-disk.js";
import { reply } from "../../support/worlds/channels/channel-kit.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

const skip = withoutSmallDisk();

/** A platform that shows everything; `onSend` is called while a message is under way. */
function platform(onSend: (content: string) => Promise<void> = async () => {}) {
  const shown: string[] = [];
  const sender: Sender = {
    async send({ content }) {
      await onSend(content);
      shown.push(content);
      return { platformMessageId: String(shown.length) };
    },
    async edit({ content }) {
      shown.push(`edited: ${content}`);
    },
  };
  return { shown, sender };
}

function deliver(engine: Engine, sender: Sender) {
  const controller = new AbortController();
  const channels = new Map([["telegram", sender]]);
  const done = deliverOutbound({ engine, channels, log: silentLog, retryDelayMs: 1 }, controller.signal);
  return {
    stop: () => {
      controller.abort();
      return done;
    },
  };
}

async function queue(engine: Engine, content: string): Promise<void> {
  await createMessageBus(engine).publishOutbound({
    ...reply("42", content),
    id: `out_${content}#1`,
    channel: "telegram",
    sessionKey: "telegram:42",
  });
}

async function statuses(engine: Engine, content: string): Promise<readonly string[]> {
  const { events } = await engine.events("telegram:42", { afterSeq: 0, limit: 1000 });
  return events.flatMap(({ type, payload }) =>
    type === "outbound_delivery_changed" && payload.outbound_id === `out_${content}#1`
      ? [`${payload.status} ${payload.attempt}${payload.maybe_duplicate === true ? " maybe twice" : ""}`]
      : [],
  );
}

/** Takes the last byte of the disk, and of the page that the journal has begun. */
async function fill(disk: string, engine: Engine): Promise<void> {
  const journal = join(disk, "home", "journal", "00000001.log");
  const before = fs.statSync(journal).size;
  await engine.append("telegram:9", [titled("")], { durable: true });
  const { size } = fs.statSync(journal);
  const need = 4096 - (size % 4096) - (size - before) - 20;
  await engine.append("telegram:9", [titled("x".repeat(need < 0 ? need + 4096 : need))], { durable: true });
  fillUp(disk, 0);
}

test("a reply that was shown as the disk got full is noted at once, and shown once", { skip }, async (t) => {
  const disk = smallDisk(t, "512k");
  const home = join(disk, "home");
  const { engine } = await openIn(home, { quietMs: 60_000 });
  const there = platform(async (content) => {
    if (content === "one") await fill(disk, engine);
  });
  await queue(engine, "one");
  await queue(engine, "two");
  const work = deliver(engine, there.sender);
  await until("it is sent", () => engine.status().outboundWaiting === 1);
  assert.deepEqual(await statuses(engine, "one"), ["queued 0", "sending 1", "sent 1"]);
  assert.equal(engine.status().writable, false);
  const copy = tempFolder(t);
  fs.cpSync(home, copy, { recursive: true });
  assert.deepEqual(there.shown, ["one"], "the next one waits for room for its receipt");
  makeRoom(disk);
  await until("the next one is sent", () => engine.status().outboundWaiting === 0);
  assert.deepEqual(there.shown, ["one", "two"]);
  assert.ok(fs.existsSync(join(home, "reserve.tmp")), "room is kept again");
  await work.stop();
  await engine[Symbol.asyncDispose]();
  assert.ok(!fs.existsSync(join(home, "reserve.tmp")));

  const after = await openIn(copy);
  const again = platform();
  const next = deliver(after.engine, again.sender);
  await until("all is sent", () => after.engine.status().outboundWaiting === 0);
  assert.deepEqual(again.shown, ["two"], "a restart while the disk was full repeats nothing");
  await next.stop();
  await after.engine[Symbol.asyncDispose]();
});

test("a receipt for which even the kept room is gone waits, and the reply is not sent again", { skip }, async (t) => {
  const disk = smallDisk(t, "512k");
  const home = join(disk, "home");
  const { engine, log } = await openIn(home, { quietMs: 60_000 });
  const there = platform(async () => {
    fs.truncateSync(join(home, "reserve.tmp"));
    await fill(disk, engine);
  });
  await queue(engine, "one");
  const work = deliver(engine, there.sender);
  await until("the disk refused", () => !engine.status().writable);
  const copy = tempFolder(t);
  fs.cpSync(home, copy, { recursive: true });
  await until("it was tried again", () => log.lines.filter(({ message }) => message.includes("refuses")).length > 1);
  makeRoom(disk);
  await until("it is noted", () => engine.status().outboundWaiting === 0);
  assert.deepEqual(there.shown, ["one"]);
  assert.deepEqual(await statuses(engine, "one"), ["queued 0", "sending 1", "sent 1"]);
  await work.stop();
  await engine[Symbol.asyncDispose]();

  const after = await openIn(copy);
  const next = deliver(after.engine, platform().sender);
  await until("it is sent", () => after.engine.status().outboundWaiting === 0);
  const [, , ...told] = await statuses(after.engine, "one");
  assert.ok(told.length === 2 && told.every((each) => each.endsWith("maybe twice")), told.join());
  await next.stop();
  await after.engine[Symbol.asyncDispose]();
});

test("an answer does not begin to grow on a full disk, and one that is there is known though the disk got full", {
  skip,
}, async (t) => {
  const disk = smallDisk(t, "512k");
  const home = join(disk, "home");
  const { engine } = await openIn(home, { quietMs: 60_000 });
  const there = platform(async (content) => {
    if (content === "first") await fill(disk, engine);
  });
  const previews = createPreviews({
    engine,
    records: await engine.records.open("preview"),
    channels: new Map([["telegram", there.sender]]),
    lives: new SessionLives(silentLog),
    log: silentLog,
  });
  const { signal } = new AbortController();
  const message = (id: string, content: string) => ({ ...reply("42", content), id, channel: "telegram" });
  await previews.show(message("turn_1#1", "first"), signal);
  await previews.show(message("turn_1#1", "first words"), signal);
  await previews.show(message("turn_2#1", "second"), signal);
  assert.deepEqual(there.shown, ["first", "edited: first words"]);
  const copy = tempFolder(t);
  fs.cpSync(home, copy, { recursive: true });
  const after = await openIn(copy);
  assert.deepEqual((await after.engine.records.open("preview")).get("turn_1#1"), {
    platformMessageId: "1",
    sessionKey: "test:42",
  });
  await after.engine[Symbol.asyncDispose]();
  makeRoom(disk);
  await until("the disk takes writes", () => engine.status().writable);
  await engine[Symbol.asyncDispose]();
});

/** What a start tells about a reply that waited when the process before it ended. */
async function afterEnd(t: TestContext, bootId: string, end: "killed" | "stopped"): Promise<readonly string[]> {
  const home = tempFolder(t);
  const first = await openIn(home, { process: { bootId: "before" } });
  await queue(first.engine, "one");
  const copy = tempFolder(t);
  if (end === "killed") fs.cpSync(home, copy, { recursive: true });
  await first.engine[Symbol.asyncDispose]();
  if (end === "stopped") fs.cpSync(home, copy, { recursive: true });
  const second = await openIn(copy, { process: { bootId } });
  const work = deliver(second.engine, platform().sender);
  await until("it is sent", () => second.engine.status().outboundWaiting === 0);
  await queue(second.engine, "later");
  await until("the next one is sent", () => second.engine.status().outboundWaiting === 0);
  assert.deepEqual(await statuses(second.engine, "later"), ["queued 0", "sending 1", "sent 1"]);
  const told = await statuses(second.engine, "one");
  await work.stop();
  await second.engine[Symbol.asyncDispose]();
  return told;
}

test("a reply that waited at a power cut is marked: that it was under way may have been lost", async (t) => {
  const marked = ["queued 0", "sending 1 maybe twice", "sent 1 maybe twice"];
  assert.deepEqual(await afterEnd(t, "after", "killed"), marked);
});

test("a reply that waited at a kill or an orderly stop is not marked: nothing can be missing", async (t) => {
  const plain = ["queued 0", "sending 1", "sent 1"];
  assert.deepEqual(await afterEnd(t, "before", "killed"), plain);
  assert.deepEqual(await afterEnd(t, "after", "stopped"), plain);
});
