import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toWhatsAppMarkup } from "../../../src/channels/formatting/dialects/whatsapp-markup.js";
import { splitMarkdown } from "../../../src/channels/formatting/split.js";
import { textPayload } from "../../../src/channels/whatsapp-business/payload.js";
import { whatsappBusinessShape } from "../../../src/channels/whatsapp-business/shape.js";
import { hasVisible } from "../../../src/util/text/visible.js";
import { shownOf } from "../../support/fakes/whatsapp/check-payload.js";
import { fuzzOptions } from "../../support/fuzz.js";
import { markdownExamples } from "../../support/markdown-examples.js";

const cases: readonly (readonly [what: string, markdown: string, shown: string])[] = [
  ["bold, italic and strike", "**b** _i_ *j* ~~s~~", "*b* _i_ _j_ ~s~"],
  ["a heading as bold, not twice bold", "## Hi **you**\ntext", "*Hi you*\ntext"],
  ["code as it is", "use `a_b*c`", "use `a_b*c`"],
  ["a code block without its language", "```ts\na_b\n```", "```\na_b\n```"],
  ["a table as code", "| a | b |\n|---|--:|\n| **x** | 1 |", "```\na | b\n--|--\nx | 1\n```"],
  ["a link with its address", "[a](https://x.y/z)", "a (https://x.y/z)"],
  ["a bare address untouched", "see https://x.y/_a_b*c_d", "see https://x.y/_a_b*c_d"],
  ["a quote", "> one\n> two", "> one\n> two"],
  ["marks that mean nothing", "2 * 3 snake_case", "2 * 3 snake_case"],
  ["bold over lines, line by line", "**a\nb**", "*a*\n*b*"],
  ["a mark inside its own kind as it is", "**a*b**", "a*b"],
  ["lists", "- a\n- b", "• a\n• b"],
];

for (const [what, markdown, shown] of cases)
  test(`WhatsApp's markup shows ${what}`, () => assert.equal(toWhatsAppMarkup(markdown), shown));

const marks = [
  "*",
  "_",
  "~",
  "`",
  "```",
  "> ",
  "- ",
  "1. ",
  "# ",
  "|",
  "[",
  "](",
  ")",
  "\n",
  "\n\n",
  "<",
  "&nbsp;",
  "\\",
  " ",
];
const words = ["a", "漢字漢字", "😀👩‍👩‍👧", "https://x.y/a_b", "end."];

test("whatever the model writes is split into texts that WhatsApp takes, and no character is cut", (t) => {
  const markdown = fc.array(fc.constantFrom(...marks, ...words), { maxLength: 200 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(markdown, fc.constantFrom(1, 60), (text, times) => {
      for (const piece of whatsappBusinessShape.split(text.repeat(times))) {
        const shown = shownOf({ to: "1", ...textPayload({ content: piece }) }, () => undefined);
        assert.ok(shown.text.isWellFormed());
        if (hasVisible(piece)) assert.ok(hasVisible(shown.text));
      }
    }),
    fuzzOptions(t, 100),
  );
});

test("no example of CommonMark is refused, alone or above buttons", () => {
  const buttons = [{ label: "Yes", value: "ask_1:yes" }];
  for (const example of markdownExamples)
    for (const content of whatsappBusinessShape.split(example))
      for (const more of [{}, { buttons }])
        assert.ok(
          shownOf({ to: "1", ...textPayload({ content, ...more }) }, () => undefined).text.isWellFormed(),
          content,
        );
});

test("a long Chinese text with emoji is cut between its characters", () => {
  const text = "漢字和表情😀".repeat(2000);
  const pieces = splitMarkdown(text, 4096, (piece) => toWhatsAppMarkup(piece).length);
  assert.ok(pieces.every((piece) => piece.isWellFormed() && piece.length <= 4096));
  assert.equal(pieces.join(""), text);
});

test("many or long buttons become a list, whose rows say the whole label", () => {
  const buttons = (...labels: string[]) => labels.map((label, index) => ({ label, value: `ask_1:${index}` }));
  const shown = (content: string, ...labels: string[]) =>
    shownOf({ to: "1", ...textPayload({ content, buttons: buttons(...labels) }) }, () => undefined).buttons.map(
      ({ label }) => label,
    );
  const typeOf = (content: string, ...labels: string[]) =>
    JSON.stringify(textPayload({ content, buttons: buttons(...labels) })).includes('"type":"button"')
      ? "buttons"
      : "list";
  const ten = Array.from({ length: 10 }, (_, n) => `Answer number ${n} of them all`);
  assert.deepEqual(shown("?", ...ten), ten);
  assert.equal(typeOf("?", "Yes", "No"), "buttons");
  assert.equal(typeOf("?", "Yes", "No", "Later", "Never"), "list");
  assert.equal(typeOf("?", "Yes", "A label of more than twenty"), "list");
  assert.equal(typeOf("x".repeat(1100), "Yes", "No"), "list");
  assert.equal(typeOf("?", "Same", "Same"), "list");
});
