import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, htmlOf } from "../../../src/web/chat/markdown/source.js";
import { assertSoon } from "../../support/cost.js";
import { hostileTexts, hostileUnits } from "../../support/hostile.js";

const htmlFor = (text: string): string => blocksOf(text).map(htmlOf).join("").trim();
const mathsIn = (text: string): string[] =>
  [...htmlFor(text).matchAll(/<span class="math(?: display)?">([^<]*)<\/span>/g)].map(([, source = ""]) => source);

test("formulas are found between all four kinds of marks, with their backslashes", () => {
  assert.deepEqual(mathsIn("So $x$, $\\frac{1}{2}$ and $a\\_b$."), ["$x$", "$\\frac{1}{2}$", "$a\\_b$"]);
  assert.deepEqual(mathsIn("So \\(x \\\\ y\\) and $$a$$ here."), ["\\(x \\\\ y\\)", "$$a$$"]);
  assert.deepEqual(mathsIn("$$\na\n\n= b\n$$"), ["$$\na\n\n= b\n$$"]);
  assert.deepEqual(mathsIn("It is\n\\[\n- a\n= b\n\\]\nthen"), ["\\[\n- a\n= b\n\\]"]);
  assert.deepEqual(mathsIn("- one: $a*b*c$\n- two: \\[ a_b \\]"), ["$a*b*c$", "\\[ a_b \\]"]);
  assert.deepEqual(mathsIn("$2x + 3$ and $5$ and $10\\%$"), ["$2x + 3$", "$5$", "$10\\%$"]);
});

test("prices, variables of a shell, code and escaped brackets are not formulas", () => {
  for (const text of [
    "$5 and $10",
    "from $5, $6 or 7$ on",
    "US$5 to US$7$",
    "$20-30 a month, or 15$",
    "set $HOME and $PATH",
    "`$x$` and `\\(y\\)`",
    "```\n$$x$$\n```",
    "\\[citation needed\\]",
    "\\$x\\$",
    "$ x $",
    "costs $5",
  ])
    assert.deepEqual(mathsIn(text), [], text);
});

test("a fold holds Markdown, other folds and, while it grows, all that follows", () => {
  const fold = htmlFor(
    "<details>\n<summary>A *b*</summary>\n\n- one\n\n<details open>\n\ntwo\n</details>\n</details>\n\nthree",
  );
  assert.match(fold, /^<details><summary>A <em>b<\/em><\/summary><ul>[\s\S]*<details open><p>two<\/p>/);
  assert.match(fold, /<\/details><\/details><p>three<\/p>$/);
  assert.match(htmlFor("<details>\n\nstill\n\ngrowing"), /^<details>[\s\S]*growing<\/p>\s*<\/details>$/);
  assert.match(htmlFor('<details class="x">\n\na\n\n</details>'), /^&lt;details class=&quot;x&quot;&gt;/);
  assert.ok(!htmlFor("<details>".repeat(50)).includes("<details>".repeat(6)));
});

test("a footnote stays where it was written, and is no definition of a link", () => {
  assert.match(
    htmlFor("A[^1].\n\n[^1]: https://example.org\nmore\n\nafter"),
    /^<p>A<sup class="footnote-ref">1<\/sup>\.<\/p>\s*<div class="footnote"><span class="footnote-label">1<\/span>.*example\.org.*more.*<\/div><p>after<\/p>$/s,
  );
  assert.doesNotMatch(htmlFor("[^1](https://example.org)"), /footnote/);
});

test("a footnote may have several paragraphs, a name in any script, and a colon behind its mark", () => {
  assert.match(
    htmlFor("A[^1].\n\n[^1]: One.\n\n    Two, **bold**.\n\n    - three\n\nafter"),
    /<div class="footnote-text"><p>One\.<\/p>\s*<p>Two, <strong>bold<\/strong>\.<\/p>\s*<ul>\s*<li>three<\/li>\s*<\/ul>\s*<\/div><\/div><p>after<\/p>$/,
  );
  assert.match(htmlFor("水[^注1]\n\n[^注1]: 两倍。"), /footnote-ref">注1<.*footnote-label">注1<.*两倍/s);
  assert.match(htmlFor("As said[^2]: rice."), /said<sup class="footnote-ref">2<\/sup>: rice/);
  assert.match(
    htmlFor("> Q[^3]\n>\n> [^3]: inner"),
    /^<blockquote>[\s\S]*<div class="footnote">[\s\S]*<\/blockquote>$/,
  );
  assert.match(htmlFor("[^4]: one\n[^5]: two"), /one[\s\S]*class="footnote"[\s\S]*two/);
});

test("an answer is read in time, whatever somebody writes", () => {
  const units = [
    ...hostileUnits,
    "$",
    "$$",
    "$a",
    "\\(",
    "\\[",
    "[^a]",
    "[^a]:",
    "[^a]: b\n\n    c\n\n",
    "<details>",
    "</details>",
    "a$ b\n\n",
    "x\n\n$$\n",
  ];
  for (const unit of units)
    for (const text of hostileTexts(unit, 24_000)) assertSoon(() => htmlFor(text), 3000, JSON.stringify(unit));
});
