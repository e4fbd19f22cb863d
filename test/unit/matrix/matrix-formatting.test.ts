import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toMatrixHtml } from "../../../src/channels/formatting/matrix-html.js";
import { always, editBody, textBody } from "../../../src/channels/matrix/body.js";
import { matrixShape } from "../../../src/channels/matrix/shape.js";
import { asRead, previewsIn, whyRefused } from "../../support/fakes/matrix/rules.js";
import { fuzzOptions } from "../../support/fuzz.js";
import { markdownExamples, oddMarkdown } from "../../support/markdown-examples.js";

const cases: readonly (readonly [what: string, markdown: string, html: string])[] = [
  ["bold, italic and strike", "**b** _i_ ~~s~~", "<b>b</b> <i>i</i> <s>s</s>"],
  ["Chinese with marks inside", "这是**粗体**字", "这是<b>粗体</b>字"],
  ["a heading, not twice bold", "## Hi **you**\ntext", "<b>Hi you</b><br>text"],
  ["a code block with its language", "```ts\na < b\n```", '<pre><code class="language-ts">a &lt; b</code></pre>'],
  ["lists, also inside each other", "- a\n  - b", "• a<br>&nbsp;&nbsp;• b"],
  [
    "a link that can be clicked, in code",
    "[a](https://x.y/?a=1&b=2)",
    '<code><a href="https://x.y/?a=1&amp;b=2">a</a></code>',
  ],
  [
    "a bare address, in code",
    "see https://x.y/_a_b",
    'see <code><a href="https://x.y/_a_b">https://x.y/_a_b</a></code>',
  ],
  [
    "an address as its own text",
    "[https://x.y](https://x.y/z)",
    '<code><a href="https://x.y/z">https://x.y</a></code>',
  ],
  ["an address that clients do not open", "[a](tg://x)", "a (tg://x)"],
  ["HTML as text", "<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"],
];

for (const [what, markdown, html] of cases)
  test(`Matrix shows ${what}`, () => assert.equal(toMatrixHtml(markdown), html));

function contentsOf(markdown: string): readonly Readonly<Record<string, unknown>>[] {
  return [{ ...textBody(markdown), ...always }, { ...editBody("$event", markdown) }];
}

test("no example of CommonMark gives a message that Matrix would refuse, and none has a preview", () => {
  for (const example of markdownExamples)
    for (const content of contentsOf(example)) {
      assert.equal(whyRefused(content), undefined, JSON.stringify(example));
      assert.deepEqual(previewsIn(content), [], JSON.stringify(example));
    }
});

test("no text is refused, in a message or an edit, whatever it holds and however long it is", (t) => {
  fc.assert(
    fc.property(oddMarkdown, fc.integer({ min: 1, max: 200 }), (piece, times) => {
      for (const part of matrixShape.split(piece.repeat(times)))
        for (const content of contentsOf(part)) {
          assert.equal(whyRefused(content), undefined, part);
          assert.deepEqual(previewsIn(content), [], part);
        }
    }),
    fuzzOptions(t, 100),
  );
});

test("long Chinese and emoji are cut nowhere in the middle, and nothing of them is lost", () => {
  for (const unit of ["汉字", "👩‍👩‍👧", "𝒳"]) {
    const text = unit.repeat(12_000);
    const pieces = matrixShape.split(text);
    assert.ok(pieces.length > 2);
    assert.equal(pieces.join(""), text);
    for (const piece of pieces) {
      const content = { ...editBody("$event", piece) };
      assert.equal(whyRefused(content), undefined);
      assert.equal(asRead(String(textBody(piece).formatted_body)), piece);
    }
  }
});

test("what would grow beyond an event is cut, and still a message", () => {
  const quotes = `${'\\"'.repeat(20_000)}`;
  for (const content of contentsOf(quotes)) assert.equal(whyRefused(content), undefined);
});

test("the plain text is beside the formatted one, and choices are numbered in both", () => {
  const buttons = ["Yes", "No & *never*"].map((label) => ({ label, value: label }));
  const { body, formatted_body: html } = textBody("Shall **I**?", buttons);
  assert.equal(body, "Shall I?\n\n1\ufe0f\u20e3 Yes\n2\ufe0f\u20e3 No & *never*");
  assert.equal(html, "Shall <b>I</b>?<br><br>1\ufe0f\u20e3 Yes<br>2\ufe0f\u20e3 No &amp; *never*");
  const listed = ["1. Yes", "2. No"].map((label) => ({ label, value: label }));
  assert.equal(textBody("1. Yes\n2. No", listed).body, textBody("1. Yes\n2. No").body);
});
