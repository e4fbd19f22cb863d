import assert from "node:assert/strict";
import { test } from "node:test";
import { toDiscordMarkdown } from "../../../src/channels/formatting/dialects/discord-markdown.js";
import { splitMarkdown } from "../../../src/channels/formatting/split.js";

const cases: readonly (readonly [what: string, markdown: string, shown: string])[] = [
  ["bold, italic and strike", "**b** _i_ *j* ~~s~~", "**b** *i* *j* ~~s~~"],
  ["a heading as bold, not twice bold", "## Hi **you**\ntext", "**Hi you**\ntext"],
  ["code as it is", "use `a_b*c`", "use `a_b*c`"],
  ["code with a backtick", "use ``a`b``", "use `` a`b ``"],
  ["a code block with its language", "```ts\na_b\n```", "```ts\na_b\n```"],
  ["a table as code", "| a | b |\n|---|--:|\n| **x** | 1 |", "```\na | b\n--|--\nx | 1\n```"],
  ["a link", "[a](https://x.y/z)", "[a](https://x.y/z)"],
  ["a bare address untouched", "see https://x.y/_a_b*c_d", "see https://x.y/_a_b*c_d"],
  ["an image as a link", "![cat](https://x.y/c.png)", "[cat](https://x.y/c.png)"],
  ["a quote", "> one\n> two", "> one\n> two"],
  ["marks that mean nothing", "2 * 3 snake_case \\*no\\*", "2 * 3 snake_case \\*no\\*"],
  ["a spoiler that is none", "a || b || c", "a \\|\\| b \\|\\| c"],
  ["lists", "- a\n- b", "• a\n• b"],
];

for (const [what, markdown, shown] of cases)
  test(`Discord's Markdown shows ${what}`, () => assert.equal(toDiscordMarkdown(markdown), shown));

test("pieces of escaped text stay below Discord's limit, each code block whole", () => {
  const text = `${"a*b_ |c| ".repeat(800)}\n\n\`\`\`js\n${"let x;\n".repeat(600)}\`\`\`\n`;
  const pieces = splitMarkdown(text, 2000, (piece) => toDiscordMarkdown(piece).length);
  assert.ok(pieces.length > 3);
  for (const piece of pieces) {
    const shown = toDiscordMarkdown(piece);
    assert.ok(shown.length <= 2000);
    assert.equal((shown.match(/^```/gm) ?? []).length % 2, 0);
  }
});
