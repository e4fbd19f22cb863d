import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";
import { createRandom } from "../../../support/random.js";
import { SearchWorld } from "./search-world.js";

const messages = 100_000;
const sessions = 2000;

test("100,000 messages are searched without reading the logs again: only what is shown is read", async (t) => {
  const world = new SearchWorld();
  const random = createRandom(7);
  const words = Array.from({ length: 5000 }, (_, n) => `word${n.toString(36)}`);
  const sentence = (): string => Array.from({ length: 40 }, () => words[Math.floor(random() * words.length)]).join(" ");
  for (let n = 0; n < messages / 2; n += 1)
    world.turn(
      `webui:${n % sessions}`,
      n === 777 ? `the ÄRDVARK ${sentence()}` : sentence(),
      n % 1000 === 0 ? `北京 ${sentence()}` : sentence(),
      false,
    );
  await using index = world.open();
  const built = performance.now();
  while (!(await index.find({ text: "nothing has this", limit: 1 })).isComplete);
  const bytes = statSync(world.path).size;
  t.diagnostic(`read ${messages} messages in ${Math.round(performance.now() - built)} ms: ${bytes} bytes`);
  const queries = {
    ärdvark: 1,
    北京: 20,
    word1: 20,
    "a e": 20,
    '"nothing has this"': 0,
    "word10 word11 word12": undefined,
  };
  const measure = async (): Promise<void> => {
    for (const [text, count] of Object.entries(queries)) {
      world.reads = 0;
      const begun = performance.now();
      const cpu = process.cpuUsage();
      const { hits, isComplete } = await index.find({ text, limit: 20 });
      const { user, system } = process.cpuUsage(cpu);
      const cpuMs = Math.round((user + system) / 1000);
      t.diagnostic(`${text}: ${hits.length} hits in ${Math.round(performance.now() - begun)} ms, ${cpuMs} ms of work`);
      assert.equal(isComplete, true);
      if (count !== undefined) assert.equal(hits.length, count, text);
      assert.ok(world.reads <= 41, `${world.reads} reads for ${text}`);
      assert.deepEqual(
        hits.map(({ at }) => at),
        [...hits.map(({ at }) => at)].sort().reverse(),
      );
    }
  };
  await measure();
  await index[Symbol.asyncDispose]();
  await using next = world.open();
  const begun = performance.now();
  world.reads = 0;
  const { hits, isComplete } = await next.find({ text: "ärdvark", limit: 20 });
  t.diagnostic(`after a restart: ${Math.round(performance.now() - begun)} ms`);
  assert.deepEqual([hits.length, isComplete], [1, true]);
  assert.ok(world.reads <= 2, `${world.reads} reads: no log is read again that has nothing new`);
});

const kinds = {
  "a rare word": "1234",
  "a word of each message": "the",
  Chinese: "北京",
  "an emoji nobody wrote": "🦄",
};

/** What each search takes in a home with so many messages, in milliseconds of processor time: the best of some. */
async function workIn(count: number): Promise<ReadonlyMap<string, number>> {
  const world = new SearchWorld();
  for (let n = 0; n < count / 2; n += 1)
    world.turn(`webui:${n % 200}`, `the question ${n} 北京`, `the answer ${"and more ".repeat(30)}${n}`, false);
  await using index = world.open();
  while (!(await index.find({ text: "nothing has this", limit: 1 })).isComplete);
  const found = new Map<string, number>();
  for (const [kind, text] of Object.entries(kinds)) {
    let best = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 5; tries += 1) {
      const before = process.cpuUsage();
      await index.find({ text, limit: 20 });
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, (user + system) / 1000);
    }
    found.set(kind, best);
  }
  return found;
}

test("sixteen times as many messages are searched with about sixteen times the work, not its square", async (t) => {
  const few = await workIn(2000);
  for (const [kind, many] of await workIn(32_000)) {
    const least = few.get(kind) ?? 0;
    t.diagnostic(`${kind}: ${least} ms of work for 2000 messages, ${many} for 32,000`);
    // Between what is linear, 16 times, and what is quadratic, 256 times.
    assert.ok(many < 64 * Math.max(least, 0.5), `${kind}: ${many} ms after ${least} ms`);
  }
});
