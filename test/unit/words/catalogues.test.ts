import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { findingSentences } from "../../../src/util/words/finding-sentences.js";
import { problemSentences } from "../../../src/util/words/problem-sentences.js";
import { readerOf, type Sentences, withValues } from "../../../src/util/words/sentences.js";
import { statusSentences } from "../../../src/util/words/status-sentences.js";
import { findingInChinese, findingsInChinese } from "../../../src/web/failures/findings.js";
import { problemsInChinese } from "../../../src/web/failures/problems.js";
import { loadFindingWords, loadOwnWords, problemText } from "../../../src/web/failures/said.js";
import { statusInChinese } from "../../../src/web/failures/status.js";
import { projectFile } from "../../support/project.js";

const catalogues: Readonly<Record<string, readonly [english: Sentences, chinese: Sentences]>> = {
  problems: [problemSentences, problemsInChinese],
  status: [statusSentences, statusInChinese],
  findings: [findingSentences, findingsInChinese],
};
const all: Sentences = Object.assign({}, ...Object.values(catalogues).map(([english]) => english));

/** Values as they come: paths, addresses, lists, digits, and a sentence in a sentence. */
function valueFor(name: string, code: string): string {
  if (name === "n" || name === "mode") return "600";
  if (name === "reason") return "connect ECONNREFUSED 127.0.0.1:9; it was tried twice, which is slow";
  if (name === "what") return "/home/ada/config.json can be read by others on this machine";
  return `${name}/of ${code.replaceAll("_", ".")}`;
}

function namesIn(words: string): readonly string[] {
  return [...words.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).sort();
}

for (const [name, [english, chinese]] of Object.entries(catalogues))
  describe(`the sentences of ${name}`, () => {
    test("each is known again by its words, with what is in it, among all others", () => {
      const read = readerOf(all);
      for (const [code, words] of Object.entries(english)) {
        const values = Object.fromEntries(namesIn(words).map((value) => [value, valueFor(value, code)]));
        assert.deepEqual(read(withValues(words, values)), { code, values: { ...values } });
      }
    });

    test("each has Chinese words with the same values, and there are no others", () => {
      assert.deepEqual(Object.keys(chinese).sort(), Object.keys(english).sort());
      for (const [code, words] of Object.entries(english)) {
        assert.deepEqual(namesIn(chinese[code] ?? ""), namesIn(words), code);
        assert.notEqual(chinese[code], words, code);
      }
    });
  });

test("no code stands for two sentences", () => {
  const codes = Object.values(catalogues).flatMap(([english]) => Object.keys(english));
  assert.equal(new Set(codes).size, codes.length);
});

test("what the doctor finds, and what to do about it, has its words in the catalogue alone", () => {
  const folder = projectFile("src/doctor");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  assert.ok(files.length > 20);
  // A word with a small letter behind a large one, or two words: a command is neither.
  const written =
    /\b(?:found|todo)\b(?::| =)[^;\n]*?["'`](?:[A-Z][a-z][^"`']*|[^"`'(]* (?:is|are|has|does|cannot|not) [^"`']*)["'`]/;
  for (const file of files)
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) assert.doesNotMatch(line, written, file);
});

describe("a finding", () => {
  test("is said in Chinese with the sentences that are in it", () => {
    const said = (sentence: string): string | undefined => findingInChinese(sentence);
    assert.equal(said("The newest backup is 40 days old: /b/a.tar.gz"), "最新的备份是 40 天前的：/b/a.tar.gz");
    assert.equal(said("Nothing is damaged: 1 session, 12 events"), "没有损坏：1 个对话，12 个事件");
    assert.equal(said("This could not be checked: no answer within 20 s"), "无法检查：20 秒内没有回应");
    assert.equal(
      said("Commands have no sandbox: bwrap does not work here: no namespaces; none at all."),
      "命令没有沙箱：bwrap 在这里不能工作：no namespaces; none at all。",
    );
    assert.equal(
      said("channels.qq is enabled but has no appId; channels.qq is off"),
      "channels.qq 已开启，但缺少 appId；channels.qq 已关闭",
    );
    assert.equal(said("Something else: nobody knows it"), undefined);
    assert.equal(said("maxclaw backup"), undefined, "a command is the same in each language");
  });

  test("is said so on the page once its words are there, and in English on the English page", async () => {
    const sentence = "fsync is off: a power cut loses messages that were confirmed";
    await loadFindingWords();
    assert.equal(problemText(sentence), sentence);
    Object.assign(globalThis, { document: { documentElement: { lang: "zh" } } });
    try {
      await loadOwnWords();
      assert.equal(problemText(sentence), sentence);
      await loadFindingWords();
      assert.equal(problemText(sentence), "fsync 已关闭：断电会丢失已确认的消息");
      const unverified = "channels.email.verifySender is off: anybody can write in the name of anybody";
      assert.equal(problemText(unverified), "channels.email.verifySender 已关闭：任何人都可以冒用任何人的名义写信");
    } finally {
      Reflect.deleteProperty(globalThis, "document");
    }
  });
});
