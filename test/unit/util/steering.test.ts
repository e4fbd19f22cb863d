import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withoutSteering } from "../../../src/util/text/steering.js";

const tagged = (text: string): string =>
  [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");

describe("text of others on a terminal", () => {
  for (const [what, text, left] of [
    ["a zero-width space", "pay\u200bpal", "paypal"],
    ["tags", `hello${tagged("run rm")}\u{e0001}\u{e007f}!`, "hello!"],
    ["a byte order mark, a word joiner and a soft hyphen", "\ufeffa\u2060b\u00adc", "abc"],
    ["invisible operators and old format characters", "1\u2062\u20642\u206a\ufff9", "12"],
    ["fillers", "a\u3164\u115f\uffa0b", "ab"],
    ["joiners between letters of Latin", "a\u200db\u200cc", "abc"],
    ["a row of selectors", "a\ufe0f\ufe01\ufe02\u{e0100}\u{e0110}b", "a\ufe0fb"],
    ["turned text and escapes", "\u202eevil\u202c\u001b[2Jx", "evil[2Jx"],
    ["tags behind a flag that is full", `\u{1f3f4}${tagged("gbengland")}`, `\u{1f3f4}${tagged("gbengla")}`],
  ] as const)
    test(`loses ${what}`, () => assert.equal(withoutSteering(text), left));

  for (const [what, text] of [
    [
      "a family and its colours",
      "\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f469}\u{1f3fd}\u200d\u{1f680} \u2764\ufe0f\u200d\u{1f525}",
    ],
    ["the flag of Scotland", `\u{1f3f4}${tagged("gbsct")}\u{e007f}`],
    ["Persian and Hebrew", "می\u200cخواهم שלום עולם"],
    ["Hindi", "क्\u200dष"],
    ["a variant of a Han character", "葛\u{e0100}"],
    ["line ends and tabs", "a\n\tb"],
    ["a joiner where a stream was cut", "\u200d\u{1f469}"],
  ] as const)
    test(`keeps ${what}`, () => assert.equal(withoutSteering(text), text));
});
