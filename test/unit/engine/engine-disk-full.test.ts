import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadJournal } from "../../../src/engine/embedded/journal/load.js";
import {
  consuming,
  inbound,
  openIn,
  outbound,
  queued,
  recordingLog,
  sessionOf,
  tempFolder,
  titled,
  titlesOf,
  until,
} from "../../support/engine/engine-kit.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

const skip = withoutSmallDisk();

/** A file system of its own with this much room. */
function smallDisk(t: TestContext, size: string): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "maxclaw-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "maxclaw-test", folder], { stdio: "pipe" });
  t.after(() => {
    execFileSync("umount", ["-l", folder]);
    fs.rmdirSync(folder);
  });
  return folder;
}

test("a full disk refuses what does not fit, loses nothing, and the engine goes on by itself once there is room", {
  skip,
}, async (t) => {
  const disk = smallDisk(t, "256k");
  const ballast = join(disk, "ballast");
  fs.writeFileSync(ballast, Buffer.alloc(180_000));
  const home = join(disk, "home");
  const { engine, published, log } = await openIn(home, { quietMs: 60_000 });
  const accepted: string[] = [];
  let refusal: unknown;
  for (let n = 0; refusal === undefined; n += 1) {
    const id = `msg_${n}`;
    const acceptance = engine.accept(inbound(id), { events: [queued(id), titled("x".repeat(3000))] });
    await acceptance.then(
      () => accepted.push(id),
      (error: unknown) => {
        refusal = error;
      },
    );
  }
  assert.ok(accepted.length > 3);
  assert.deepEqual({ ...(refusal as object) }, { ...(refusal as object), kind: "persistence", retryable: true });
  assert.equal(engine.status().writable, false);
  assert.match(engine.status().reason ?? "", /ENOSPC/);
  assert.equal(published.length, accepted.length * 2, "nothing of the refused one was published");
  await assert.rejects(engine.accept(inbound("small"), { events: [] }), { kind: "persistence" });

  assert.equal(await countInJournal(t, home), accepted.length);

  const handled: string[] = [];
  const consumer = consuming(engine, "inbound", async (delivery) => {
    handled.push(delivery.work.id);
    await delivery.commit({ events: [], emit: [] });
  });
  fs.rmSync(ballast);
  await until("the disk takes writes again", () => engine.status().writable);
  await until("the lanes go on", () => handled.length === accepted.length);
  await consumer.stop();
  assert.deepEqual(handled, accepted);
  assert.equal((await engine.accept(inbound("small"), { events: [queued("small")] })).status, "accepted");
  assert.equal(
    await engine.lastSequence(sessionOf),
    accepted.length * 2 + 1,
    "the numbers of what was refused were taken back",
  );
  assert.ok(log.lines.some(({ message }) => message.includes("takes writes again")));
  assert.equal(await countInJournal(t, home), 1);
  await engine[Symbol.asyncDispose]();
});

/** How much inbound work is in the journal, which must hold whole transactions and nothing else. */
async function countInJournal(t: TestContext, home: string): Promise<number> {
  const copy = tempFolder(t);
  fs.cpSync(join(home, "journal"), join(copy, "journal"), { recursive: true });
  const log = recordingLog();
  const { records } = await loadJournal(copy, log);
  assert.deepEqual(log.lines, [], "the journal ends in a whole transaction");
  return records.work.count("inbound");
}

test("a commit that does not fit is kept, not counted as an attempt, and done when there is room", {
  skip,
}, async (t) => {
  const disk = smallDisk(t, "256k");
  const ballast = join(disk, "ballast");
  const { engine, published } = await openIn(join(disk, "home"), { quietMs: 60_000 });
  fs.writeFileSync(ballast, Buffer.alloc(200_000));
  const attempts: number[] = [];
  const failures: unknown[] = [];
  const consumer = consuming(engine, "inbound", async (delivery) => {
    attempts.push(delivery.attempt);
    try {
      await delivery.commit({ events: [titled("y".repeat(60_000))], emit: [outbound("reply")] });
    } catch (error) {
      failures.push(error);
      throw error;
    }
  });
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  await until("the commit was refused", () => failures.length > 0);
  assert.equal(engine.status().outboundWaiting, 0);
  assert.deepEqual(titlesOf(published), []);
  fs.rmSync(ballast);
  await until("it is done", () => engine.status().inboundWaiting === 0);
  await consumer.stop();
  assert.ok(
    attempts.every((attempt) => attempt === 1),
    `attempts ${attempts}`,
  );
  assert.deepEqual([titlesOf(published).length, engine.status().outboundWaiting], [1, 1]);
  await engine[Symbol.asyncDispose]();
});

test("a disk that is too full for a new segment or the session logs keeps everything in the old segment", {
  skip,
}, async (t) => {
  const disk = smallDisk(t, "256k");
  const home = join(disk, "home");
  const { engine, log } = await openIn(home, { quietMs: 60_000, journal: { segmentBytes: 110_000 } });
  const titles = Array.from({ length: 27 }, (_, n) => `${n}-${"x".repeat(4000)}`);
  const append = (title: string) => engine.append(sessionOf, [titled(title)], { durable: true });
  for (const title of titles.slice(0, 20)) await append(title);
  fs.writeFileSync(join(disk, "ballast"), Buffer.alloc(104_000));
  for (const title of titles.slice(20)) await append(title);
  await until("moving to a new segment failed", () =>
    log.lines.some(({ level }) => level === "error" || level === "warn"),
  );
  await append("last");
  await engine[Symbol.asyncDispose]();
  fs.rmSync(join(disk, "ballast"));
  const { engine: reopened } = await openIn(home);
  assert.deepEqual(titlesOf((await reopened.events(sessionOf, { afterSeq: 0, limit: 100 })).events), [
    ...titles,
    "last",
  ]);
  await reopened[Symbol.asyncDispose]();
});
