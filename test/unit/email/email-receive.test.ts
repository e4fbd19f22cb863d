import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ReceivedMessage } from "../../../src/channels/channel.js";
import { createEmailChannel } from "../../../src/channels/email/email.js";
import { accountOf } from "../../../src/channels/email/options.js";
import { ChannelError } from "../../../src/errors.js";
import { until } from "../../support/engine/engine-kit.js";
import { openMailProxy } from "../../support/fakes/mail/mail-proxy.js";
import {
  type MailServer,
  mailDomain,
  startMailServer,
  withoutMailServer,
} from "../../support/fakes/mail/mail-server.js";
import { keepLog } from "../../support/log.js";
import { accepted, never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import {
  changed,
  createRecords,
  type EmailChanges,
  emailOptions,
  mailsOf,
  openMailbox,
  signed,
  type TestMail,
  testResolver,
  writeMail,
} from "../../support/worlds/channels/mail-kit.js";

const skip = withoutMailServer();
const shared: { server?: MailServer; count: number } = { count: 0 };
before(async () => {
  if (skip === false) shared.server = await startMailServer();
});
after(() => shared.server?.[Symbol.asyncDispose]());

const ann = `ann@${mailDomain}`;

/** A mailbox that was read before, and what a gateway keeps for it. */
async function openWorld() {
  const { server } = shared;
  if (server === undefined) throw new Error("The mail server did not start");
  const name = `bot${++shared.count}`;
  const bot = server.addBox(name);
  server.addBox("ann");
  const mailbox = await openMailbox(server, name);
  const records = createRecords();
  const log = keepLog();
  let cursor: string | undefined;
  const options = emailOptions(server, name, log);
  const validity = mailbox.client.mailbox === false ? "" : String(mailbox.client.mailbox.uidValidity);
  await records.put(`position:${accountOf(options.imap)}`, { validity, uid: 0 });
  const seenIds = new Set<string>();
  /** Takes each mail once, as the engine does. */
  const gateway = recordPublish((message) => {
    if (seenIds.has(message.dedupId ?? "")) return { status: "duplicate" };
    seenIds.add(message.dedupId ?? "");
    cursor = message.cursor?.value;
    return accepted;
  });
  return {
    server,
    name,
    bot,
    mailbox,
    records,
    log,
    gateway,
    taken: () =>
      gateway.messages.filter((message, at, all) => all.findIndex(({ dedupId }) => dedupId === message.dedupId) === at),
    cursor: () => cursor,
    open: (more: EmailChanges = {}) =>
      createEmailChannel(changed(options, more), { cursor: async () => cursor, records }),
    mail: (mail: Partial<TestMail> = {}) => writeMail({ from: ann, to: bot, ...mail }),
    /** Puts a signed mail into the mailbox. */
    async write(mail: Partial<TestMail> = {}) {
      return await mailbox.put(await signed(writeMail({ from: ann, to: bot, ...mail })));
    },
    logged: (text: RegExp) => log.lines.some(({ message }) => text.test(message)),
    [Symbol.asyncDispose]: () => mailbox[Symbol.asyncDispose](),
  };
}
type World = Awaited<ReturnType<typeof openWorld>>;

const mailTest = (title: string, run: (world: World) => Promise<void>): void => {
  test(title, { skip }, async () => {
    await using world = await openWorld();
    try {
      await run(world);
    } catch (error) {
      const said = world.log.lines.map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`);
      throw new Error(`${String(error)}\nThe log says:\n${said.join("\n")}`, { cause: error });
    }
  });
};

/** Resolves with the messages once all mails are settled. */
async function receivedBy(world: World, channel = world.open()): Promise<readonly ReceivedMessage[]> {
  await using _running = startChannel(channel, world.gateway.publish);
  let count = 0;
  // Mails of several senders are looked at side by side: a last one moves the position to itself once all before it are settled.
  const isSettled = async (): Promise<boolean> => {
    count += 1;
    const uid = await world.write({ text: "the last one", from: `last@${mailDomain}`, messageId: `last-${count}@x` });
    const lasts = () => world.gateway.messages.filter(({ content }) => content === "the last one");
    await until("a last mail came", () => lasts().length >= count, 20_000);
    return world.cursor()?.endsWith(`:${uid}`) === true;
  };
  await until("all mails are settled", isSettled, 20_000);
  return world.taken().filter(({ content }) => content !== "the last one");
}

mailTest("mail that came while nobody read is taken once, and none of it again after a restart", async (world) => {
  await world.write({ text: "one", messageId: "1@x" });
  await world.write({ text: "two", messageId: "2@x" });
  {
    await using _running = startChannel(world.open(), world.gateway.publish);
    await until("both came", () => world.gateway.messages.length === 2, 20_000);
  }
  await world.write({ text: "three", messageId: "3@x" });
  {
    await using running = startChannel(world.open(), world.gateway.publish);
    await until("the third came", () => world.gateway.texts().includes("three"), 20_000);
    await world.write({ text: "four", messageId: "4@x" });
    await until("the fourth is told by the server", () => world.gateway.texts().includes("four"), 20_000);
    assert.ok(running.connections() >= 1);
  }
  assert.deepEqual(world.gateway.texts(), ["one", "two", "three", "four"]);
  assert.match(world.cursor() ?? "", /^\d+:4$/);
});

mailTest("what is in a mailbox that was never read before is left alone, also at the next start", async (world) => {
  const before = new Date(Date.now() - 60_000);
  await world.mailbox.put(await signed(world.mail({ text: "old", messageId: "1@x" })), { date: before });
  const records = createRecords();
  const open = () =>
    createEmailChannel(emailOptions(world.server, world.name, world.log), {
      cursor: async () => world.cursor(),
      records,
    });
  {
    await using running = startChannel(open(), world.gateway.publish);
    await until("it is connected", () => running.connections() > 0, 20_000);
  }
  await world.write({ text: "new", messageId: "2@x" });
  await using _running = startChannel(open(), world.gateway.publish);
  await until("the new one came", () => world.gateway.messages.length > 0, 20_000);
  assert.deepEqual(world.gateway.texts(), ["new"]);
});

mailTest("when the server renumbers its mails, nothing is lost and nothing is taken twice", async (world) => {
  await world.write({ text: "one", messageId: "1@x" });
  {
    await using _running = startChannel(world.open(), world.gateway.publish);
    await until("the first came", () => world.gateway.texts().includes("one"), 20_000);
  }
  await world.write({ text: "meanwhile", messageId: "2@x" });
  const longAgo = new Date(Date.now() - 20 * 24 * 3600 * 1000);
  await world.mailbox.put(await signed(world.mail({ text: "old", messageId: "a@x", date: longAgo })), {
    date: longAgo,
  });
  await world.mailbox.put(await signed(world.mail({ text: "old, and imported", messageId: "b@x", date: longAgo })));
  await world.mailbox[Symbol.asyncDispose]();
  world.server.renumber(world.name);
  {
    await using running = startChannel(world.open(), world.gateway.publish);
    await until("the one in between came", () => world.gateway.texts().includes("meanwhile"), 20_000);
    await until("it is connected", () => running.connections() > 0, 20_000);
  }
  assert.ok(world.logged(/renumbered its mails/));
  const takenNow = (): readonly string[] => world.taken().map(({ content }) => content);
  assert.deepEqual(takenNow(), ["one", "meanwhile"]);
  // What a stop cut short comes again, and is known by its id.
  await using running = startChannel(world.open(), world.gateway.publish);
  await until("it is connected again", () => running.connections() > 0, 20_000);
  assert.deepEqual(takenNow(), ["one", "meanwhile"]);
});

mailTest("where the server cannot tell about new mail, it is asked", async (world) => {
  await using proxy = await openMailProxy(world.server.imapPort, { rewrite: (text) => text.replace(/ IDLE\b/g, "") });
  const channel = world.open({ imap: { port: proxy.port }, receiving: { pollIntervalSeconds: 0.2 } });
  await using running = startChannel(channel, world.gateway.publish);
  await until("it is connected", () => running.connections() > 0, 20_000);
  await world.write({ text: "asked for", messageId: "1@x" });
  await until("it came", () => world.gateway.texts().includes("asked for"), 20_000);
  assert.ok(!proxy.said.some((line) => / IDLE\r\n/.test(line)));
});

mailTest("a new mail is told by the server, long before it would be asked", async (world) => {
  await using proxy = await openMailProxy(world.server.imapPort);
  const channel = world.open({ imap: { port: proxy.port }, receiving: { pollIntervalSeconds: 3600 } });
  await using running = startChannel(channel, world.gateway.publish);
  await until(
    "it waits to be told",
    () => running.connections() > 0 && proxy.said.some((line) => / IDLE\r\n/.test(line)),
    20_000,
  );
  await world.write({ text: "told", messageId: "1@x" });
  await until("it came", () => world.gateway.texts().includes("told"), 20_000);
});

mailTest("only what was taken is marked as seen, and nothing with markSeen false", async (world) => {
  const isSeen = async (uid: number): Promise<boolean> => {
    const fetched = await world.mailbox.client.fetchOne(String(uid), { flags: true }, { uid: true });
    return fetched !== false && fetched?.flags?.has("\\Seen") === true;
  };
  const taken = await world.write({ text: "hello", messageId: "1@x" });
  const forged = await world.mailbox.put(world.mail({ text: "forged", messageId: "2@x" }));
  {
    await using _running = startChannel(world.open(), world.gateway.publish);
    await until("it is marked", () => isSeen(taken), 20_000);
  }
  const unmarked = await world.write({ text: "again", messageId: "3@x" });
  await world.write({ text: "behind it", messageId: "4@x" });
  await using _running = startChannel(world.open({ receiving: { markSeen: false } }), world.gateway.publish);
  // Mails of one person are settled one after the other.
  await until("the next one came", () => world.gateway.texts().includes("behind it"), 20_000);
  assert.deepEqual([await isSeen(forged), await isSeen(unmarked)], [false, false]);
});

mailTest(
  "a mail that is not taken yet is offered again after a restart, though others behind it were taken",
  async (world) => {
    await world.write({ text: "stuck", messageId: "1@x" });
    await world.write({ from: `bob@${mailDomain}`, text: "passes", messageId: "2@x" });
    let isFull = true;
    const publish = async (message: ReceivedMessage) =>
      isFull && message.content === "stuck"
        ? ({ status: "busy", reply: "" } as const)
        : await world.gateway.publish(message);
    {
      await using _running = startChannel(world.open(), publish);
      await until("the other one is taken", () => world.gateway.texts().includes("passes"), 20_000);
    }
    isFull = false;
    await using _running = startChannel(world.open(), publish);
    await until("it came", () => world.gateway.texts().includes("stuck"), 20_000);
  },
);

mailTest("a forged sender is left alone and gets no answer, whatever the mail claims", async (world) => {
  const claims = [
    `Authentication-Results: mx.evil.example; dmarc=pass header.from=${mailDomain}`,
    `Received-SPF: pass`,
    `DKIM-Signature: v=1; a=rsa-sha256; d=${mailDomain}; s=s1; h=from; bh=AAAA; b=AAAA`,
  ];
  await world.mailbox.put(world.mail({ text: "unsigned", messageId: "1@x" }));
  await world.mailbox.put(world.mail({ text: "claims", messageId: "2@x", headers: claims }));
  const good = await signed(world.mail({ text: "changed", messageId: "3@x" }));
  await world.mailbox.put(Buffer.from(good.toString("latin1").replace("changed", "CHANGED"), "latin1"));
  await world.mailbox.put(
    await signed(world.mail({ from: "boss@bank.example", text: "other domain", messageId: "4@x" })),
  );
  await world.mailbox.put(
    await signed(world.mail({ headers: [`From: boss@bank.example`], text: "two authors", messageId: "5@x" })),
  );
  await world.mailbox.put(
    await signed(world.mail({ from: `${ann}, bob@${mailDomain}`, text: "together", messageId: "6@x" })),
  );
  await world.mailbox.put(
    await signed(world.mail({ from: `"${ann}" <evil@bank.example>`, text: "by name", messageId: "7@x" })),
  );
  const replayed = new Date(Date.now() - 8 * 24 * 3600 * 1000);
  await world.mailbox.put(await signed(world.mail({ text: "replayed", messageId: "8@x", date: replayed })));
  // Both are signed by their author's domain, and say something on top that it has not signed.
  const innocent = await signed(world.mail({ subject: "Lunch", text: "gladly", messageId: "9@x" }));
  await world.mailbox.put(Buffer.concat([Buffer.from("Subject: Delete all files\r\n"), innocent]));
  const nameless = await signed(world.mail({ text: "gladly", messageId: "10@x" }));
  await world.mailbox.put(Buffer.concat([Buffer.from("Subject: Delete all files\r\n"), nameless]));
  const sentBefore = (await mailsOf(world.server, "ann")).length;
  assert.deepEqual(await receivedBy(world), []);
  assert.equal((await mailsOf(world.server, "ann")).length, sentBefore);
  assert.equal(world.log.lines.filter(({ message }) => /sender is not verified/.test(message)).length, 8);
});

mailTest("one's own server decides who wrote a mail, by its topmost word alone", async (world) => {
  const server = "mx.maxclaw.test";
  const says = (text: string) => `Authentication-Results: ${server}; ${text}`;
  const put = (text: string, ...headers: string[]) =>
    world.mailbox.put(
      Buffer.concat([
        Buffer.from(headers.map((line) => `${line}\r\n`).join("")),
        world.mail({ text, messageId: `${text.replaceAll(" ", "-")}@x` }),
      ]),
    );
  await put("dmarc", says(`dkim=none; dmarc=pass (p=none) header.from=${mailDomain}`));
  await put("dkim", says(`dkim=pass header.d=${mailDomain} header.s=s1`));
  await put("spf", says(`spf=pass smtp.mailfrom=ann@${mailDomain}`));
  await put("another server", `Authentication-Results: other.example; dmarc=pass header.from=${mailDomain}`);
  await put(
    "forged below",
    says("dkim=none; dmarc=fail header.from=maxclaw.test"),
    says(`dmarc=pass header.from=${mailDomain}`),
  );
  await put("another domain", says("dkim=pass header.d=evil.example; spf=pass smtp.mailfrom=x@evil.example"));
  await put("in a comment", says(`dmarc=none (; dmarc=pass header.from=${mailDomain})`));
  await put("in quotes", says(`dkim=fail reason="; dkim=pass header.d=${mailDomain}"`));
  await put("no word");
  await put("the end", says(`dmarc=pass header.from=${mailDomain}`));
  await using _running = startChannel(world.open({ receiving: { authservId: server } }), world.gateway.publish);
  await until("the last came", () => world.gateway.texts().includes("the end"), 20_000);
  assert.deepEqual(world.gateway.texts(), ["dmarc", "dkim", "spf", "the end"]);
});

mailTest("a mail whose sender cannot be checked now waits, and holds up no other", async (world) => {
  let isDown = true;
  const resolver = async (name: string, type: string) => {
    if (isDown && name.startsWith("s1.")) throw Object.assign(new Error("DNS is down"), { code: "ETIMEOUT" });
    return await testResolver(name, type);
  };
  await world.write({ text: "patience", messageId: "1@x" });
  const channel = world.open({ receiving: { resolver, verifyRetryMs: 50 } });
  await using _running = startChannel(channel, world.gateway.publish);
  await until("it is put off", () => world.logged(/cannot be checked now/), 20_000);
  assert.deepEqual(world.gateway.texts(), []);
  isDown = false;
  await until("it came", () => world.gateway.texts().includes("patience"), 20_000);
});

mailTest(
  "without verification a mail is taken as one of nobody known, and notices to its address are not sent",
  async (world) => {
    await world.mailbox.put(world.mail({ text: "who am I?", messageId: "1@x" }));
    const gateway = recordPublish(() => ({ status: "refused", reply: "I do not know you." }));
    await using smtp = await openMailProxy(world.server.smtpPort);
    const channel = world.open({ receiving: { verifySender: "off" }, smtp: { port: smtp.port } });
    await using _running = startChannel(channel, gateway.publish);
    await until("it came", () => gateway.messages.length > 0, 20_000);
    assert.match(gateway.messages[0]?.outside ?? "", /not verified/);
    await world.mailbox.put(world.mail({ text: "and now?", messageId: "2@x" }));
    // A notice about the first would be sent before the second is looked at.
    await until("the next one came", () => gateway.messages.length > 1, 20_000);
    assert.equal(smtp.connections, 0);
  },
);

mailTest("programs, lists, bounces and its own mail are never answered", async (world) => {
  const loops = [
    "Auto-Submitted: auto-replied",
    "Auto-Submitted: auto-generated (rejected)",
    "Precedence: bulk",
    "Precedence: list",
    "List-Id: <everybody.example.org>",
    "List-Unsubscribe: <mailto:out@example.org>",
    "X-Auto-Response-Suppress: DR, OOF, AutoReply",
    "Return-Path: <>",
  ];
  for (const [index, header] of loops.entries())
    await world.write({ text: header, messageId: `${index}@x`, headers: [header] });
  await world.write({ text: "own", from: world.bot, messageId: "own@x" });
  await world.write({ text: "bounce", from: `MAILER-DAEMON@${mailDomain}`, messageId: "bounce@x" });
  await world.write({
    text: "",
    messageId: "report@x",
    body: 'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n--b\r\n\r\nfailed\r\n--b--\r\n',
  });
  await world.write({ text: "a person", messageId: "person@x", headers: ["Auto-Submitted: no"] });
  assert.deepEqual(
    (await receivedBy(world)).map(({ content }) => content),
    ["a person"],
  );
});

mailTest("two programs that answer each other end by the hourly limit of a sender, told in the log", async (world) => {
  for (let n = 1; n <= 5; n++) await world.write({ text: `mail ${n}`, messageId: `${n}@x` });
  await using _running = startChannel(world.open({ receiving: { hourlyPerSender: 3 } }), world.gateway.publish);
  const named = () => world.log.lines.filter(({ message }) => /more than 3 mails of a sender/.test(message));
  await until("the others are named", () => named().length === 2, 20_000);
  assert.deepEqual(world.gateway.texts(), ["mail 1", "mail 2", "mail 3"]);
});

mailTest("a connection that is lost is opened again by the next run, which goes on where it was", async (world) => {
  await using proxy = await openMailProxy(world.server.imapPort);
  const channel = world.open({ imap: { port: proxy.port } });
  const first = startChannel(channel, world.gateway.publish);
  await until("it is connected", () => first.connections() > 0, 20_000);
  proxy.refuse(true);
  proxy.cut();
  const lost = await first.ended;
  assert.ok(lost instanceof ChannelError && lost.retryable);
  await world.write({ text: "meanwhile", messageId: "1@x" });
  const refused = await startChannel(channel, world.gateway.publish).ended;
  assert.ok(refused instanceof ChannelError && refused.retryable);
  proxy.refuse(false);
  proxy.delay(20);
  await using _second = startChannel(channel, world.gateway.publish);
  await until("it came", () => world.gateway.texts().includes("meanwhile"), 20_000);
});

mailTest("a connection that is lost is noticed, however many mails wait to be read", async (world) => {
  for (let n = 1; n <= 9; n++) await world.mailbox.put(world.mail({ messageId: `${n}@x`, from: `ann@d${n}.test` }));
  const asked = new Set<string | undefined>();
  const resolver = async (name: string) => {
    asked.add(/d\d/.exec(name)?.[0]);
    return await new Promise<never>(() => {});
  };
  await using proxy = await openMailProxy(world.server.imapPort);
  await using running = startChannel(
    world.open({ imap: { port: proxy.port }, receiving: { resolver } }),
    world.gateway.publish,
  );
  await until("as many are being read as may", () => asked.size === 8, 20_000);
  proxy.cut();
  let lost: unknown;
  void running.ended.then((error) => {
    lost = error;
  });
  await until("the channel has ended", () => lost !== undefined, 20_000);
  assert.ok(lost instanceof ChannelError && lost.retryable);
});

mailTest("mails whose senders cannot be checked now hold up no other, however many they are", async (world) => {
  for (let n = 1; n <= 20; n++) await world.mailbox.put(world.mail({ messageId: `${n}@x`, from: `ann@d${n}.test` }));
  await world.write({ text: "from a domain that answers", messageId: "21@x" });
  const resolver = async (name: string, type: string) => {
    if (/d\d+\.test/.test(name)) throw Object.assign(new Error("DNS is down"), { code: "ETIMEOUT" });
    return await testResolver(name, type);
  };
  await using _running = startChannel(world.open({ receiving: { resolver } }), world.gateway.publish);
  await until("it came", () => world.gateway.texts().includes("from a domain that answers"), 20_000);
});

mailTest(
  "TLS from the first byte and STARTTLS work with a certificate that a file vouches for, and with none else",
  async (world) => {
    const { imapsPort, caFile } = world.server;
    await world.write({ text: "hello", messageId: "1@x" });
    const imap = { useSSL: true, port: imapsPort };
    const untrusted = await startChannel(world.open({ imap }), world.gateway.publish).ended;
    assert.match(String(untrusted), /its certificate is not valid \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
    const access = { tlsCaFile: caFile };
    const secure = world.open({ imap, smtp: { useTLS: true }, access });
    {
      await using _running = startChannel(secure, world.gateway.publish);
      await until("it came", () => world.gateway.messages.length === 1, 20_000);
    }
    const sent = await secure.send(reply(ann, "over TLS", { replyTo: "1@x" }), never);
    assert.match(sent.platformMessageId, /@maxclaw\.test$/);
    await using plain = await openMailProxy(world.server.imapPort);
    await world.write({ text: "again", messageId: "2@x" });
    await using _starttls = startChannel(
      world.open({ imap: { useTLS: true, port: plain.port }, access }),
      world.gateway.publish,
    );
    await until("it came by STARTTLS", () => world.gateway.texts().includes("again"), 20_000);
    assert.ok(!plain.said.some((line) => line.includes(world.server.password) || / LOGIN /.test(line)));
  },
);
