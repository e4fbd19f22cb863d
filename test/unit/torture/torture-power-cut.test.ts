import assert from "node:assert/strict";
import * as fs from "node:fs";
import { type TestContext, test } from "node:test";
import type { Crash } from "../../support/engine/engine-crash.js";
import { type FragileDisk, watchSyncs } from "../../support/engine/power-cut.js";
import { tortureFactor, tortureSeed } from "../../support/engine/torture-options.js";
import { createRandom, type Random } from "../../support/random.js";
import { withoutProc } from "../../support/worlds/needs.js";

const skip = withoutProc();
const messages = 24;
const mostMoments = 400;

/** What a process had promised when it was stopped, and the disk as it left it. */
interface Stop {
  readonly promises: Crash;
  readonly disk: FragileDisk;
}

const random = createRandom(tortureSeed);
const watch = skip === false ? await watchSyncs(random) : undefined;

/** The kit, imported only now: the engine keeps the sync functions that it finds. */
async function setUp(t: TestContext) {
  t.diagnostic(`TORTURE_SEED=${tortureSeed}`);
  assert.ok(watch !== undefined);
  t.after(() => watch.removeAll());
  const [kit, crash] = await Promise.all([
    import("../../support/engine/engine-kit.js"),
    import("../../support/engine/engine-crash.js"),
  ]);
  return { watch, ...kit, ...crash };
}

/** Nothing is on the disk but what was synced. */
const worst: Random = () => 0;

test("what a killed process had written to a session log is synced before the journal lets go of it", {
  skip,
}, async (t) => {
  const { watch, openIn, sessionOf, titled, titlesOf, logPath, until } = await setUp(t);
  const disk = watch.openDisk();
  const first = await openIn(disk.root, { quietMs: 1 });
  await first.engine.append(sessionOf, [titled("1"), titled("2")], { durable: true });
  await until("the log is written", () => fs.existsSync(logPath(disk.root, sessionOf)));
  const killed = disk.kill();
  await first.engine[Symbol.asyncDispose]();
  const second = await openIn(killed.root);
  await second.engine[Symbol.asyncDispose]();
  const third = await openIn(killed.cut(worst));
  const { events } = await third.engine.events(sessionOf, { afterSeq: 0, limit: 10 });
  assert.deepEqual(titlesOf(events), ["1", "2"]);
  await third.engine[Symbol.asyncDispose]();
});

test("a journal segment whose name a killed process had not synced is safe before anything relies on it", {
  skip,
}, async (t) => {
  const { watch, openIn, sessionOf, inbound, queued } = await setUp(t);
  const disk = watch.openDisk();
  let killed: FragileDisk | undefined;
  const onBoundary = (name: string): void => {
    if (name === "rotate:checkpoint-written") killed ??= disk.kill();
  };
  const first = await openIn(disk.root, { onBoundary });
  await first.engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  await first.engine[Symbol.asyncDispose]();
  assert.ok(killed !== undefined);
  const second = await openIn(killed.root);
  await second.engine.accept(inbound("msg_2"), { events: [queued("msg_2")] });
  const third = await openIn(killed.cut(worst));
  const waiting = (await third.engine.waiting("inbound", sessionOf)).map(({ id }) => id);
  assert.deepEqual(waiting, ["msg_1", "msg_2"]);
  await third.engine[Symbol.asyncDispose]();
  await second.engine[Symbol.asyncDispose]();
});

test("a power cut during the start after a kill in the middle of a new segment loses nothing", { skip }, async (t) => {
  const { watch, openIn, sessionOf, inbound, queued } = await setUp(t);
  const disk = watch.openDisk();
  let killed: FragileDisk | undefined;
  const onBoundary = (name: string): void => {
    if (name === "rotate:checkpoint-written") killed ??= disk.kill();
  };
  const first = await openIn(disk.root, { onBoundary });
  await first.engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  await first.engine[Symbol.asyncDispose]();
  const images: string[] = [];
  watch.onSync = (synced) => {
    if (synced === killed) for (let n = 0; n < 10; n += 1) images.push(killed.cut(random));
  };
  const second = await openIn(killed?.root ?? "");
  watch.onSync = () => {};
  await second.engine[Symbol.asyncDispose]();
  assert.ok(images.length > 20);
  for (const home of images) {
    const { engine } = await openIn(home);
    assert.equal((await engine.waiting("inbound", sessionOf)).length, 1);
    await engine[Symbol.asyncDispose]();
  }
});

test("after a power cut, also one that follows a kill, everything promised is there and nothing is there by half", {
  skip,
}, async (t) => {
  const { watch, checkAfterCrash, openIn, consuming, inbound, queued, outbound, titled, answered } = await setUp(t);

  /** Works until some moment between two steps, and gives what a kill at that moment leaves. */
  async function workUntilKilled(disk: FragileDisk, run: string): Promise<Stop> {
    const promises = { signal: null, accepted: [] as string[], committed: [] as string[] };
    let left = Math.floor(random() * mostMoments);
    let stop: Stop | undefined;
    const pass = (): void => {
      left -= 1;
      if (left >= 0 || stop !== undefined) return;
      const { accepted, committed } = promises;
      stop = { disk: disk.kill(), promises: { signal: null, accepted: [...accepted], committed: [...committed] } };
    };
    watch.onSync = (synced) => {
      if (synced === disk) pass();
    };
    const { engine } = await openIn(disk.root, { quietMs: 1, onBoundary: pass, journal: { segmentBytes: 9000 } });
    const handling = consuming(engine, "inbound", async (delivery) => {
      const { id } = delivery.work;
      await delivery.append([titled(`start ${id}`)], { durable: random() < 0.5 });
      await delivery.commit({
        events: [titled(`end ${id}`), answered([id])],
        emit: [outbound(`${id}#1`, delivery.work.sessionKey)],
      });
      promises.committed.push(id);
    });
    const sending = consuming(engine, "outbound", async (delivery) => {
      await delivery.commit({ events: [titled(`sent ${delivery.work.id}`)], emit: [] });
    });
    const accepts: Promise<unknown>[] = [];
    for (let n = 0; n < messages && stop === undefined; n += 1) {
      const id = `${run}_${n}`;
      const options = { events: [queued(id)], cursor: { name: "offset", value: id } };
      accepts.push(engine.accept(inbound(id, `telegram:${n % 4}`), options).then(() => promises.accepted.push(id)));
      if (random() < 0.4) await Promise.all(accepts);
    }
    await Promise.all(accepts);
    await handling.stop();
    await sending.stop();
    await engine[Symbol.asyncDispose]();
    watch.onSync = () => {};
    return stop ?? { disk, promises };
  }

  for (let round = 0; round < 6 * tortureFactor; round += 1) {
    const disk = watch.openDisk();
    const first = await workUntilKilled(disk, `a${round}`);
    await check(first, []);
    const second = await workUntilKilled(first.disk, `b${round}`);
    await check(second, [first.promises]);
  }

  async function check({ disk, promises }: Stop, earlier: readonly Crash[]): Promise<void> {
    const all = [...earlier, promises];
    for (let image = 0; image < 2; image += 1) {
      // First just what was synced, then with more or less of the rest.
      const home = disk.cut(image === 0 ? worst : random);
      await checkAfterCrash(
        home,
        {
          signal: null,
          accepted: all.flatMap(({ accepted }) => accepted),
          committed: all.flatMap(({ committed }) => committed),
        },
        false,
      );
    }
  }
});
