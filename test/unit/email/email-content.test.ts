import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageStructureObject } from "imapflow";
import { readAuthResults } from "../../../src/channels/email/auth/auth-results.js";
import { parseHead } from "../../../src/channels/email/headers.js";
import { calendarText } from "../../../src/channels/email/receiving/calendar.js";
import { readContent } from "../../../src/channels/email/receiving/content.js";
import { partsOf, smallMail } from "../../../src/channels/email/receiving/large-mail.js";
import { messageIdOf } from "../../../src/channels/email/sending/compose.js";
import { splitText } from "../../../src/channels/email/text/quotes.js";
import { toMailHtml } from "../../../src/channels/formatting/dialects/mail-html.js";
import { assertSoon } from "../../support/cost.js";
import { createRandom } from "../../support/random.js";

const never = new AbortController().signal;

const mime = (head: string, body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`From: a@b.example\r\nMIME-Version: 1.0\r\n${head}\r\n\r\n`), Buffer.from(body)]);

test("charsets and encodings become the same text", async () => {
  const cases: readonly (readonly [string, string | Buffer, string])[] = [
    ["Content-Type: text/plain; charset=iso-8859-1", Buffer.from("Gr\xfc\xdfe", "latin1"), "Grüße"],
    ["Content-Type: text/plain; charset=windows-1251", Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]), "Привет"],
    ["Content-Type: text/plain; charset=iso-2022-jp", Buffer.from("\x1b$B$3$s\x1b(B", "latin1"), "こん"],
    ["Content-Type: text/plain; charset=gb2312", Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), "你好"],
    ["Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64", "8J+Qmw==", "🐛"],
    ["Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable", "a=C3=A9=\r\nb", "aéb"],
    ["Content-Type: text/html; charset=utf-8", "<p>one</p><p>two &amp; three</p>", "one\n\ntwo & three"],
    ["Content-Type: text/plain; charset=no-such-charset", "plain", "plain"],
    ["Content-Type: text/plain; charset=utf-8; format=flowed", "one \r\ntwo", "one two"],
  ];
  for (const [head, body, text] of cases) assert.equal((await readContent(mime(head, body), never)).text, text, head);
});

test("parts are told apart: text, files, calendar entries, signatures and logos", async () => {
  const part = (head: string, body: string): string => `--b\r\n${head}\r\n\r\n${body}\r\n`;
  const ics =
    "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch\\, long\r\nDTSTART;TZID=Europe/Berlin:20261124T120000\r\nORGANIZER;CN=Bo:mailto:bo@x.example\r\nEND:VEVENT\r\nEND:VCALENDAR";
  const body = [
    part("Content-Type: text/plain", "see below"),
    part(
      'Content-Type: application/pdf; name="=?utf-8?q?Rechnung_=C3=BC.pdf?="\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64',
      "JVBERg==",
    ),
    part("Content-Type: text/calendar; method=REQUEST", ics),
    part("Content-Type: application/pgp-signature", "xyz"),
    part("Content-Type: message/rfc822\r\nContent-Disposition: attachment", "Subject: inner\r\n\r\ninner text"),
    "--b--\r\n",
  ].join("");
  const { text, calendar, files } = await readContent(mime('Content-Type: multipart/mixed; boundary="b"', body), never);
  assert.equal(text, "see below");
  assert.equal(
    calendar,
    "[calendar request]\nWhat: Lunch, long\nBegins: 20261124T120000 (Europe/Berlin)\nOrganizer: bo@x.example",
  );
  assert.deepEqual(
    files.map(({ filename, mimeType }) => [filename, mimeType]),
    [
      ["Rechnung ü.pdf", "application/pdf"],
      ["file-2.eml", "message/rfc822"],
    ],
  );
  assert.equal(Buffer.from((await files[0]?.read(100, new AbortController().signal)) ?? []).toString(), "%PDF");
  assert.equal(calendarText("no calendar"), "");
});

test("whatever is broken in a mail, its reader ends with what it could read", async (t) => {
  const seed = Number(process.env.MAIL_SEED ?? Date.now() % 100_000);
  t.diagnostic(`MAIL_SEED=${seed}`);
  const random = createRandom(seed);
  const whole = mime(
    'Subject: =?utf-8?b?w7w=?=\r\nContent-Type: multipart/mixed; boundary="b"',
    "--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/html\r\n\r\n<p>x</p>\r\n--c--\r\n--b--\r\n",
  );
  for (let round = 0; round < 150; round++) {
    const broken = Buffer.from(whole);
    for (let n = 0; n < 6; n++) broken[Math.floor(random() * broken.length)] = Math.floor(random() * 256);
    const cut = broken.subarray(0, Math.floor(random() * broken.length));
    await parseHead(cut);
    assert.equal(typeof (await readContent(cut, never)).text, "string");
  }
  const hostile: readonly (readonly [string, string, RegExp])[] = [
    ["text/html", `${"<div>".repeat(30_000)}hi`, /^hi$/],
    [
      "multipart/mixed; boundary=q",
      "--q\r\nContent-Type: text/plain\r\n\r\nx\r\n".repeat(3000),
      /^--q\nContent-Type: text\/plain\n\nx/,
    ],
  ];
  for (const [type, body, text] of hostile)
    assert.match((await readContent(mime(`Content-Type: ${type}`, body), never)).text, text, type);
  const missingEnd = mime(
    'Content-Type: multipart/mixed; boundary="b"',
    "--b\r\nContent-Type: text/plain\r\n\r\nhello",
  );
  assert.equal((await readContent(missingEnd, never)).text, "hello");
  assert.equal((await parseHead(Buffer.from("no headers at all"))).from, undefined);
  assert.equal((await parseHead(Buffer.alloc(0))).subject, "");
});

test("the text of a large mail is read from its parts alone, cut where it is long", async () => {
  const structure: MessageStructureObject = {
    type: "multipart/mixed",
    childNodes: [
      {
        type: "multipart/alternative",
        childNodes: [
          { part: "1.1", type: "text/plain", parameters: { charset: "iso-8859-1" }, encoding: "quoted-printable" },
          { part: "1.2", type: "text/html", parameters: {}, encoding: "7bit" },
        ],
      },
      {
        part: "2",
        type: "application/zip",
        encoding: "base64",
        size: 4_000_000,
        disposition: "attachment",
        dispositionParameters: { filename: "a.zip" },
      },
      { part: "3", type: "message/rfc822", size: 10, envelope: { subject: "Re: it" } },
      { part: "4", type: "text/plain", parameters: { name: "notes.txt" }, encoding: "7bit" },
    ],
  };
  const { texts, files, mails, leftOut } = partsOf(structure);
  assert.deepEqual([mails.map(({ part }) => part), leftOut], [["3"], 0]);
  const inner = { ...mails[0], bytes: Buffer.from("From: Eve <eve@x.example>\r\nSubject: it\r\n\r\nlong story") };
  const withMail = smallMail([{ part: "3", type: "message/rfc822", parameters: {}, encoding: "7bit", ...inner }]);
  assert.match((await readContent(withMail, never)).nested, /From: Eve <eve@x\.example>\nSubject: it\n\nlong story/);
  assert.deepEqual(
    texts.map(({ part }) => part),
    ["1.1"],
  );
  assert.deepEqual(
    files.map(({ filename }) => filename),
    ["a.zip", "Re: it.eml", "notes.txt"],
  );
  assert.ok(Math.abs((files[0]?.sizeBytes ?? 0) - 2_923_000) < 1000);
  const small = smallMail(texts.map((text) => ({ ...text, bytes: Buffer.from("Gr=FC=DFe und l=") })));
  assert.equal((await readContent(small, never)).text, "Grüße und l");
});

test("what an author wrote is told from what they quote", () => {
  const head = (lines: string): string => `${lines}\n`;
  const cases: readonly (readonly [text: string, own: string, others: string, isForward: boolean])[] = [
    [
      "1\n\nOn Sat, 21 Nov 2026 at 10:00, Bot <bot@x.example> wrote:\n> Which one?\n> 1. a\n",
      "1",
      `${head("On Sat, 21 Nov 2026 at 10:00, Bot <bot@x.example> wrote:")}Which one?\n1. a`,
      false,
    ],
    [
      "yes\n\nOn Sat, 21 Nov 2026 at 10:00, A Very Long Name\n<bot@x.example> wrote:\n\n> Shall I?",
      "yes",
      `${head("On Sat, 21 Nov 2026 at 10:00, A Very Long Name\n<bot@x.example> wrote:")}Shall I?`,
      false,
    ],
    [
      "ja\n\nAm 21.11.2026 um 10:00 schrieb Bot:\n> Soll ich?",
      "ja",
      "Am 21.11.2026 um 10:00 schrieb Bot:\nSoll ich?",
      false,
    ],
    ["On X wrote:\n> question\n\nanswer below", "answer below", "On X wrote:\nquestion", false],
    [
      "ok\n\n________________________________\nFrom: Bot <b@x>\nSent: Saturday\nTo: Ann\nSubject: it\n\nthe rest",
      "ok",
      "________________________________\nFrom: Bot <b@x>\nSent: Saturday\nTo: Ann\nSubject: it\n\nthe rest",
      false,
    ],
    [
      "ok\n\n-----Original Message-----\nFrom: Bot\n\nthe rest",
      "ok",
      "-----Original Message-----\nFrom: Bot\n\nthe rest",
      false,
    ],
    [
      "please sum up\n\n---------- Forwarded message ---------\nFrom: Bo <bo@x>\n\nlong story",
      "please sum up",
      "---------- Forwarded message ---------\nFrom: Bo <bo@x>\n\nlong story",
      true,
    ],
    ["Begin forwarded message:\n\nlong story", "", "Begin forwarded message:\n\nlong story", true],
    [
      "On X wrote:\n> one?\nfirst\n> two?\nsecond",
      "[quoted text 1]\nfirst\n[quoted text 2]\nsecond",
      "[quoted text 1]\nOn X wrote:\none?\n\n[quoted text 2]\ntwo?",
      false,
    ],
    ["a list:\n- one\n- two", "a list:\n- one\n- two", "", false],
    ["From: is a word at the beginning of my line", "From: is a word at the beginning of my line", "", false],
    ["He wrote:\nthat I should come.", "He wrote:\nthat I should come.", "", false],
  ];
  for (const [text, own, others, isForward] of cases) {
    const split = splitText(text);
    assert.deepEqual(
      { own: split.own, others: split.others, isForward: split.isForward },
      { own, others, isForward },
      text,
    );
  }
});

test("a very long text with hardly a line end is split in no time", () => {
  assertSoon(() => splitText(`${"On ".repeat(60_000)}\n${"x wrote ".repeat(40_000)}:`), 1500);
  assertSoon(() => splitText(`${"a\n".repeat(100_000)}> b`), 1500);
});

test("only the topmost word of the server that is asked for counts", () => {
  const headers = [
    { name: "authentication-results", value: "other; dmarc=pass header.from=evil" },
    {
      name: "authentication-results",
      value:
        'MX.example 1; spf=pass (a; dmarc=pass) smtp.mailfrom="x@y.z"; dkim/1=fail reason="no; dkim=pass" header.d=y.z',
    },
    { name: "authentication-results", value: "mx.example; dmarc=pass header.from=y.z" },
  ];
  const results = readAuthResults(headers, "mx.example") ?? [];
  assert.deepEqual(
    results.map(({ method, result, properties }) => [method, result, Object.fromEntries(properties)]),
    [
      ["spf", "pass", { "smtp.mailfrom": "x@y.z" }],
      ["dkim", "fail", { reason: "no; dkim=pass", "header.d": "y.z" }],
    ],
  );
  assert.equal(readAuthResults(headers, "mx.example.org"), undefined);
});

test("a Message-ID is the same for each attempt at a message, and of the sender's domain", () => {
  assert.equal(messageIdOf("out_1#1", "bot@x.example"), messageIdOf("out_1#1", "bot@x.example"));
  assert.notEqual(messageIdOf("out_1#1", "bot@x.example"), messageIdOf("out_1#2", "bot@x.example"));
  assert.match(messageIdOf("out_1#1", "bot@x.example"), /^[0-9a-f]{32}@x\.example$/);
});

test("Markdown becomes HTML in which nothing of it can do harm", () => {
  const html = toMailHtml(
    "Hello **you**\n\n- a\n  - b\n\n```js\nif (a < b)\n  c();\n```\n\n<script>alert(1)</script> [x](javascript:alert(1))",
  );
  assert.match(html, /Hello <b>you<\/b><br>/);
  assert.match(html, /<pre style="[^"]+"><code class="language-js">if \(a &lt; b\)\n {2}c\(\);<\/code><\/pre>/);
  assert.match(html, /&nbsp;&nbsp;• b/);
  assert.doesNotMatch(html, /<script|href="javascript/);
});
