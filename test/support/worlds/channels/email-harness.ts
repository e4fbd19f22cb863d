import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startFakeDns } from "../../fakes/mail/fake-dns.js";
import { openMailProxy } from "../../fakes/mail/mail-proxy.js";
import { type MailServer, mailDomain, startMailServer } from "../../fakes/mail/mail-server.js";
import type { ChannelHarness, HarnessMessage, HarnessPerson, ShownMessage } from "./channel-harness.js";
import { openMailbox, signed, testResolver } from "./mail-kit.js";

export interface EmailHarness extends ChannelHarness {
  /** The assistant's address. */
  readonly bot: string;
  /** Puts a mail there that its author's server has signed, as it is. */
  writeRaw(raw: Buffer): Promise<void>;
  /** The Message-IDs of the mails that came to somebody, without brackets. */
  idsFor(chatId: string): readonly string[];
}

/** A mailbox for the shared tests, with real servers behind a proxy each. The first one starts them. */
export function createEmailHarnesses(): { readonly open: () => Promise<EmailHarness> } & AsyncDisposable {
  const shared: { server?: Promise<MailServer>; dns?: Promise<AsyncDisposable>; count: number } = { count: 0 };
  return {
    async open() {
      // The gateway asks it for the key of the signatures.
      shared.dns ??= startFakeDns(testResolver);
      await shared.dns;
      shared.server ??= startMailServer();
      return await openEmailHarness(await shared.server, ++shared.count);
    },
    async [Symbol.asyncDispose]() {
      await (await shared.server)?.[Symbol.asyncDispose]();
      await (await shared.dns)?.[Symbol.asyncDispose]();
    },
  };
}

const authservId = "mx.maxclaw.test";

async function openEmailHarness(server: MailServer, number: number): Promise<EmailHarness> {
  const name = `helper${number}`;
  const bot = server.addBox(name);
  // What the assistant sends is in the folder of sent mail, and can be found there.
  server.fileSent(true);
  const mailbox = await openMailbox(server, name);
  const smtp = await openMailProxy(server.smtpPort);
  const imap = await openMailProxy(server.imapPort);
  const people = ["ann", "bob"].map((who): HarnessPerson => {
    const address = server.addBox(`${who}${number}`);
    return { senderId: address, chatId: address };
  });
  const [ann, bob] = people;
  if (ann === undefined || bob === undefined) throw new Error("There are two people");
  /** The server's word for who wrote it, as its owner would find it. */
  const vouched = async (raw: string | Buffer): Promise<Buffer> => {
    const word = `Authentication-Results: ${authservId}; dmarc=pass header.from=${mailDomain}\r\n`;
    return Buffer.concat([Buffer.from(word), await signed(Buffer.from(raw))]);
  };
  const shownIn = (chatId: string): readonly ShownMessage[] =>
    readMails(server.maildir(chatId.slice(0, chatId.indexOf("@"))), (id) =>
      smtp.taken.findIndex((text) => text.includes(id)),
    );
  return {
    bot,
    async writeRaw(raw) {
      await mailbox.put(await vouched(raw));
    },
    idsFor: (chatId) =>
      rawMails(server.maildir(chatId.slice(0, chatId.indexOf("@")))).flatMap(
        (raw) => /^Message-ID: <(.*)>$/im.exec(raw)?.[1] ?? [],
      ),
    channel: "email",
    config: {
      consentGranted: true,
      imapHost: "127.0.0.1",
      imapPort: imap.port,
      imapUsername: bot,
      imapPassword: server.password,
      imapUseSSL: false,
      imapUseTLS: false,
      smtpHost: "127.0.0.1",
      smtpPort: smtp.port,
      smtpUsername: bot,
      smtpPassword: server.password,
      smtpUseTLS: false,
      sentCopy: "never",
      authservId,
      session: "sender",
      hourlyPerSender: 1000,
    },
    people: [ann, bob],
    hasVoice: false,
    knowsRepeats: true,
    faults: ["429", "5xx", "cut-before", "cut-after", "timeout"],
    quotesInText: true,
    async write(message) {
      const id = `${randomUUID()}@${mailDomain}`;
      await mailbox.put(await vouched(mimeOf(message, bot, id)));
      return id;
    },
    shown: shownIn,
    showings: (chatId) => shownIn(chatId).map(({ text, files }) => (text === "" ? (files[0]?.filename ?? "") : text)),
    failNextSend: (fault) => smtp.failNextMail(fault),
    loseConnection: () => imap.cut(),
    async [Symbol.asyncDispose]() {
      await mailbox[Symbol.asyncDispose]();
      await smtp[Symbol.asyncDispose]();
      await imap[Symbol.asyncDispose]();
    },
  };
}

function mimeOf({ from, text = "", files = [], answers }: HarnessMessage, to: string, id: string): string {
  const quote = answers === undefined ? "" : `\r\n\r\nOn Sat, 21 Nov 2026, Somebody wrote:\r\n> ${answers.text}\r\n`;
  const boundary = createHash("sha256").update(id).digest("hex").slice(0, 20);
  const parts = files.map(
    ({ filename, mimeType, bytes }) =>
      `--${boundary}\r\nContent-Type: ${mimeType}\r\nContent-Disposition: attachment; filename="${filename}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${bytes.toString("base64").replace(/(.{76})/g, "$1\r\n")}\r\n`,
  );
  return [
    `From: ${from.senderId}`,
    `To: ${to}`,
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <${id}>`,
    "MIME-Version: 1.0",
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    "",
    `--${boundary}`,
    "Content-Type: text/plain; charset=utf-8",
    "",
    `${text.replaceAll("\n", "\r\n")}${quote}`,
    `${parts.join("")}--${boundary}--`,
    "",
  ].join("\r\n");
}

/** What the assistant's mails say, read without waiting: their form is known. */
function readMails(maildir: string, order: (messageId: string) => number): readonly ShownMessage[] {
  return rawMails(maildir)
    .map((raw) => ({ raw, at: order(/^Message-ID: (.*)$/m.exec(raw)?.[1] ?? "") }))
    .sort((a, b) => a.at - b.at)
    .map(({ raw }) => toShown(raw));
}

function rawMails(maildir: string): readonly string[] {
  const paths = ["cur", "new"].flatMap((part) => {
    try {
      return readdirSync(join(maildir, part)).map((name) => join(maildir, part, name));
    } catch {
      return [];
    }
  });
  return paths.map((path) => readFileSync(path, "latin1").replace(/\r\n/g, "\n"));
}

function toShown(raw: string): ShownMessage {
  const parts = [...raw.matchAll(/\n(Content-Type: (?!multipart)[\s\S]*?)\n\n([\s\S]*?)(?=\n--)/g)].map(
    ([, head = "", body = ""]) => ({
      head,
      bytes: decoded(head, body),
    }),
  );
  const plain = parts.find(({ head }) => head.startsWith("Content-Type: text/plain") && !/attachment/.test(head));
  const files = parts.flatMap(({ head, bytes }) => {
    const [, filename] = /filename="?([^"\n]+)"?/.exec(head) ?? [];
    return filename === undefined ? [] : [{ filename, bytes }];
  });
  return { text: plain?.bytes.toString("utf8").trim() ?? "", files };
}

function decoded(head: string, body: string): Buffer {
  if (/base64/.test(head)) return Buffer.from(body, "base64");
  if (!/quoted-printable/.test(head)) return Buffer.from(body, "latin1");
  return Buffer.from(
    body.replace(/=\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}
