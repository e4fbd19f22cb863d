import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createEmailChannel } from "../../../src/channels/email/email.js";
import { accountOf } from "../../../src/channels/email/options.js";
import { until } from "../../support/engine/engine-kit.js";
import {
  type MailServer,
  mailDomain,
  startMailServer,
  withoutMailServer,
} from "../../support/fakes/mail/mail-server.js";
import { keepLog } from "../../support/log.js";
import { accepted, recordPublish, startChannel } from "../../support/worlds/channels/channel-kit.js";
import {
  createRecords,
  type EmailChanges,
  emailOptions,
  openMailbox,
  type Signing,
  signed,
  type TestMail,
  writeMail,
} from "../../support/worlds/channels/mail-kit.js";

const skip = withoutMailServer();
const shared: { server?: MailServer; count: number } = { count: 0 };
before(async () => {
  if (skip === false) shared.server = await startMailServer();
});
after(() => shared.server?.[Symbol.asyncDispose]());

const ann = `ann@${mailDomain}`;
/** What most providers sign, and no more. */
const usual = "From:To:Cc:Subject:Date:Message-ID";

interface Case {
  readonly mail?: Partial<TestMail>;
  readonly signing?: Signing;
  /** What somebody does to the mail who has got it. */
  readonly change?: (mail: string) => string;
}

/** What happens to each mail: `own` words, text of `others`, or `left` alone. */
async function fates(
  cases: Readonly<Record<string, Case | ((bot: string) => Case)>>,
  more: EmailChanges = {},
  last: (mail: string) => string = (mail) => mail,
): Promise<Record<string, string>> {
  const { server } = shared;
  if (server === undefined) throw new Error("The mail server did not start");
  const name = `replay${++shared.count}`;
  const bot = server.addBox(name);
  await using mailbox = await openMailbox(server, name);
  const records = createRecords();
  const options = emailOptions(server, name, keepLog(), {
    ...more,
    receiving: { hourlyPerSender: 1000, ...more.receiving },
  });
  const validity = mailbox.client.mailbox === false ? "" : String(mailbox.client.mailbox.uidValidity);
  await records.put(`position:${accountOf(options.imap)}`, { validity, uid: 0 });
  const ids: string[] = [];
  const put = async (text: string, { mail = {}, signing = { headers: usual }, change = (raw) => raw }: Case) => {
    const raw = writeMail({ from: ann, to: bot, subject: "Hello", text, messageId: `${ids.length}@x`, ...mail });
    ids.push(text);
    const sent = await signed(raw, signing);
    await mailbox.put(Buffer.from(change(sent.toString("latin1")), "latin1"));
  };
  for (const [text, each] of Object.entries(cases)) await put(text, typeof each === "function" ? each(bot) : each);
  await put("the end", { change: last });
  const gateway = recordPublish(() => accepted);
  const channel = createEmailChannel(options, { cursor: async () => undefined, records });
  await using _running = startChannel(channel, gateway.publish);
  const find = (text: string) => gateway.messages.find(({ content }) => content.endsWith(text));
  await until("the last mail came", () => find("the end") !== undefined, 20_000);
  assert.equal(find("the end")?.outside, undefined);
  return Object.fromEntries(
    Object.keys(cases).map((text) => {
      const message = find(text);
      return [text, message === undefined ? "left" : message.outside === undefined ? "own" : "others"];
    }),
  );
}

function expected(cases: object, fate: string): Record<string, string> {
  return Object.fromEntries(Object.keys(cases).map((text) => [text, fate]));
}

const friend = "friend@elsewhere.example";
const top = (line: string) => (mail: string) => `${line}\r\n${mail}`;

test("a mail of the owner to the assistant is their own words", { skip }, async () => {
  const cases = {
    "to the assistant": {},
    "everything signed": { signing: {} },
    "in copy": (bot: string) => ({ mail: { to: friend, headers: [`Cc: ${bot}`] } }),
    "with others": (bot: string) => ({ mail: { to: `Fred <${friend}>, "The, bot" <${bot}>` } }),
    "with a tag": (bot: string) => ({ mail: { to: bot.replace("@", "+x@").toUpperCase() } }),
    "a server on the way wrote above": { change: top("Received: from a by b\r\nX-Spam: no\r\nReply-To: x@y.example") },
    "structure that nobody signed": {
      mail: {
        body: Buffer.from(
          'Content-Type: multipart/alternative; boundary="b1"\r\n\r\n--b1\r\nContent-Type: text/plain\r\n\r\nstructure that nobody signed\r\n--b1--\r\n',
        ),
      },
    },
  };
  assert.deepEqual(await fates(cases), expected(cases, "own"));
});

test("a mail to somebody else becomes no order by a recipient that nobody has signed", { skip }, async () => {
  const toFriend = { to: friend };
  const cases = {
    "a Cc on top": (bot: string) => ({ mail: toFriend, change: top(`Cc: ${bot}`) }),
    "a second To on top": (bot: string) => ({ mail: toFriend, change: top(`To: ${bot}`) }),
    "a To below": (bot: string) => ({
      mail: toFriend,
      change: (mail: string) => mail.replace("MIME-Version", `To: ${bot}\r\nMIME-Version`),
    }),
    "a second Cc": (bot: string) => ({
      mail: { ...toFriend, headers: ["Cc: b@x.example"] },
      change: top(`Cc: ${bot}`),
    }),
    "To is not signed": (bot: string) => ({
      mail: toFriend,
      signing: { headers: "From:Subject:Date:Message-ID" },
      change: (mail: string) => mail.replace(`To: ${friend}`, `To: ${bot}`),
    }),
    "only in a name": (bot: string) => ({ mail: { to: `"${bot}" <${friend}>` } }),
    "only in a bare name": (bot: string) => ({ mail: { to: `${bot} <${friend}>` } }),
    "only in a comment": (bot: string) => ({ mail: { to: `${friend} (${bot})` } }),
    "sent again with other headers": (bot: string) => ({
      mail: toFriend,
      change: top(`Resent-From: ${ann}\r\nResent-To: ${bot}\r\nDelivered-To: ${bot}\r\nX-Original-To: ${bot}`),
    }),
    "a line that only looks like a To": (bot: string) => ({ mail: toFriend, change: top(`X: y\r\n\u000bTo: ${bot}`) }),
  };
  const found = await fates(cases);
  const left = { "a To below": "left", "a line that only looks like a To": "left" };
  assert.deepEqual(found, { ...expected(cases, "others"), ...left });
});

test("what the signature does not hold may be changed, and is not an order then", { skip }, async () => {
  const without = (name: string): Signing => ({ headers: usual.replace(`:${name}`, "") });
  const cases = {
    "Message-ID is not signed": {
      signing: without("Message-ID"),
      change: (mail: string) => mail.replace(/Message-ID: <\d+/, "Message-ID: <again"),
    },
    "To twice by its author": (bot: string) => ({ mail: { headers: [`To: ${bot}`] } }),
    "Cc is not signed": { mail: { headers: ["Cc: bo@x.example"] }, signing: without("Cc") },
    "another structure": {
      mail: {
        body: Buffer.from(
          'Content-Type: multipart/mixed; boundary="b1"\r\n\r\n--b1\r\nContent-Type: text/plain\r\n\r\nGladly.\r\n> --b2\r\n--b1\r\nContent-Type: message/rfc822\r\n\r\n--b2\r\nContent-Type: text/plain\r\n\r\nanother structure\r\n--b2--\r\n--b1--\r\n',
        ),
      },
      change: (mail: string) => mail.replace('boundary="b1"', 'boundary="b2"'),
    },
    "another charset": { change: (mail: string) => mail.replace("charset=utf-8", "charset=utf-7") },
    "HTML that was none": { change: (mail: string) => mail.replace("text/plain", "text/html") },
  };
  assert.deepEqual(await fates(cases), expected(cases, "others"));
});

test("a signature that covers too little is none", { skip }, async () => {
  const evil = `evil@${mailDomain}`;
  const cases = {
    "only the beginning of the text": { signing: { headers: usual, bodyBytes: 5 } },
    "length of the whole text": {
      mail: { text: "length of the whole text" },
      signing: { headers: usual, bodyBytes: 26 },
    },
    "From is not signed": {
      mail: { from: evil },
      signing: { headers: usual.replace("From:", "") },
      change: (mail: string) => mail.replace(`From: ${evil}`, `From: ${ann}`),
    },
    "a second From": { mail: { from: evil }, change: top(`From: ${ann}`) },
    // Others of the same domain have signed mails, too: the checker must see the author that the reader sees.
    "From is hidden from the reader": {
      mail: { from: evil },
      change: (mail: string) =>
        mail.replace(`From: ${evil}`, `From\r\n\u00a0: ${evil}`).replace(/^/, `X-A: b\r\n\u000bFrom: ${ann}\r\n`),
    },
    "From continues oddly": {
      mail: { from: evil },
      change: (mail: string) =>
        mail.replace(`From: ${evil}`, `From\r\n\u00a0: ${evil}`).replace(/^/, `X-A: b\r\n\u00a0From: ${ann}\r\n`),
    },
    "an author in the name": { mail: { from: `${ann} <${evil}>, <>` } },
    "a word that looks like an address": { mail: { from: `"${ann} x"@${mailDomain}` } },
    "an old mail": { mail: { date: new Date(Date.now() - 8 * 24 * 3600 * 1000) } },
    "an old mail with a new date": {
      mail: { date: new Date(Date.now() - 8 * 24 * 3600 * 1000) },
      signing: { headers: usual.replace(":Date", ""), at: new Date(Date.now() - 8 * 24 * 3600 * 1000) },
      change: (mail: string) => mail.replace(/^Date: .*$/m, `Date: ${new Date().toUTCString()}`),
    },
  };
  assert.deepEqual(await fates(cases), expected(cases, "left"));
});

test("where only one's own server vouches for the author, signed recipients count all the same", { skip }, async () => {
  const says = top(`Authentication-Results: mx.own; dmarc=pass header.from=${mailDomain}`);
  const cases = {
    signed: { change: says },
    "not signed": { signing: { headers: "Subject" }, change: says },
    "a Cc on top": (bot: string) => ({ mail: { to: friend }, change: (mail: string) => says(top(`Cc: ${bot}`)(mail)) }),
  };
  assert.deepEqual(await fates(cases, { receiving: { authservId: "mx.own" } }, says), {
    signed: "own",
    "not signed": "others",
    "a Cc on top": "others",
  });
});
