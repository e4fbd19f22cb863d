import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { telegramLength, toTelegramHtml } from "../../../src/channels/formatting/dialects/telegram-html.js";
import { toPlainText } from "../../../src/channels/formatting/plain-text.js";
import { splitMarkdown } from "../../../src/channels/formatting/split.js";
import { hasVisible } from "../../../src/util/text/visible.js";
import { assertSoon } from "../../support/cost.js";
import { fuzzOptions } from "../../support/fuzz.js";
import { parseTelegramHtml } from "../../support/rules/telegram-entities.js";

const cases: readonly (readonly [what: string, markdown: string, html: string])[] = [
  ["bold, italic and strike", "**b** _i_ *j* ~~s~~", "<b>b</b> <i>i</i> <i>j</i> <s>s</s>"],
  ["code", "use `a < b && c`", "use <code>a &lt; b &amp;&amp; c</code>"],
  ["a code block with its language", "```ts\na < b\n```", '<pre><code class="language-ts">a &lt; b</code></pre>'],
  ["a code block without a language", "```\nx\n```", "<pre>x</pre>"],
  ["a heading as bold, not twice bold", "## Hi **you**\ntext", "<b>Hi you</b>\ntext"],
  ["a link", "[a&b](https://x.y/?q=1&r=2)", '<a href="https://x.y/?q=1&amp;r=2">a&amp;b</a>'],
  ["a link that is not a web address as text", "[run](javascript:alert(1))", "run (javascript:alert(1))"],
  ["a relative link as text", "[doc](./a.md)", "doc (./a.md)"],
  ["a bare address as it is", "see https://x.y/a_b_c", "see https://x.y/a_b_c"],
  ["an image as a link", "![cat](https://x.y/c.png)", '<a href="https://x.y/c.png">cat</a>'],
  ["a quote", "> one\n> two", "<blockquote>one\ntwo</blockquote>"],
  ["a quote inside a quote as one", "> one\n>\n> > two", "<blockquote>one\n\ntwo</blockquote>"],
  ["lists", "- a\n- b\n  1. c\n  2. d", "• a\n• b\n  1. c\n  2. d"],
  ["an ordered list that begins elsewhere", "3. a\n4. b", "3. a\n4. b"],
  ["tasks", "- [x] a\n- [ ] b", "☑ a\n☐ b"],
  ["paragraphs", "a\n\nb\n\n\nc", "a\n\nb\n\nc"],
  ["HTML as text", "<u>x</u> & <script>", "&lt;u&gt;x&lt;/u&gt; &amp; &lt;script&gt;"],
  ["HTML entities once", "a &amp; b &lt; c &#65; &nope;", "a &amp; b &lt; c A &amp;nope;"],
  ["names of characters", "&copy; &hellip; &mdash; &Omega;&omega; &rarr; &#x1f600;", "© … — Ωω → 😀"],
  ["no names of characters in code", "`&copy;`", "<code>&amp;copy;</code>"],
  ["names in an address", "[a](https://x.y/?a=1&amp;b=2)", '<a href="https://x.y/?a=1&amp;b=2">a</a>'],
  ["a line break", "a<br>b", "a\nb"],
  ["a quote of nothing as it was written", ">", "&gt;"],
  ["quotes of nothing", "> >\n>", "&gt; &gt;\n&gt;"],
  ["a heading of nothing", "#", "#"],
  ["a space that does not break", "&nbsp;", "&amp;nbsp;"],
  ["a comment", "<!-- later -->", "&lt;!-- later --&gt;"],
  ["a sign without width", "\u200b", "\\u{200b}"],
  ["a sign without width by its number", "&#8203;", "&amp;#8203;"],
  ["a code block of nothing", "```\n \n```", "```\n \n```"],
  ["an empty link", "[]()", "[]()"],
  ["escaped marks", "\\*no\\* 2 \\* 3", "*no* 2 * 3"],
  ["marks that mean nothing", "2 * 3 * 4 snake_case_name", "2 * 3 * 4 snake_case_name"],
  ["an unfinished code block", "```js\nx", '<pre><code class="language-js">x</code></pre>'],
  [
    "a table with aligned columns",
    "| a | long |\n|---|--:|\n| **xx** | 1 |\n| 漢字 | [l](http://u) |",
    "<pre>a    |         long\n-----|-------------\nxx   |            1\n漢字 | l (http://u)</pre>",
  ],
  [
    "a code block inside a list",
    "1. do\n   ```sh\n   ls\n   ```\n2. done",
    '1. do\n<pre><code class="language-sh">ls</code></pre>\n2. done',
  ],
];

for (const [what, markdown, html] of cases) {
  test(`Telegram HTML shows ${what}`, () => {
    assert.equal(toTelegramHtml(markdown), html);
    assert.ok("text" in parseTelegramHtml(html));
  });
}

/** Each kind of Markdown once, and what is at its edges: empty, nested, unfinished, mixed with others. */
const edges: readonly string[] = [
  ...[
    "> ",
    ">>>",
    "- ",
    "* *",
    "1.",
    "+\n+",
    "- [ ]",
    "- [x] ",
    "> - ",
    "> ```\n> ```",
    "#\n##\n###",
    "===",
    "a\n===",
    "---",
  ],
  ...[
    "***",
    "* * *",
    "____",
    "** **",
    "****",
    "__",
    "``",
    "` `",
    "~~~~",
    "~~ ~~",
    "```",
    "~~~js\n",
    "    code",
    "\tcode\n\n\tmore",
  ],
  ...[
    "[",
    "[]",
    "[a]",
    "[a]:",
    "[a]: <>",
    "[a]: http://x 'y'",
    "[a][b]",
    "![]()",
    "![](x)",
    "[](http://x)",
    "[ ](http://x)",
  ],
  ...[
    "<",
    "<a",
    "<b></b>",
    "<br>",
    "<!--",
    "<!-- -->",
    "<?php ?>",
    "<![CDATA[x]]>",
    "<div>\n\n</div>",
    "<http://x>",
    "<a@b.c>",
  ],
  ...[
    "&",
    "&;",
    "&#;",
    "&#0;",
    "&#xd800;",
    "&#1114112;",
    "&amp;amp;",
    "&lt;b&gt;",
    "&#60;b&#62;",
    "&nbsp;&nbsp;",
    "&zwj;",
  ],
  ...[
    "\\",
    "\\\\",
    "\\>",
    "a\\\nb",
    "a  \nb",
    "|",
    "||",
    "| |\n|-|",
    "|a|b|\n|-|-|",
    "|a|\n|:-:|\n|*b*|",
    "a|b\n-|-\n`|`|c",
  ],
  ...["\u00a0", "\u2060", "\ufeffx", "\u200d", "\u2800", "\u0301", "\u202e", "\u3164", "\u00ad", "\u0000x", "x\u0007"],
  ...[
    "> a\nb",
    "> # h\n> 1. x\n>    > y",
    "1) a\n   - b\n\n     c",
    "- a\n\n  > q\n\n  ```\n  x\n  ```",
    "*a **b* c**",
    "***a***",
  ],
  ...[
    "a*b*c",
    "a_b_c",
    "__a_b__",
    "~a~",
    "$x^2$",
    "[^1]\n\n[^1]: n",
    "http://x.y/(a)",
    "www.x.y",
    "a@b.c",
    "@all #tag /cmd",
  ],
];

test("whatever the Markdown, Telegram gets its own HTML, and something to see", () => {
  for (const markdown of edges) {
    const html = toTelegramHtml(markdown);
    const parsed = parseTelegramHtml(html);
    assert.ok("text" in parsed, `${JSON.stringify(markdown)}: ${JSON.stringify(parsed)}`);
    if (markdown.trim() !== "")
      assert.ok(hasVisible(parsed.text), `${JSON.stringify(markdown)} shows nothing: ${html}`);
    assert.ok(parsed.text.length <= 4096);
    assert.ok(
      parsed.text.length <= telegramLength(markdown),
      `${JSON.stringify(markdown)} is longer than it was measured`,
    );
    if (markdown.trim() !== "") assert.ok(hasVisible(toPlainText(markdown)), JSON.stringify(markdown));
  }
});

test("plain text keeps addresses, quotes and code", () => {
  const markdown = "# T\n\n**b** [l](https://u) `c`\n\n> q\n> r\n\n```js\ncode\n```";
  assert.equal(toPlainText(markdown), "T\n\nb l (https://u) c\n\n> q\n> r\n\ncode");
});

test("a message of thousands of nested quotes is shown as it is instead of overflowing the stack", () => {
  const markdown = ">".repeat(50_000);
  assert.equal(toPlainText(markdown), markdown);
});

const words = fc.stringMatching(/^[a-z]{1,9}$/);
const sentence = fc.array(words, { minLength: 1, maxLength: 14 }).map((list) => `${list.join(" ")}.`);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 8 }).map((list) => list.join(" "));
const block = fc.oneof(
  paragraph,
  sentence.map((text) => `## ${text}`),
  fc.array(sentence, { minLength: 1, maxLength: 5 }).map((list) => list.map((line) => `- **x** ${line}`).join("\n")),
  fc
    .tuple(fc.constantFrom("", "  ", "   "), fc.array(sentence, { minLength: 1, maxLength: 20 }))
    .map(([indent, lines]) => ["```python", ...lines, "", "done", "```"].map((line) => indent + line).join("\n")),
  fc.array(sentence, { minLength: 1, maxLength: 3 }).map((list) => list.map((line) => `> ${line}`).join("\n")),
  fc
    .array(fc.tuple(words, sentence), { minLength: 1, maxLength: 12 })
    .map((rows) => ["| h | head |", "|---|---|", ...rows.map(([a, b]) => `| ${a} | ${b} |`)].join("\n")),
  words.map((word) => `[${word} link](https://example.org/${word})`),
);
const markdown = fc.array(block, { minLength: 1, maxLength: 8 }).map((list) => list.join("\n\n"));
/** Marks in any order, with everything that could go wrong. */
const noise = fc
  .array(
    fc.constantFrom(
      "*",
      "**",
      "_",
      "`",
      "```",
      "~~",
      "[",
      "](",
      ")",
      "<b>",
      "</i>",
      "&",
      "&lt;",
      "\n",
      "\n\n",
      "> ",
      "- ",
      "1. ",
      "| ",
      "|--|",
      "a",
      "word ",
      "😀",
      "漢",
      "\\",
      "#",
      "<",
      "\t",
      "    ",
    ),
    { maxLength: 120 },
  )
  .map((list) => list.join(""));

const wordsOf = (text: string): string[] => text.match(/[a-z]+/g) ?? [];
const runs = 150;

test("Telegram HTML is always balanced and loses no word, whatever the Markdown", (t) => {
  fc.assert(
    fc.property(fc.oneof(noise, markdown, fc.string({ unit: "binary", maxLength: 200 })), (text) => {
      const parsed = parseTelegramHtml(toTelegramHtml(text));
      assert.ok("text" in parsed, "error" in parsed ? parsed.error : "");
      assert.ok(parsed.text.trim().length <= telegramLength(text), "Telegram counts no more than was measured");
    }),
    fuzzOptions(t, runs),
  );
  fc.assert(
    fc.property(markdown, (text) => {
      const visible = parseTelegramHtml(toTelegramHtml(text));
      const source = wordsOf(text.replaceAll("```python", "```").replaceAll(/\]\([^)]*\)/g, "]"));
      assert.deepEqual("text" in visible ? wordsOf(visible.text) : [], source);
    }),
    fuzzOptions(t, runs),
  );
});

test("each piece is within the limit and joined they lose nothing but white space", (t) => {
  fc.assert(
    fc.property(fc.oneof(markdown, noise), fc.integer({ min: 64, max: 400 }), (text, limit) => {
      const pieces = splitMarkdown(text, limit);
      for (const piece of pieces) assert.ok(piece.length <= limit, `${piece.length} > ${limit}`);
      const letters = (value: string): string =>
        value
          .replaceAll(/^\s*`{3,}\w*$/gm, "")
          .replaceAll(/\| h \| head \|\n\|---\|---\|/g, "")
          .replaceAll(/[\s`]/g, "");
      assert.equal(letters(pieces.join("\n")), letters(text));
    }),
    fuzzOptions(t, runs),
  );
});

test("pieces are within the limit as Telegram counts them", (t) => {
  fc.assert(
    fc.property(fc.oneof(markdown, noise), fc.integer({ min: 64, max: 300 }), (text, limit) => {
      for (const piece of splitMarkdown(text, limit, telegramLength)) {
        assert.ok(telegramLength(piece) <= limit);
        assert.ok("text" in parseTelegramHtml(toTelegramHtml(piece)));
      }
    }),
    fuzzOptions(t, runs),
  );
});

test("code stays code in each piece: no text outside becomes code, no code becomes text", (t) => {
  fc.assert(
    fc.property(fc.array(fc.oneof(paragraph, paragraph.map(coded)), { minLength: 1, maxLength: 8 }), (list) => {
      for (const html of splitMarkdown(list.join("\n\n"), 120).map(toTelegramHtml)) {
        const code = [...html.matchAll(/<pre>.*?<\/pre>/gs)].map((match) => match[0]).join("");
        assert.ok(!/[a-z]/.test(code.replaceAll(/<[^>]*>/g, "")), html);
        assert.ok(!/[A-Z]/.test(html.replaceAll(/<pre>.*?<\/pre>/gs, "")), html);
      }
    }),
    fuzzOptions(t, runs),
  );
});

function coded(text: string): string {
  return `\`\`\`js\n${text.toUpperCase().replaceAll(" ", "\n")}\n\`\`\``;
}

test("a text that fits comes back as it is, a blank one gives nothing", () => {
  assert.deepEqual(splitMarkdown("  a\n\nb ", 100), ["  a\n\nb "]);
  assert.deepEqual(splitMarkdown(" \n ", 100), []);
  assert.ok(
    splitMarkdown(" [> &~~".repeat(40), 100).every((piece) => piece !== ""),
    "no piece is blank",
  );
});

test("cuts are made between paragraphs, then lines, then sentences, then words", () => {
  const a = "aaa ".repeat(15).trim();
  assert.deepEqual(splitMarkdown(`${a}\n\n${a}\n${a}`, 100), [a, a, a]);
  assert.deepEqual(splitMarkdown(`${a}\n${a}`, 100), [a, a]);
  assert.deepEqual(splitMarkdown(`${a}. ${a}`, 100), [`${a}.`, a]);
  for (const piece of splitMarkdown("word ".repeat(50), 64)) assert.match(piece, /^(?:word )*word\s?$/);
});

test("a code block that is cut is closed and opened again with its language", () => {
  const lines = Array.from({ length: 12 }, (_, index) => `const line${index} = ${index};`);
  const pieces = splitMarkdown(`Intro\n\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n\nOutro`, 120);
  assert.ok(pieces.length > 2);
  assert.equal(pieces[0]?.startsWith("Intro"), true);
  for (const piece of pieces.slice(1, -1)) assert.match(piece, /^```ts\n(?:const line\d+ = \d+;\n)+```$/);
  assert.equal(pieces.at(-1), "Outro");
});

test("a code block inside a list that is cut ends where it ended", () => {
  const code = Array.from({ length: 10 }, (_, index) => `    echo ${index} ${"x".repeat(20)}`).join("\n");
  const pieces = splitMarkdown(`- do\n\n    \`\`\`sh\n${code}\n    \`\`\`\n\n- afterwards`, 150);
  assert.ok(!/<pre>.*afterwards.*<\/pre>/s.test(pieces.map(toTelegramHtml).join("")));
  assert.match(toTelegramHtml(pieces.at(-1) ?? ""), /^<pre><code class="language-sh">echo.*<\/pre>\n\n• afterwards$/s);
});

test("a table that is cut repeats its header", () => {
  const rows = Array.from({ length: 12 }, (_, index) => `| ${index} | value ${index} |`);
  const pieces = splitMarkdown(`| n | v |\n|---|---|\n${rows.join("\n")}`, 100);
  assert.ok(pieces.length > 1);
  for (const piece of pieces) assert.match(piece, /^\| n \| v \|\n\|---\|---\|\n\| \d/);
});

test("a table is not cut between its header and its first row", () => {
  const row = `| ${"word ".repeat(16)}| 1 |`;
  const pieces = splitMarkdown(`Numbers of today:\n\n| name | value |\n|------|-------|\n${row}`, 100);
  assert.ok(pieces.length > 1);
  for (const piece of pieces) assert.doesNotMatch(piece.trimEnd(), /\|-+\|$/);
});

test("a cut goes through no emoji and no HTML entity", () => {
  for (const unit of ["😀", "&amp;"]) {
    for (const limit of [64, 65, 66, 67, 68]) {
      const pieces = splitMarkdown(unit.repeat(80), limit);
      assert.equal(pieces.join(""), unit.repeat(80));
      for (const piece of pieces) assert.equal(piece.length % unit.length, 0);
    }
  }
});

test("a long text without any boundary is split quickly", () => {
  for (const text of ["x".repeat(200_000), "word ".repeat(40_000), "[".repeat(50_000), "*a ".repeat(50_000)])
    assertSoon(() => assert.ok(splitMarkdown(text, 4096, telegramLength).length >= 10), 3000, text.slice(0, 5));
});
