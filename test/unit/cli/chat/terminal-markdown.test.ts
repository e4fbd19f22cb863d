import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { shownAnswer } from "../../../../src/cli/chat/markdown/answer-text.js";
import { MarkdownStream, renderMarkdown } from "../../../../src/cli/chat/markdown/markdown-stream.js";
import { fuzzOptions } from "../../../support/fuzz.js";

const terminal = { isTTY: true, columns: 80 };
const esc = "\u001b";
/** Styles as tags, to be read. */
const tagged = (text: string): string =>
  text
    .replaceAll(`${esc}[1m`, "<b>")
    .replaceAll(`${esc}[3m`, "<i>")
    .replaceAll(`${esc}[23m`, "</i>")
    .replaceAll(`${esc}[4m`, "<u>")
    .replaceAll(`${esc}[24m`, "</u>")
    .replaceAll(`${esc}[9m`, "<s>")
    .replaceAll(`${esc}[29m`, "</s>")
    .replaceAll(`${esc}[36m`, "<c>")
    .replaceAll(`${esc}[39m`, "</c>")
    .replaceAll(`${esc}[2m`, "<q>")
    .replaceAll(`${esc}[22m`, "</>");

const shown = (text: string): string => tagged(renderMarkdown(text, terminal));

const examples: readonly (readonly [string, string])[] = [
  ["**bold** and *it*, ~~gone~~, `a*b*`", "<b>bold</> and <i>it</i>, <s>gone</s>, <c>a*b*</c>"],
  ["a ***both*** b __c__ _d_", "a <b><i>both</i></> b <b>c</> <i>d</i>"],
  ["2 * 3 * 4, **kwargs, snake_case_name, a_b", "2 * 3 * 4, **kwargs, snake_case_name, a_b"],
  ["\\*no\\* and ``a`b``", "*no* and <c>a`b</c>"],
  ["see [the **docs**](https://a.example/x_y) now", "see <u>the <b>docs</></u> <q>(https://a.example/x_y)</> now"],
  ["[https://a.example](https://a.example) <https://b.example>", "<u>https://a.example</u> <u>https://b.example</u>"],
  ["[not] a link (really)", "[not] a link (really)"],
  ["# Title\n\ntext", "<b>Title</>\n\ntext"],
  ["- one\n  - two\n- [ ] open\n- [x] done\n1. first", "• one\n  • two\n☐ open\n☑ done\n1. first"],
  ["> quoted *x*\n> > deeper", "<q>│ </>quoted <i>x</i>\n<q>│ </><q>│ </>deeper"],
  ["```js\nconst **a** = 1;\n\n# no\n```\nafter", "<q>js</>\n<c>const **a** = 1;</c>\n\n<c># no</c>\nafter"],
  ["a\n---\nb", `a\n<q>${"─".repeat(40)}</>\nb`],
  ["| a | bb |\n|---|---:|\n| x | **1** |\n\nend", "<b>a<q> │ </><b>bb</>\n<q>──┼───</>\nx<q> │ </> <b>1</>\n\nend"],
];

describe("Markdown in a terminal", () => {
  for (const [markdown, expected] of examples)
    it(`shows ${JSON.stringify(markdown).slice(0, 60)}`, () => {
      assert.equal(shown(markdown), expected);
    });

  it("keeps a table as it is where the terminal is too narrow", () => {
    const table = `| ${"a".repeat(50)} | ${"b".repeat(50)} |\n|---|---|\n| 1 | 2 |`;
    assert.equal(shown(table), table);
  });

  it("shows text as it comes, and holds back no more than a mark that has no end yet", () => {
    const stream = new MarkdownStream(terminal);
    assert.equal(tagged(stream.add("Hello, this is **bo")), "Hello, this is ");
    assert.equal(tagged(stream.add("ld** and `co")), "<b>bold</> and ");
    assert.equal(tagged(stream.add("de` now")), "<c>code</c> now");
    assert.equal(tagged(stream.add(" a * b")), " a * b");
    assert.equal(tagged(stream.add(" **never")), " ");
    assert.equal(tagged(stream.end()), "**never");
    assert.equal(tagged(stream.add("# He")), "<b>He</>");
    assert.equal(tagged(stream.add("ad\n")), "<b>ad</>\n");
  });

  it("stays as it is without a terminal and with NO_COLOR, and lets nothing of it steer the terminal", () => {
    const markdown = "# A **b** \u001b[31mred";
    assert.equal(shownAnswer(markdown, { isTTY: false }), "# A **b** [31mred");
    const before = process.env.NO_COLOR;
    try {
      process.env.NO_COLOR = "1";
      assert.equal(shownAnswer(markdown, terminal), "# A **b** [31mred");
      delete process.env.NO_COLOR;
      assert.equal(tagged(shownAnswer(markdown, terminal)), "<b>A <b>b</><b> </><b>[31mred</>");
    } finally {
      if (before === undefined) delete process.env.NO_COLOR;
      else process.env.NO_COLOR = before;
    }
  });
});

test("Markdown in a terminal comes to the same however the text is cut, and loses no word of it", (t) => {
  const piece = fc.oneof(
    fc.constantFrom(
      "**",
      "*",
      "_",
      "`",
      "```\n",
      "~~",
      "[",
      "](",
      ")",
      "# ",
      "- ",
      "> ",
      "|",
      "---",
      "\n",
      "\\",
      "<https://",
      "1. ",
      "!",
    ),
    fc.stringMatching(/^[a-z ]{0,8}$/),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 40 }), (markdown, cuts) => {
      const stream = new MarkdownStream(terminal);
      let out = "";
      let at = 0;
      for (let n = 0; at < markdown.length; n++) {
        const size = Math.max(1, cuts[n % cuts.length] ?? 1);
        out += stream.add(markdown.slice(at, at + size));
        at += size;
      }
      out += stream.end();
      const whole = renderMarkdown(markdown, terminal);
      assert.equal(stripVTControlCharacters(out), stripVTControlCharacters(whole));
      // An address that is its own text is shown once.
      if (/\[([^\]]*)\]\(\1/.test(markdown)) return;
      const words = (source: string): string => source.replaceAll(/[^a-z]/g, "");
      assert.equal(words(stripVTControlCharacters(whole)).length, words(markdown).length);
    }),
    fuzzOptions(t, 2000),
  );
});
