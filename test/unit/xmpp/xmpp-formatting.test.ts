import assert from "node:assert/strict";
import { test } from "node:test";
import { toMessageStyling } from "../../../src/channels/formatting/dialects/message-styling.js";
import { toBody } from "../../../src/channels/xmpp/send.js";
import { lengthOf, longestText, xmppShape } from "../../../src/channels/xmpp/shape.js";
import { XmlParser } from "../../../src/channels/xmpp/stream/parser.js";
import { write, type Xml, xml } from "../../../src/channels/xmpp/stream/xml.js";
import { markdownExamples } from "../../support/markdown-examples.js";
import { createRandom } from "../../support/random.js";

const cases: readonly (readonly [what: string, markdown: string, shown: string])[] = [
  ["bold, italic and strike", "**b** _i_ *j* ~~s~~", "*b* _i_ _j_ ~s~"],
  ["a heading as bold", "## Hi **you**\ntext", "*Hi you*\ntext"],
  ["code as it is", "use `a_b*c`", "use `a_b*c`"],
  ["a block of code", "```js\nlet a;\n```", "```\nlet a;\n```"],
  ["a table as code", "| a | b |\n|---|--:|\n| **x** | 1 |", "```\na | b\n--|--\nx | 1\n```"],
  ["a link with its address", "[a](https://x.y/z)", "a (https://x.y/z)"],
  ["a bare address untouched", "see https://x.y/_a_b*c_d", "see https://x.y/_a_b*c_d"],
  ["a quote", "> a\n> b", "> a\n> b"],
  ["lists", "- a\n- b", "• a\n• b"],
];

for (const [what, markdown, shown] of cases)
  test(`Message Styling shows ${what}`, () => assert.equal(toMessageStyling(markdown), shown));

/** The words that a reader of XEP-0393 shows in another style, within lines. */
function styled(text: string): readonly string[] {
  const found: string[] = [];
  for (const line of text.split("\n"))
    for (const [, , words = ""] of line.matchAll(/(?:^|\s)([*_~`])(\S(?:.*?\S)?)\1/g)) found.push(words);
  return found;
}

test("what is not meant as a mark marks nothing", () => {
  for (const text of ["\\*a\\* b", "2 \\*3\\* 4", "\\_x\\_ and \\~y\\~", "\\> no quote", "a_b_c", "5 * 3 * 2"]) {
    const shown = toMessageStyling(text);
    assert.deepEqual(styled(shown), [], text);
    assert.ok(!/^>/m.test(shown), text);
    assert.equal(shown.replaceAll("\u2060", ""), text.replaceAll("\\", ""));
  }
});

/** Why a server would end the stream, or a person see nothing. */
function whyRefused(markdown: string): string | undefined {
  const stanza = write(xml("message", "a", {}, xml("body", "a", {}, toBody(markdown))), "a");
  const read: Xml[] = [];
  new XmlParser({ onOpen: () => {}, onElement: (one) => read.push(one), onEnd: () => {} }).write(
    `<s xmlns="a">${stanza}`,
  );
  const [body = ""] = read.map((one) => one.textOf("body", "a"));
  if (read.length !== 1 || !stanza.isWellFormed()) return "it is not one whole stanza";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML has not
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(stanza)) return "XML has no such character";
  return body === "" ? "it has no body" : undefined;
}

test("no example of CommonMark makes a stanza that a server refuses, or that shows nothing", () => {
  for (const example of markdownExamples)
    for (const piece of xmppShape.split(example)) assert.equal(whyRefused(piece), undefined, JSON.stringify(piece));
});

test("no text makes a stanza that a server refuses, and no piece is longer than each server takes", () => {
  const random = createRandom(1);
  const parts = [
    "**",
    "_",
    "`",
    "```",
    "\n",
    "> ",
    "# ",
    "- ",
    "|",
    "a",
    "汉",
    "👩‍👩‍👧‍👦",
    "<&>\"'",
    "\u0000",
    "\u001b",
    "\ufffe",
    "[x](y)",
    " ",
  ];
  for (let round = 0; round < 300; round += 1) {
    const text = Array.from({ length: 40 }, () => parts[Math.floor(random() * parts.length)] ?? "").join("");
    assert.equal(whyRefused(text), undefined, text);
  }
  const long = "汉字👩‍👩‍👧‍👦 & **more** ".repeat(2000);
  const pieces = xmppShape.split(long);
  assert.ok(pieces.length > 3);
  for (const piece of pieces) assert.ok(lengthOf(piece) <= longestText && piece.isWellFormed());
});
