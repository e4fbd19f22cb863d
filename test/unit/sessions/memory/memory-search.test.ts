import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createMemorySearch, type Passage, type Source } from "../../../../src/memory/search.js";
import { toTerms } from "../../../../src/memory/terms.js";
import { fuzzOptions } from "../../../support/fuzz.js";

const signal = new AbortController().signal;
const all = { limit: 5, allows: () => true, signal };

function source(id: string, ...texts: readonly string[]) {
  const state = { reads: 0, stamp: "1", passages: texts.map((text): Passage => ({ from: "user", text })) };
  const asSource = (): Source => ({
    id,
    stamp: state.stamp,
    async read() {
      state.reads += 1;
      return state.passages;
    },
  });
  return Object.assign(state, { asSource });
}

test("words are found in any case and form, and Chinese by parts of its words", async () => {
  const notes = source(
    "memory/MEMORY.md",
    "Ann's birthday is on the 4th of May",
    "我的项目叫做龙虾网关，下周发布",
    "The garage code is 4711",
  );
  const past = createMemorySearch(async () => [notes.asSource()]);
  const best = async (query: string): Promise<string | undefined> => (await past.search(query, all))[0]?.text;
  assert.match((await best("BIRTHDAY")) ?? "", /Ann/);
  assert.match((await best("birthd")) ?? "", /Ann/);
  assert.match((await best("brithday")) ?? "", /Ann/, "a slip of the pen");
  assert.match((await best("garage code")) ?? "", /4711/);
  assert.match((await best("龙虾")) ?? "", /网关/);
  assert.match((await best("项目的名字")) ?? "", /龙虾/);
  assert.equal(await best("zebra"), undefined);
});

test("what has not changed is read once; what has changed, come or gone is found as it is", async () => {
  const one = source("webui:one", "the cat is called Mia");
  const two = source("webui:two", "the dog is called Rex");
  const sources = [one, two];
  const past = createMemorySearch(async () => sources.map((each) => each.asSource()));
  assert.equal((await past.search("called", all)).length, 2);
  await past.search("cat", all);
  assert.deepEqual([one.reads, two.reads], [1, 1]);

  one.stamp = "2";
  one.passages = [{ from: "user", text: "the cat is called Luna" }];
  assert.deepEqual(
    (await past.search("cat", all)).map(({ text }) => text),
    ["the cat is called Luna"],
  );
  sources.pop();
  assert.deepEqual(await past.search("dog", all), []);
});

test("only what is allowed is found, however well the rest fits", async () => {
  const mine = source("telegram:7", "we spoke about tea");
  const theirs = source("telegram:8", "secret tea tea tea");
  const past = createMemorySearch(async () => [mine.asSource(), theirs.asSource()]);
  const found = await past.search("tea", { ...all, allows: (id) => id === "telegram:7" });
  assert.deepEqual(
    found.map(({ sourceId }) => sourceId),
    ["telegram:7"],
  );
});

test("every word of a text is a term of it, in any script", (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("hello", "wörld", "4711", "龙虾", "カメラ"), { minLength: 1 }), (words) => {
      const terms = new Set(toTerms(words.join(" ")));
      for (const word of words) assert.ok([...toTerms(word)].every((term) => terms.has(term)));
    }),
    fuzzOptions(t, 100),
  );
});
