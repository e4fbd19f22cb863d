import assert from "node:assert/strict";
import { test } from "node:test";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { answeredOf, type Life, live, liveOn } from "../../support/engine/suspects.js";
import { createRandom } from "../../support/random.js";

const innocents = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `innocent-${n}`);
const buriedIn = (lives: readonly Life[]): readonly string[] => lives.flatMap(({ buried }) => buried);

test("a message that ends the process is found within some ends of it, and all others are answered", async (t) => {
  const names = [...innocents(31), "kills-it"];
  const home = tempFolder(t);
  const lives = await liveOn(home, names, { suspectMs: 50, mostLives: 12 });
  t.diagnostic(`${lives.length - 1} ends of the process`);
  assert.deepEqual(buriedIn(lives), ["kills-it"]);
  assert.deepEqual((await answeredOf(home, names)).toSorted(), innocents(31).toSorted());
});

test("a message alone with the process is given up after five ends of it, and not before", async (t) => {
  const lives = await liveOn(tempFolder(t), ["kills-it"], { suspectMs: 50, mostLives: 7 });
  assert.deepEqual([lives.length, buriedIn(lives)], [6, ["kills-it"]]);
});

test("two messages that end the process are both found, whatever they do to each other", async (t) => {
  const names = ["kills-1", ...innocents(6), "kills-2"];
  const home = tempFolder(t);
  const lives = await liveOn(home, names, { suspectMs: 30, mostLives: 25 });
  t.diagnostic(`${lives.length - 1} ends of the process`);
  assert.deepEqual(buriedIn(lives).toSorted(), ["kills-1", "kills-2"]);
  assert.deepEqual((await answeredOf(home, names)).toSorted(), innocents(6));
});

test("a message that ends the process only after a while is found as well, beside one that takes long", async (t) => {
  const home = tempFolder(t);
  const names = ["later-dies", "slow-1"];
  const lives = await liveOn(home, names, { suspectMs: 30, mostLives: 20 });
  t.diagnostic(`${lives.length - 1} ends of the process`);
  assert.deepEqual(buriedIn(lives), ["later-dies"]);
  assert.deepEqual(await answeredOf(home, names), ["slow-1"]);
});

test("no message is given up for kills from outside, however often they come while it is in work", async (t) => {
  const home = tempFolder(t);
  const names = ["slow-1", "slow-2", "slow-3", ...innocents(5)];
  const seed = Number(process.env.SEED ?? Date.now() % 100_000);
  t.diagnostic(`SEED=${seed}`);
  const random = createRandom(seed);
  const lives: Life[] = [];
  for (let kill = 0; kill < 12; kill += 1)
    lives.push(await live(home, names, { suspectMs: 50, killAfterMs: Math.floor(random() * 250) }));
  assert.ok(lives.filter(({ begun }) => begun.some((name) => name.startsWith("slow"))).length > 3, "often in work");
  lives.push(...(await liveOn(home, names, { suspectMs: 50, mostLives: 1 })));
  assert.deepEqual(buriedIn(lives), []);
  assert.deepEqual((await answeredOf(home, names)).toSorted(), names.toSorted());
});

test("a single message that is in work at each of many kills is not given up", async (t) => {
  const home = tempFolder(t);
  const lives: Life[] = [];
  for (let kill = 0; kill < 8; kill += 1) lives.push(await live(home, ["slow-1"], { suspectMs: 50, killAfterMs: 100 }));
  assert.ok(lives.filter(({ begun }) => begun.length > 0).length >= 5, "in work each time");
  lives.push(...(await liveOn(home, ["slow-1"], { suspectMs: 50, mostLives: 1 })));
  assert.deepEqual([buriedIn(lives), await answeredOf(home, ["slow-1"])], [[], ["slow-1"]]);
});
