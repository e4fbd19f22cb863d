import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ImapFlow } from "imapflow";
import { dkimSign } from "mailauth";
import { type ParsedMail, simpleParser } from "mailparser";
import type { ChannelRecords } from "../../../../src/channels/channel.js";
import type { EmailOptions } from "../../../../src/channels/email/options.js";
import type { Logger } from "../../../../src/log.js";
import { type MailServer, mailDomain } from "../../fakes/mail/mail-server.js";

const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const publicKey = pair.publicKey.export({ type: "spki", format: "der" }).toString("base64");

/** The DNS of a world in which only one domain signs its mail. */
export async function testResolver(name: string, type: string): Promise<string[][]> {
  if (type === "TXT" && name === `s1._domainkey.${mailDomain}`) return [[`v=DKIM1; k=rsa; p=${publicKey}`]];
  throw Object.assign(new Error(`queryTxt ENOTFOUND ${name}`), { code: "ENOTFOUND" });
}

export interface TestMail {
  readonly from: string;
  readonly to: string;
  readonly subject?: string;
  readonly text?: string;
  readonly messageId?: string;
  readonly references?: readonly string[];
  readonly date?: Date;
  /** Beside, or instead of, those that a mail has. */
  readonly headers?: readonly string[];
  /** With its own headers, instead of the plain text. */
  readonly body?: string | Buffer;
}

/** A mail as it leaves its author's server, before it is signed. */
export function writeMail(mail: TestMail): Buffer {
  const { from, to, subject = "", text = "", messageId, references = [], date = new Date(), headers = [], body } = mail;
  const ids = references.map((id) => `<${id}>`);
  const head = [
    `From: ${from}`,
    `To: ${to}`,
    `Date: ${date.toUTCString().replace("GMT", "+0000")}`,
    ...(subject === "" ? [] : [`Subject: ${subject}`]),
    ...(messageId === undefined ? [] : [`Message-ID: <${messageId}>`]),
    ...(ids.length === 0 ? [] : [`In-Reply-To: ${ids.at(-1)}`, `References: ${ids.join(" ")}`]),
    ...headers,
    "MIME-Version: 1.0",
  ];
  const plain = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${text}\r\n`;
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n`), Buffer.from(body ?? plain)]);
}

/** What a signature covers; everything that is usual where it says nothing. */
export interface Signing {
  /** Names with colons between them. */
  readonly headers?: string;
  /** How much of the body (`l=`). */
  readonly bodyBytes?: number;
  readonly at?: Date;
}

/** The same with the signature of {@link mailDomain}. */
export async function signed(raw: Buffer, { headers, bodyBytes, at = new Date() }: Signing = {}): Promise<Buffer> {
  const { signatures, errors } = await dkimSign(raw, {
    canonicalization: "relaxed/relaxed",
    algorithm: "rsa-sha256",
    // Left to itself it reads the clock twice, and now and then signs another second than it writes down.
    signTime: at,
    ...(headers === undefined ? {} : { headerList: headers }),
    signatureData: [
      {
        signingDomain: mailDomain,
        selector: "s1",
        privateKey,
        ...(bodyBytes === undefined ? {} : { maxBodyLength: bodyBytes }),
      },
    ],
  } as Parameters<typeof dkimSign>[1]);
  if (errors.length > 0) throw new Error("The mail could not be signed");
  return Buffer.concat([Buffer.from(signatures), raw]);
}

/** A mailbox as its server's owner sees it. */
export interface Mailbox extends AsyncDisposable {
  readonly client: ImapFlow;
  /** Puts a mail there as it is, in the order of the calls. Resolves with its UID. */
  put(raw: Buffer, options?: { readonly flags?: string[]; readonly date?: Date }): Promise<number>;
}

export async function openMailbox(server: MailServer, localPart: string, folder = "INBOX"): Promise<Mailbox> {
  const client = new ImapFlow({
    host: "127.0.0.1",
    port: server.imapPort,
    secure: false,
    doSTARTTLS: false,
    auth: { user: `${localPart}@${server.domain}`, pass: server.password },
    logger: false,
  });
  client.on("error", () => {});
  await client.connect();
  await client.mailboxOpen(folder);
  let last: Promise<unknown> = Promise.resolve();
  return {
    client,
    put(raw, { flags = [], date } = {}) {
      const put = last.then(async () => {
        const appended = await client.append(folder, raw, flags, date);
        return appended === false ? 0 : (appended.uid ?? 0);
      });
      last = put.catch(() => undefined);
      return put;
    },
    async [Symbol.asyncDispose]() {
      await last;
      client.close();
    },
  };
}

/** The mails in a folder of somebody's, oldest first. */
export async function mailsOf(server: MailServer, localPart: string, folder = ""): Promise<readonly ParsedMail[]> {
  const root = join(server.maildir(localPart), folder === "" ? "" : `.${folder}`);
  const paths = ["cur", "new"].flatMap((part) => {
    try {
      return readdirSync(join(root, part)).map((name) => ({ name, path: join(root, part, name) }));
    } catch {
      return [];
    }
  });
  const mails: ParsedMail[] = [];
  for (const { path } of paths.sort((a, b) => order(a.name) - order(b.name)))
    mails.push(await simpleParser(readFileSync(path)));
  return mails;
}

/** Maildir names begin with the second, and hold the microsecond behind an M. */
function order(name: string): number {
  const [, second = "0", micro = "0"] = /^(\d+)\.M(\d+)/.exec(name) ?? [];
  return Number(second) * 1e6 + Number(micro);
}

/** Options that connect a channel to the server as that person, without TLS. */
export function emailOptions(
  server: MailServer,
  localPart: string,
  log: Logger,
  more: EmailChanges = {},
): EmailOptions {
  const { password } = server;
  const options = emailOptionsFor(`${localPart}@${server.domain}`, log);
  const login = { imap: { port: server.imapPort, password }, smtp: { port: server.smtpPort, password } };
  return changed(changed(options, login), more);
}

/** What a test wants to be different, part by part. */
export type EmailChanges = {
  readonly [Part in "imap" | "smtp" | "access" | "receiving" | "sending"]?: Partial<EmailOptions[Part]>;
};

/** The options with some of their fields changed. */
export function changed(options: EmailOptions, { imap, smtp, access, receiving, sending }: EmailChanges): EmailOptions {
  return {
    ...options,
    imap: { ...options.imap, ...imap },
    smtp: { ...options.smtp, ...smtp },
    access: { ...options.access, ...access },
    receiving: { ...options.receiving, ...receiving },
    sending: { ...options.sending, ...sending },
  };
}

/** The same where no server is asked. */
export function emailOptionsFor(address: string, log: Logger): EmailOptions {
  const server = { host: "127.0.0.1", port: 1, username: address, password: "x", useSSL: false, useTLS: false };
  return {
    fromAddress: address,
    imap: { ...server, mailbox: "INBOX" },
    smtp: server,
    access: {},
    receiving: {
      verifySender: "required",
      session: "thread",
      pollIntervalSeconds: 30,
      markSeen: true,
      hourlyPerSender: 20,
      resolver: testResolver,
      busyRetryMs: 50,
    },
    sending: { autoReplyEnabled: true, sentCopy: "auto", sentLookMs: 10 },
    log,
  };
}

/** The parts of a mail that holds a mail, which holds a mail, and so on. */
export function nestedForwards(depth: number): string {
  let inner = "";
  for (let number = depth; number >= 0; number--) {
    const boundary = `level-${number}-`;
    const text = number === 0 ? "What do you think?" : `This is story ${number} of Eve.`;
    const part = inner === "" ? "" : `--${boundary}\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n`;
    const head =
      number === 0
        ? ""
        : `From: Eve <eve${number}@elsewhere.example>\r\nSubject: number ${number}\r\nDate: Sun, 22 Nov 2026 09:15:00 +0000\r\nMIME-Version: 1.0\r\n`;
    inner = `${head}Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n--${boundary}\r\nContent-Type: text/plain\r\n\r\n${text}\r\n${part}--${boundary}--\r\n`;
  }
  return inner;
}

/** Durable facts that outlive a channel, as a gateway's do. */
export function createRecords(): ChannelRecords {
  const records = new Map<string, string>();
  return {
    get: (id) => JSON.parse(records.get(id) ?? "null") ?? undefined,
    put: async (id, value) => void records.set(id, JSON.stringify(value)),
    delete: async (id) => void records.delete(id),
    list: () => [...records].map(([id, value]) => ({ id, value: JSON.parse(value) as unknown })),
  };
}
