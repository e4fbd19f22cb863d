import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHead } from "../../../src/channels/email/headers.js";
import { toReceived } from "../../../src/channels/email/message.js";
import { readContent } from "../../../src/channels/email/receiving/content.js";
import { createKnownMails } from "../../../src/channels/email/receiving/known.js";
import { keepLog } from "../../support/log.js";
import { createRandom } from "../../support/random.js";
import { createRecords, emailOptionsFor, nestedForwards, writeMail } from "../../support/worlds/channels/mail-kit.js";

const never = new AbortController().signal;
const bot = "helper@maxclaw.test";
const options = emailOptionsFor(bot, keepLog());

/** As the chat gets it. */
async function received(raw: Buffer) {
  const known = createKnownMails(createRecords(), () => 0);
  const content = await readContent(raw, never);
  return toReceived(await parseHead(raw), content, { known, options, recipients: { addresses: [bot] } });
}

const mail = (body: string | Buffer): Buffer =>
  writeMail({ from: "Ann <ann@maxclaw.test>", to: bot, subject: "it", messageId: "a@x", body });

const parts = (boundary: string, used = boundary, end = `--${used}--\r\n`): string =>
  `Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n--${used}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from("Please pay the rent of 900 Euro.").toString("base64")}\r\n--${used}\r\nContent-Type: application/pdf; name="bill.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n${end}`;

const wellBuilt: Readonly<Record<string, string>> = {
  "with a text and a file": parts("abc"),
  "with a text alone": "Content-Type: text/plain; charset=utf-8\r\n\r\nPlease pay the rent of 900 Euro.\r\n",
  "in HTML": "Content-Type: text/html\r\n\r\n<p>Please pay the rent of <b>900</b> Euro.</p>\r\n",
};
for (const [name, body] of Object.entries(wellBuilt))
  test(`a mail ${name} is read, and nothing is said about damage`, async () => {
    const { content, outside } = await received(mail(body));
    assert.match(content, /Please pay the rent of 900 Euro\.$/);
    assert.equal(outside, undefined);
  });

const damaged: Readonly<
  Record<string, { readonly body: string | Buffer; readonly isGuess?: boolean; readonly text?: RegExp }>
> = {
  "with another boundary than it says": { body: parts("abc", "xyz"), isGuess: true },
  "with no boundary at all": {
    body: parts("abc").replace('; boundary="abc"', ""),
    isGuess: true,
  },
  "with a boundary that is never used": {
    body: 'Content-Type: multipart/mixed; boundary="abc"\r\n\r\nPlease pay the rent of 900 Euro.\r\n',
    isGuess: true,
  },
  "with a part inside whose boundary is wrong": {
    body: `Content-Type: multipart/mixed; boundary="out"\r\n\r\n--out\r\n${parts("abc", "xyz")}\r\n--out--\r\n`,
    isGuess: true,
  },
  "that ends too early": { body: parts("abc", "abc", "") },
  "that ends in the middle of its text": { body: parts("abc").slice(0, -120), text: /Please pay the rent of 900$/m },
  "that is not base64, though it says so": {
    body: "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nPlease pay the rent of 900 Euro. (It is due on Monday; do not be late, please: the landlord is angry!)\r\n",
    isGuess: true,
  },
  "whose part has no blank line below its headers": {
    body: 'Content-Type: multipart/mixed; boundary="abc"\r\n\r\n--abc\r\nContent-Type: text/plain\r\nPlease pay the rent of 900 Euro.\r\n--abc--\r\n',
    isGuess: true,
  },
  "in a charset that nobody knows": {
    body: Buffer.from(
      "Content-Type: text/plain; charset=x-mac-secret\r\nContent-Transfer-Encoding: 8bit\r\n\r\nGr\xfc\xdfe! Please pay the rent of 900 Euro.\r\n",
      "latin1",
    ),
  },
  "in another charset than it says": {
    body: Buffer.from(
      "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nGr\xfc\xdfe! Please pay the rent of 900 Euro.\r\n",
      "latin1",
    ),
  },
  "of Western Windows that says it is UTF-8": {
    body: Buffer.from(
      "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n\x84Please pay the rent of 900 \x80\x93\r\n",
      "latin1",
    ),
    text: /„Please pay the rent of 900 €“/,
  },
  "of Western Windows whose parts cannot be found": {
    body: Buffer.from(
      'Content-Type: multipart/mixed; boundary="abc"\r\n\r\nPlease pay the rent of 900 \x80\r\n',
      "latin1",
    ),
    isGuess: true,
    text: /Please pay the rent of 900 €/,
  },
  "with a type that is none": {
    body: "Content-Type: text\r\n\r\nPlease pay the rent of 900 Euro.\r\n",
    isGuess: true,
  },
};
for (const [name, { body, isGuess = false, text = /Please pay the rent of 900 Euro\./ }] of Object.entries(damaged))
  test(`a mail ${name} is read as far as it can be, and the chat is told`, async () => {
    const { content, outside } = await received(mail(body));
    assert.match(content, text);
    assert.match(content, /\[This mail is damaged: .+\. What could be read of it is here\.\]$/);
    if (/Gr\S{1,4}e/.test(content)) assert.match(content, /Grüße/);
    // What is a text and what is a file in it, somebody else could have decided.
    assert.equal(outside, isGuess ? "a damaged mail" : undefined);
  });

test("mails in mails are read to a depth, and those that lie deeper are named", async () => {
  for (const depth of [1, 3, 11, 50]) {
    const { content, quoted, files } = await received(mail(nestedForwards(depth)));
    assert.match(content, /What do you think\?/, `${depth}`);
    assert.doesNotMatch(content, /story/, `${depth}`);
    assert.match(quoted?.text ?? "", /From: Eve <eve1@elsewhere\.example>\nSubject: number 1\n[\s\S]*story 1\b/);
    if (depth >= 3) assert.match(quoted?.text ?? "", /story 3\b/);
    if (depth > 5) assert.match(quoted?.text ?? "", /\[Not read, .*“number 6”\.\]$/);
    assert.deepEqual([quoted?.by, files?.length], ["other", 1]);
  }
});

test("a mail in a mail that is shown in its place is not the author's word either", async () => {
  const body = nestedForwards(1).replace(
    "Content-Type: message/rfc822",
    "Content-Disposition: inline\r\nContent-Type: message/rfc822",
  );
  const { content, quoted } = await received(mail(body));
  assert.doesNotMatch(content, /story/);
  assert.match(quoted?.text ?? "", /story 1/);
});

test("words in a tag that was cut and never ends are kept", async () => {
  const written = async (html: string) => (await received(mail(`Content-Type: text/html\r\n\r\n${html}`))).content;
  assert.match(await written("<paPlease pay the rent"), /<paPlease pay the rent$/);
  assert.match(await written('<p>Please</p><a href="https://x'), /Please$/);
});

test("whatever is cut out of a mail or changed in it, its text is there or the chat is told", async (t) => {
  const seed = Number(process.env.MAIL_SEED ?? Date.now() % 100_000);
  t.diagnostic(`MAIL_SEED=${seed}`);
  const random = createRandom(seed);
  const whole = [...Object.values(wellBuilt), nestedForwards(2)].map(mail);
  const began = Date.now();
  for (let round = 0; round < 400; round++) {
    const source = whole[round % whole.length] ?? Buffer.alloc(0);
    const body = source.indexOf("MIME-Version");
    const broken = Buffer.from(source);
    // What is above is what the sender is known by: a mail with such damage is left alone by name.
    const at = (): number => body + Math.floor(random() * (broken.length - body));
    for (let n = 0; n < Math.floor(random() * 8); n++) broken[at()] = Math.floor(random() * 256);
    const from = at();
    const cut =
      random() < 0.5
        ? Buffer.concat([broken.subarray(0, from), broken.subarray(from + Math.floor(random() * 80))])
        : broken.subarray(0, from);
    const { content, files = [], quoted } = await received(cut);
    const isSubjectOnly = /^Subject: it$|^\(an empty mail\)$/.test(content);
    const start = cut.indexOf("\r\n\r\n");
    const hasBody = start !== -1 && cut.subarray(start).toString("latin1").trim() !== "";
    // Headers of parts alone say nothing that could be lost.
    const hasText = hasBody && /rent|think|story|UGxlYXNl/.test(cut.subarray(start).toString("latin1"));
    assert.ok(
      !isSubjectOnly || !hasText || files.length > 0 || quoted !== undefined,
      `${content}\n---\n${cut.toString("latin1")}`,
    );
  }
  assert.ok(Date.now() - began < 60_000);
});
