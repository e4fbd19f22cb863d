import assert from "node:assert/strict";
import { test } from "node:test";
import { toQqMarkdown, toQqText, withoutAddresses } from "../../../src/channels/formatting/dialects/qq-markdown.js";
import { qqShape } from "../../../src/channels/qq/shape.js";
import { markdownExamples } from "../../support/markdown-examples.js";
import { never, reply } from "../../support/worlds/channels/channel-kit.js";
import { ann, openQqWorld } from "../../support/worlds/channels/qq-world.js";

const cases: readonly (readonly [what: string, markdown: string, shown: string])[] = [
  ["bold, italic and strike", "**b** _i_ *j* ~~s~~", "**b** *i* *j* ~~s~~"],
  ["a heading as bold", "## Hi **you**\ntext", "**Hi you**\ntext"],
  ["code as it is", "use `a_b*c`", "use `a_b*c`"],
  ["a table as code", "| a | b |\n|---|--:|\n| **x** | 1 |", "```\na | b\n--|--\nx | 1\n```"],
  ["a link", "[a](https://x.y/z)", "[a](https://x.y/z)"],
  ["a picture as a link", "![cat](https://x.y/c.png)", "[cat](https://x.y/c.png)"],
  ["a bare address untouched", "see https://x.y/_a_b*c_d", "see https://x.y/_a_b*c_d"],
  ["brackets that are no link", "\\[a](b)", "\\[a\\](b)"],
  ["lists", "- a\n- b", "• a\n• b"],
];

for (const [what, markdown, shown] of cases)
  test(`QQ's Markdown shows ${what}`, () => assert.equal(toQqMarkdown(markdown), shown));

test("no example of CommonMark is refused, with and without Markdown", async () => {
  for (const hasMarkdown of [true, false]) {
    await using world = await openQqWorld({ hasMarkdown });
    const channel = world.open();
    for (const [n, example] of markdownExamples.entries())
      for (const [m, piece] of channel.split(example).entries())
        await channel.send(reply(ann, piece, { id: `out_${n}#${m}` }), never);
    assert.deepEqual([world.qq.commands, world.qq.fetched], [[], []]);
    assert.ok(world.qq.chats.in(ann).length >= markdownExamples.length - 4);
  }
});

test("Chinese and emoji are cut nowhere in the middle, and each piece fits with its marks", () => {
  for (const text of ["👩‍👩‍👧‍👦汉字*_".repeat(3000), "𠮷野家。".repeat(4000), "a.b_c ".repeat(4000)]) {
    const pieces = qqShape.split(text);
    assert.ok(pieces.length > 1);
    for (const piece of pieces) {
      assert.ok(toQqMarkdown(piece).length <= 5000 && toQqText(piece).length <= 5000);
      assert.ok(piece.isWellFormed?.() ?? !/[\ud800-\udbff](?![\udc00-\udfff])/.test(piece));
    }
    assert.equal(pieces.join("").replace(/\s/g, ""), text.replace(/\s/g, ""));
  }
});

test("addresses that are not allowed stay readable", () => {
  assert.equal(withoutAddresses("https://a.example.org/x.html?y=1"), "a[.]example[.]org/x[.]html?y=1");
  assert.equal(withoutAddresses("1.5, e.g. this. That is 中文.中文"), "1.5, e.g. this. That is 中文[.]中文");
});
