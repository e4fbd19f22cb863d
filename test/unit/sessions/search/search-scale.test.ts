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
