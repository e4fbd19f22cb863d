import assert from "node:assert/strict";
import { test } from "node:test";
import { findingIn } from "../../../src/config/settle.js";
import {
  type ProblemCode,
  problemSentence,
  problemSentences,
  readProblem,
} from "../../../src/util/words/problem-sentences.js";
import { problemInChinese, problemsInChinese } from "../../../src/web/failures/problems.js";
import { loadOwnWords, problemText } from "../../../src/web/failures/said.js";

/** Values as they come: paths, keys, and a sentence in a sentence. */
const values = {
  key: "gateway.port",
  near: "gateway.host",
  wanted: "a number",
  found: 'the text "ab, got c"',
  name: "telegram",
  title: "Signal",
  missing: "appId and no appSecret",
  part: "tools.mcpServers.notes",
  host: "0.0.0.0",
  least: "16",
  provider: "openai",
  keys: "gateway, engine",
  folder: "/home/ada/My files",
  path: "/home/ada/config.json",
  same: "/home/ada/config.json",
  first: "/a/config.json",
  second: "/a/config.yaml",
  reason: "gateway.port: expected a number, got text; its default is used",
};
const codes = Object.keys(problemSentences) as ProblemCode[];

test("each sentence about the config is known again by its words, with what is in it", () => {
  for (const code of codes) {
    const read = readProblem(problemSentence(code, values));
    assert.equal(read?.code, code);
    for (const [name, value] of Object.entries(read.values)) assert.equal(value, Reflect.get(values, name), code);
  }
  assert.equal(readProblem("The disk refuses writes."), undefined);
  assert.equal(readProblem("gateway.token is set; so is /off"), undefined);
});

test("each has Chinese words with the same values, and none has words without a sentence", () => {
  const named = (words: string) => [...words.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
  assert.deepEqual(Object.keys(problemsInChinese).sort(), [...codes].sort());
  for (const code of codes) assert.deepEqual(named(problemsInChinese[code]), named(problemSentences[code]), code);
});

test("a sentence within a sentence is said in Chinese, too", async () => {
  const off = problemSentence("part_off", {
    reason: problemSentence("channel_lacks", { name: "qq", missing: "appId" }),
    part: "channels.qq",
  });
  assert.equal(problemInChinese(off), "channels.qq 已开启，但缺少 appId；channels.qq 已关闭");
  assert.equal(problemText(off), off, "on the English page");
  Object.assign(globalThis, { document: { documentElement: { lang: "zh" } } });
  try {
    await loadOwnWords();
    assert.equal(problemText(off), problemInChinese(off));
    assert.equal(problemText("Something else."), "Something else.");
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
});

test("for who refuses a config, what is done about a mistake is left out", () => {
  const reason = problemSentence("expected", { key: "a", wanted: "b", found: "c" });
  for (const code of ["default_used", "part_off", "rules_closed", "not_started"] as const)
    assert.equal(findingIn(problemSentence(code, { reason, part: "a" })), reason);
  assert.equal(findingIn(problemSentence("unknown_ignored", { key: "x" })), 'unknown key "x"');
  assert.equal(
    findingIn(problemSentence("unknown_meant", { key: "x", near: "y" })),
    'unknown key "x"; did you mean "y"?',
  );
  assert.equal(findingIn("something else"), "something else");
});
