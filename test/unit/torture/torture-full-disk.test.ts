import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { acquireLock, readLock } from "../../../src/engine/embedded/locking/lock.js";
import { EngineError } from "../../../src/errors.js";
import { silentLog } from "../../../src/log.js";
import { checkAfterCrash } from "../../support/engine/engine-crash.js";
import {
  answered,
  consuming,
  inbound,
  openIn,
  outbound,
  queued,
  tempFolder,
  titled,
  until,
} from "../../support/engine/engine-kit.js";
import { fillUp, smallDisk } from "../../support/engine/small-disk.js";
import { seedOf, tortureFactor } from "../../support/engine/torture-options.js";
import { createRandom } from "../../support/random.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

const skip = withoutSmallDisk();

test("a disk that is full again and again, at any step, loses nothing that was promised and keeps nothing by half", {
  skip,
}, async (t) => {
  const random = createRandom(seedOf(t));
  for (let round = 0; round < tortureFactor; round += 1) {
    const disk = smallDisk(t, "1m");
    const home = join(disk, "home");
    const accepted: string[] = [];
    const committed: string[] = [];
    const { engine } = await openIn(home, { quietMs: 1, journal: { segmentBytes: 20_000 } });
    const handling = consuming(engine, "inbound", async (delivery) => {
      const { id } = delivery.work;
      await delivery.append([titled(`start ${id}`)], { durable: false });
      await delivery.commit({
        events: [titled(`end ${id}`), answered([id])],
        emit: [outbound(`${id}#1`, delivery.work.sessionKey)],
      });
      committed.push(id);
    });
    const sending = consuming(engine, "outbound", async (delivery) => {
      await delivery.commit({ events: [titled(`sent ${delivery.work.id}`)], emit: [] });
    });
    let refused = 0;
    for (let n = 0; n < 90; n += 1) {
      // Leaves less and less room, a little at a time, so that any write may be the one that does not fit.
      if (n % 30 === 5) fillUp(disk, Math.floor(random() * 9000));
      if (n % 30 === 25) {
        fs.rmSync(join(disk, "ballast"), { force: true });
        await until("the disk takes writes again", () => engine.status().writable);
      }
      const id = `msg_${n}`;
      const options = { events: [queued(id)], cursor: { name: "offset", value: id } };
      await engine.accept(inbound(id, `telegram:${n % 4}`), options).then(
        () => accepted.push(id),
        (error: unknown) => {
          assert.ok(error instanceof EngineError && error.kind === "persistence" && error.retryable, String(error));
          refused += 1;
        },
      );
      if (n === 70) {
        const copy = tempFolder(t);
        fs.cpSync(home, copy, { recursive: true });
        await checkAfterCrash(copy, { signal: null, accepted: [...accepted], committed: [...committed] }, false);
      }
    }
    fs.rmSync(join(disk, "ballast"), { force: true });
    await until("the disk takes writes again", () => engine.status().writable);
    await until("all is done", () => engine.status().inboundWaiting + engine.status().outboundWaiting === 0, 20_000);
    assert.ok(refused > 0 && accepted.length > 20, `${refused} refused, ${accepted.length} accepted`);
    assert.deepEqual(new Set(committed), new Set(accepted));
    await handling.stop();
    await sending.stop();
    await engine[Symbol.asyncDispose]();
    await checkAfterCrash(home, { signal: null, accepted, committed }, false);
  }
});

test("a full disk refuses a start in words, takes nothing away, and starts once there is room", { skip }, async (t) => {
  const disk = smallDisk(t, "256k");
  const home = join(disk, "home");
  const first = await openIn(home, { quietMs: 60_000 });
  await first.engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  await first.engine[Symbol.asyncDispose]();
  const lockPath = join(home, "gateway.lock");
  fillUp(disk, 0);
  await assert.rejects(acquireLock(lockPath, silentLog), isFullDisk);
  assert.deepEqual(fs.readdirSync(home).sort(), ["journal", "journal.mark", "sessions"]);
  const empty = join(disk, "other");
  await assert.rejects(openIn(empty), isFullDisk);
  fs.rmSync(join(disk, "ballast"));
  const lock = await acquireLock(lockPath, silentLog);
  fillUp(disk, 0);
  lock.setAddress("127.0.0.1:1");
  assert.equal((await readLock(lockPath))?.address, "127.0.0.1:1", "a lock that is there already needs no room");
  fs.rmSync(join(disk, "ballast"));
  lock.release();
  const again = await openIn(home);
  assert.equal((await again.engine.waiting("inbound", "telegram:42")).length, 1);
  await again.engine[Symbol.asyncDispose]();
  await (await openIn(empty)).engine[Symbol.asyncDispose]();
});

function isFullDisk(error: unknown): boolean {
  assert.ok(error instanceof EngineError && error.kind === "persistence", String(error));
  assert.match(error.message, /the disk is full\. Free some space, then start again/);
  return true;
}
