import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toSlackMrkdwn } from "../../../src/channels/formatting/slack-mrkdwn.js";
import { toText } from "../../../src/channels/slack/send.js";
import { longestMessage, slackShape } from "../../../src/channels/slack/shape.js";
import { toReadable } from "../../../src/channels/slack/text.js";
import { asRead, whyRefused } from "../../support/fakes/slack/rules.js";
import { fuzzOptions } from "../../support/fuzz.js";
import { markdownExamples, oddMarkdown } from "../../support/markdown-examples.js";

const cases: readonly (readonly [what: string, markdown: string, shown: string])[] = [
  ["bold, italic and strike", "**b** _i_ *j* ~~s~~", "*b* _i_ _j_ ~s~"],
  ["bold inside italic", "***both***", "_*both*_"],
  ["marks in the middle of Chinese", "这是**粗体**字", "这是\u200b*粗体*\u200b字"],
  ["a heading as bold, not twice bold", "## Hi **you**\ntext", "*Hi you*\ntext"],
  ["code as it is", "use `a_b*c <x>`", "use `a_b*c &lt;x&gt;`"],
  ["a code block without its language", "```ts\na < b\n```", "```\na &lt; b\n```"],
  ["a table as code", "| a | b |\n|---|--:|\n| **x** | 1 |", "```\na | b\n--|--\nx | 1\n```"],
  ["a link", "[a|b](https://x.y/z?a=1&b=2)", "<https://x.y/z?a=1&amp;b=2|a¦b>"],
  ["a bare address", "see https://x.y/_a_b*c_d", "see https://x.y/_a_b*c_d"],
  ["an image as a link", "![cat](https://x.y/c.png)", "<https://x.y/c.png|cat>"],
  ["a quote", "> one\n> two", "> one\n> two"],
  ["what would call everybody as text", "<!channel> <@U1> @here & co", "&lt;!channel&gt; &lt;@U1&gt; @here &amp; co"],
  ["one mark that means nothing", "2 * 3 snake_case ~5", "2 * 3 snake_case ~5"],
  ["a pair of marks that means nothing", "\\*no\\*", "*\u200bno*"],
  ["lists", "- a\n- b", "• a\n• b"],
];

for (const [what, markdown, shown] of cases)
  test(`Slack's mrkdwn shows ${what}`, () => assert.equal(toSlackMrkdwn(markdown), shown));

function refusalOf(markdown: string): string | undefined {
  return whyRefused(new URLSearchParams({ text: toText(markdown) }), longestMessage);
}

test("no example of CommonMark gives a message that Slack would refuse", () => {
  for (const example of markdownExamples) assert.equal(refusalOf(example), undefined, JSON.stringify(example));
});

test("no text is refused, and pieces stay below Slack's limit with whole characters", (t) => {
  fc.assert(
    fc.property(oddMarkdown, fc.integer({ min: 1, max: 300 }), (piece, times) => {
      for (const part of slackShape.split(piece.repeat(times))) assert.equal(refusalOf(part), undefined, part);
    }),
    fuzzOptions(t, 150),
  );
});

test("what people write is read without Slack's marks", () => {
  const nameOf = (id: string): string | undefined => (id === "U2" ? "Bob" : undefined);
  const read = (text: string): string => toReadable(text, { botId: "UBOT", nameOf });
  assert.equal(read("<@UBOT>: ask <@U2> and <@U3|carl> in <#C1|general>"), "ask @Bob and @carl in #general");
  assert.equal(read("<@UBOT>"), "@you");
  assert.equal(
    read("<https://a.b/c?x=1&amp;y=2|here> <https://a.b> <mailto:x@y.z|x@y.z>"),
    "here (https://a.b/c?x=1&y=2) https://a.b x@y.z",
  );
  assert.equal(
    read("<!here> <!subteam^S1|@team> <!date^1^{date}|today> 1 &lt; 2 &amp;lt;"),
    "@here @team today 1 < 2 &lt;",
  );
  assert.equal(asRead(toText("1 < 2 & **x**")), "1 < 2 & *x*");
});
