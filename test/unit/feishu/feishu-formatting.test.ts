import assert from "node:assert/strict";
import { test } from "node:test";
import { cardOf } from "../../../src/channels/feishu/card.js";
import { bytesOf, feishuShape, longestText } from "../../../src/channels/feishu/shape.js";
import { toFeishuMarkdown } from "../../../src/channels/formatting/dialects/feishu-markdown.js";
import { readCard } from "../../support/fakes/feishu/rules.js";
import { markdownExamples } from "../../support/markdown-examples.js";
import { never, reply } from "../../support/worlds/channels/channel-kit.js";
import { ann, openFeishuWorld } from "../../support/worlds/channels/feishu/feishu-world.js";

const cases: readonly (readonly [what: string, markdown: string, shown: string])[] = [
  ["bold, italic and strike", "**b** _i_ *j* ~~s~~", "**b** *i* *j* ~~s~~"],
  ["a heading as bold", "## Hi **you**\ntext", "**Hi you**\ntext"],
  ["code as it is", "use `a_b*c<d>`", "use `a_b*c<d>`"],
  ["a backtick in code", "`` a`b ``", "`aˋb`"],
  ["a code block", "```js\na < b && <c>\n```", "```js\na < b && <c>\n```"],
  ["a table as code", "| a | b |\n|---|--:|\n| **x** | 1 |", "```\na | b\n--|--\nx | 1\n```"],
  ["a link", "[a](https://x.y/z(1)?q=a b)", "&#91;a&#93;(https://x.y/z(1)?q=a b)"],
  ["a link with brackets", "[a](https://x.y/z_(1))", "[a](https://x.y/z_%281%29)"],
  ["a picture as a link", "![cat](https://x.y/c.png)", "[cat](https://x.y/c.png)"],
  ["a bare address untouched", "see https://x.y/_a_b*c_d", "see https://x.y/_a_b*c_d"],
  ["what is no mark", "1 < 2 > 0, a*b, x\\_y ~3", "1 &#60; 2 &#62; 0, a&#42;b, x&#95;y &#126;3"],
  ["an entity as it was written", "`&lt;` &amp;lt;", "`&lt;` &#38;lt;"],
  ["lists", "- a\n- b", "• a\n• b"],
  ["what looks like a list or a heading", "\\- a\n\\# b", "&#45; a\n&#35; b"],
  ["a name that is no emoji", "at 10:30:45 :smile: a::b", "at 10:30:45 &#58;smile: a::b"],
];

for (const [what, markdown, shown] of cases)
  test(`Feishu's Markdown shows ${what}`, () => assert.equal(toFeishuMarkdown(markdown), shown));

test("nobody is called by what a model writes, not from within code either", () => {
  for (const text of [
    "<at id=all></at>",
    "`<at id=all></at>`",
    "```\n<AT id=ou_1>x</AT>\n```",
    "<person id='x'></person>",
  ]) {
    const card = cardOf({ content: text, chatId: ann });
    assert.ok(!/<\/?(?:at|person)\b/i.test(card), card);
  }
});

test("no example of CommonMark is refused, neither with marks nor without", async () => {
  await using world = await openFeishuWorld();
  const channel = world.open();
  let sent = 0;
  for (const [n, example] of markdownExamples.entries())
    for (const [m, piece] of channel.split(example).entries()) {
      await channel.send(reply(ann, piece, { id: `out_${n}#${m}` }), never);
      sent += 1;
      for (const isPlain of [false, true])
        assert.ok("text" in readCard(cardOf({ content: piece, chatId: ann }, isPlain), 0), piece);
    }
  const { calls } = world.feishu.server;
  const sends = calls.filter(({ name }) => name === "POST /open-apis/im/v1/messages");
  assert.deepEqual([world.feishu.chats.all.length, sends.length], [sent, sent], "each is taken at once");
  assert.ok(sent >= markdownExamples.length - 3);
});

test("Chinese and emoji are cut nowhere in the middle, and each piece fits with its buttons", async () => {
  const buttons = Array.from({ length: 10 }, (_, n) => ({
    label: `"${"选项".repeat(40)}" ${n}`,
    value: "x".repeat(64),
  }));
  for (const text of [
    "👩‍👩‍👧‍👦汉字*_".repeat(3000),
    "𠮷野家。".repeat(4000),
    "a.b_c <x> ".repeat(6000),
    '"\\'.repeat(20_000),
  ]) {
    const pieces = feishuShape.split(text);
    assert.ok(pieces.length > 1);
    for (const piece of pieces) {
      assert.ok(bytesOf(piece) <= longestText);
      const content = cardOf({ content: piece, chatId: ann, thread: "om_".padEnd(40, "x"), buttons, mark: "m1" });
      const body = JSON.stringify({ receive_id: ann, msg_type: "interactive", content, uuid: "x".repeat(32) });
      assert.ok(Buffer.byteLength(body) <= 30 * 1024, `${Buffer.byteLength(body)} bytes`);
      assert.ok(!/[\ud800-\udbff](?![\udc00-\udfff])/.test(piece));
    }
    assert.equal(pieces.join("").replace(/\s/g, ""), text.replace(/\s/g, ""));
  }
});

test("a text that is built to take for ever is written in a moment", () => {
  const began = Date.now();
  for (const text of [
    "<at ".repeat(20_000),
    "&".repeat(60_000),
    "_".repeat(60_000),
    ":a".repeat(30_000),
    "[".repeat(20_000),
  ])
    toFeishuMarkdown(text);
  assert.ok(Date.now() - began < 5000);
});
