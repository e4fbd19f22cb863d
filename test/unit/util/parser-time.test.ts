import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { asksToStop } from "../../../src/agent/questions/interrupt-phrases.js";
import { addressesIn } from "../../../src/channels/email/addresses.js";
import { readAuthResults } from "../../../src/channels/email/auth/auth-results.js";
import { mailClient } from "../../../src/channels/email/auth/client-address.js";
import { readHeaderLines } from "../../../src/channels/email/header-lines.js";
import { splitText } from "../../../src/channels/email/text/quotes.js";
import { lexBounded, TooManySteps } from "../../../src/channels/formatting/bounded-lexer.js";
import { bare, renderMarkdown } from "../../../src/channels/formatting/markdown.js";
import { splitMarkdown } from "../../../src/channels/formatting/split.js";
import { createMask } from "../../../src/log/mask.js";
import { plainName } from "../../../src/util/files/file-name.js";
import { assertSoon, cpuMs, isSteep } from "../../support/cost.js";
import { hostileTexts, hostileUnits } from "../../support/hostile.js";
import { projectFile } from "../../support/project.js";

const length = 32_000;
/** What is faster than this cannot be measured, and stops nobody. */
const tooFastMs = 10;

const mask = createMask(["a secret of the config"]);
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  "the text of a mail": splitText,
  "the headers of a mail": (text) => readHeaderLines(Buffer.from(`A: ${text}`)),
  "a list of addresses": addressesIn,
  "Authentication-Results": (text) => readAuthResults([{ name: "authentication-results", value: `mx; ${text}` }], "mx"),
  Received: (text) =>
    mailClient([
      { name: "return-path", value: text },
      { name: "received", value: `from ${text}` },
    ]),
  "the name of a file": plainName,
  "a line of the log": mask,
  "a word to stop": asksToStop,
};

for (const [name, parse] of Object.entries(parsers))
  test(`${name} is read in linear time, whatever somebody writes`, () => {
    for (const unit of hostileUnits)
      for (const [index, text] of hostileTexts(unit, length).entries()) {
        if (cpuMs(() => parse(text)) < tooFastMs) continue;
        const prepare = (long: number): (() => unknown) => {
          const one = hostileTexts(unit, long)[index] ?? "";
          return () => parse(one);
        };
        assert.ok(!isSteep(prepare, length), JSON.stringify(unit));
      }
  });

test("Markdown is read in steps that are counted, at most so many for each character", () => {
  for (const unit of hostileUnits)
    for (const text of hostileTexts(unit, 24_000)) {
      let steps = 0;
      try {
        ({ steps } = lexBounded(text));
      } catch (error) {
        assert.ok(error instanceof TooManySteps || error instanceof RangeError, String(error));
      }
      assert.ok(steps <= text.length * 300 + 200_000);
    }
});

test("hostile Markdown is shown as it was written, long before anybody notices", () => {
  const text = "_a*".repeat(16_000);
  assertSoon(() => assert.equal(renderMarkdown(text, bare), text), 1000);
  assertSoon(() => splitMarkdown(text, 4096, (piece) => renderMarkdown(piece, bare).length), 5000);
});

test("what people and models write is never taken for hostile", async () => {
  const pages = ["README.md", "docs/http.md", "docs/email.md", "docs/decisions.md", "docs/events.md", "docs/api.md"];
  for (const page of pages) {
    const text = await readFile(projectFile(page), "utf8");
    const { tokens } = lexBounded(text);
    assert.ok(tokens.length > 3, page);
  }
  const list = Array.from(
    { length: 500 },
    (_, n) => `${"  ".repeat(n % 6)}- **Point ${n}** with \`code\`, [a link](https://x.example/${n}) and _words_`,
  );
  assert.ok(lexBounded(list.join("\n")).tokens.length > 0);
});
