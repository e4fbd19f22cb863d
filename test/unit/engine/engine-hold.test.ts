import assert from "node:assert/strict";
import * as fs from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import type { EmbeddedEngine } from "../../../src/engine/embedded/embedded-engine.js";
import type { HeldFiles } from "../../../src/engine/held-files.js";
import { EngineError } from "../../../src/errors.js";
import { checkAfterCrash } from "../../support/engine/engine-crash.js";
import {
  answered,
  consuming,
  inbound,
  logPath,
  openIn,
  outbound,
  queued,
  sessionOf,
  tempFolder,
  titled,
  until,
} from "../../support/engine/engine-kit.js";

function hold(engine: EmbeddedEngine): Promise<HeldFiles> {
  return engine.holdFiles();
}

test("files that are held are those of one moment, while messages go on being accepted and answered", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 1, journal: { segmentBytes: 30_000 } });
  const committed: string[] = [];
  const accepted: string[] = [];
  const handling = consuming(engine, "inbound", async (delivery) => {
    const { id } = delivery.work;
    await delivery.commit({
      events: [titled(`end ${id}`), answered([id])],
      emit: [outbound(`${id}#1`, delivery.work.sessionKey)],
    });
    committed.push(id);
  });
  let count = 0;
  const acceptSome = async (some: number): Promise<void> => {
    for (const end = count + some; count < end; count += 1) {
      const id = `msg_${count}`;
      const options = { events: [queued(id)], cursor: { name: "offset", value: id } };
      await engine.accept(inbound(id, `telegram:${count % 4}`), options);
      accepted.push(id);
    }
  };
  await acceptSome(60);
  const loading = acceptSome(60);
  await until("traffic goes on", () => accepted.length > 65);
  const promised = { signal: null, accepted: [...accepted], committed: [...committed] };
  const held = await hold(engine);
  const listOf = () =>
    fs.readdirSync(join(home, "sessions")).map((name) => [name, fs.statSync(join(home, "sessions", name)).size]);
  const before = listOf();
  await loading;
  await acceptSome(30);
  await until("messages are answered meanwhile", () => committed.length > promised.committed.length + 30);
  assert.deepEqual(listOf(), before);
  const { path, bytes } = held.segment;
  assert.ok(fs.statSync(path).size > bytes);

  const copy = tempFolder(t);
  fs.cpSync(join(home, "sessions"), join(copy, "sessions"), { recursive: true });
  fs.mkdirSync(join(copy, "journal"));
  fs.writeFileSync(join(copy, "journal", basename(path)), fs.readFileSync(path).subarray(0, bytes));
  await held[Symbol.asyncDispose]();
  assert.equal(held.lost.aborted, false);
  await until("the logs are written again", () => JSON.stringify(listOf()) !== JSON.stringify(before));
  await handling.stop();
  await engine[Symbol.asyncDispose]();
  await checkAfterCrash(copy, promised, false);
});

test("a session that is deleted while the files are held keeps its log until they are released", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home);
  await engine.append(sessionOf, [titled("1")], { durable: true });
  const held = await hold(engine);
  await engine.deleteSession(sessionOf);
  assert.ok(fs.existsSync(logPath(home, sessionOf)));
  assert.deepEqual((await engine.events(sessionOf, { afterSeq: 0, limit: 5 })).events, []);
  await held[Symbol.asyncDispose]();
  assert.ok(!fs.existsSync(logPath(home, sessionOf)));
  await engine[Symbol.asyncDispose]();
});

test("what was deleted a moment before is not in the files that are held", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { journal: { forgetMs: 60_000 } });
  await engine.append(sessionOf, [titled("ORANGUTAN")], { durable: true });
  await engine.deleteSession(sessionOf);
  const held = await hold(engine);
  const { path, bytes } = held.segment;
  assert.ok(!fs.readFileSync(path).subarray(0, bytes).includes("ORANGUTAN"));
  assert.deepEqual(fs.readdirSync(join(home, "journal")), [basename(path)]);
  await held[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});

test("one holder comes after the other, a flush waits for them, and closing takes the files back", async (t) => {
  const { engine } = await openIn(tempFolder(t));
  const first = await hold(engine);
  const order: string[] = [];
  const second = hold(engine).then((held) => {
    order.push("second");
    return held;
  });
  const flushed = engine.flush().then(() => order.push("flushed"));
  const third = assert.rejects(
    hold(engine),
    (error: unknown) => error instanceof EngineError && error.kind === "closed",
  );
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  assert.deepEqual(order, []);
  await first[Symbol.asyncDispose]();
  const held = await second;
  assert.deepEqual(order, ["second"]);
  const closing = engine[Symbol.asyncDispose]();
  await until("the files are taken back", () => held.lost.aborted);
  await third;
  await closing;
  await flushed;
  await held[Symbol.asyncDispose]();
  assert.deepEqual(order, ["second", "flushed"]);
});

test("files that are held for too long are taken back before the journal grows without end", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { journal: { segmentBytes: 2000 } });
  const held = await hold(engine);
  for (let n = 0; n < 20; n += 1) await engine.append(sessionOf, [titled("x".repeat(1000))], { durable: false });
  assert.equal(held.lost.aborted, false);
  for (let n = 0; n < 40; n += 1) await engine.append(sessionOf, [titled("x".repeat(1000))], { durable: false });
  assert.equal(held.lost.aborted, true);
  await until("a new segment begins", () => !fs.existsSync(join(home, "journal", "00000001.log")));
  await held[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});
