import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { foldText, matchesIn } from "../../../../src/sessions/search/fold-text.js";
import { needlesOf } from "../../../../src/sessions/search/query.js";
import { snippetOf } from "../../../../src/sessions/search/snippet.js";
import { fuzzOptions } from "../../../support/fuzz.js";

const found = (text: string, query: string): readonly string[] | undefined =>
  matchesIn(text, needlesOf(query))?.map(([from, to]) => text.slice(from, to));

describe("what is found in a text", () => {
  test("letters count in any case, and in any form that Unicode writes them in", () => {
    assert.deepEqual(found("Ein CAFÉ in Zürich", "café"), ["CAFÉ"]);
    assert.deepEqual(found("Ein cafe\u0301 hier", "CAFÉ"), ["cafe\u0301"]);
    assert.deepEqual(found("ﬁne and ＡＢＣ", "fine abc"), ["ﬁne", "ＡＢＣ"]);
    assert.deepEqual(found("ΟΔΟΣ", "οδοσ"), ["ΟΔΟΣ"]);
    assert.deepEqual(found("ﬁne", "in"), ["ﬁn"], "a whole letter is marked");
  });

  test("Chinese, Japanese and Korean need no blanks between words", () => {
    assert.deepEqual(found("我们明天去北京吃饭", "北京"), ["北京"]);
    assert.deepEqual(found("ｶﾞｷﾞｸﾞと東京タワー", "東京 ガギ"), ["ｶﾞｷﾞ", "東京"]);
    assert.deepEqual(found("한국어".normalize("NFD"), "국"), ["국".normalize("NFD")]);
  });

  test("all words must be there, a phrase in quotes as it is, over the ends of lines", () => {
    assert.deepEqual(found("one two three", "three one"), ["one", "three"]);
    assert.equal(found("one two", "one four"), undefined);
    assert.deepEqual(found("see the\n  red house", '"the red"'), ["the\n  red"]);
    assert.equal(found("red the house", '"the red"'), undefined);
    assert.deepEqual(found("the red house", "“the red” house"), ["the red", "house"]);
    assert.deepEqual(needlesOf('  " "  '), []);
    assert.deepEqual(needlesOf('half "open phrase'), ["half", "open phrase"]);
  });

  test("a long text is cut around the first match, and the marks stay on the words", () => {
    const text = `${"far away ".repeat(50)}the\nneedle 😀 is here ${"and more ".repeat(50)}needle`;
    const matches = matchesIn(text, ["needle"]) ?? [];
    const { snippet, ranges } = snippetOf(text, matches);
    assert.ok(snippet.length < 220 && snippet.startsWith("…") && snippet.endsWith("…") && !snippet.includes("\n"));
    assert.deepEqual(
      ranges.map(([from, to]) => snippet.slice(from, to)),
      ["needle"],
    );
  });

  test("marks that change places with each other are marked together", () => {
    const text = "a \u0301\uff9e";
    const [[from, to] = [0, 0]] = matchesIn(text, [foldText("\uff9e")]) ?? [];
    assert.equal(text.slice(from, to), "\u0301\uff9e");
  });

  test("whatever is written: what is marked holds the word, and everything that is folded is found", (t) => {
    const letters = fc.constantFrom(...'aAé eE\u0301ßﬁÅ北京ｶﾞ 한\u1112\u1161Σσς😀\n\t"'.split(/(?:)/u));
    const texts = fc.string({ unit: letters, maxLength: 40 });
    fc.assert(
      fc.property(texts, fc.nat(40), fc.nat(10), (text, from, length) => {
        const folded = foldText(text);
        const needle = foldText([...folded].slice(from, from + length + 1).join(""));
        if (needle === "" || !folded.includes(needle)) return;
        const ranges = matchesIn(text, [needle]) ?? [];
        assert.ok(ranges.length > 0, JSON.stringify({ text, needle }));
        const [first] = ranges;
        assert.ok(
          foldText(text.slice(...(first ?? [0, 0]))).includes(needle),
          JSON.stringify({ text, needle, ranges }),
        );
        assert.equal(foldText(folded), folded, "folding twice changes nothing");
      }),
      fuzzOptions(t, 2000),
    );
  });
});
