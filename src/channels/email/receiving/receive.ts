import type { FetchMessageObject, FetchQueryObject } from "imapflow";
import { ChannelError } from "../../../errors.js";
import { linked } from "../../../util/async/linked.js";
import type { ChannelContext, Publish, ReceivedMessage } from "../../channel.js";
import { checkSender } from "../auth/sender.js";
import type { Recipients } from "../auth/signed.js";
import { automaticReason, type MailHead, parseHead } from "../headers.js";
import { Line, type Tries, type Try } from "../line.js";
import { toReceived } from "../message.js";
import { accountOf, type EmailOptions } from "../options.js";
import type { HourlyCap } from "../sending/hourly-cap.js";
import { shortLines } from "../sending/short-lines.js";
import { saidIn } from "../text/said.js";
import { type MailContent, readContent } from "./content.js";
import { type ImapConnection, openImap } from "./imap.js";
import type { KnownMail, KnownMails } from "./known.js";
import { filesOf, noParts, partsOf, smallMail } from "./large-mail.js";
import { type Positions, readStart } from "./positions.js";

export interface ReceivePorts {
  readonly options: EmailOptions;
  readonly known: KnownMails;
  readonly positions: Positions;
  readonly hourly: HourlyCap;
  /** Says something to the author outside the outbound queue; must not reject. */
  readonly tell: (message: ReceivedMessage, text: string) => Promise<void>;
  readonly publish: Publish;
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
  readonly onConnected: () => void;
  /** Of a mailbox that was never read before, mail from then on is taken. */
  readonly openedAt: Date;
}

/** A mail as it is in the mailbox. */
interface Mail {
  readonly uid: number;
  readonly head: MailHead;
  readonly arrivedAt: Date;
  readonly sizeBytes: number;
  /** The beginning of the mail, which is all of a small one. */
  readonly source: Buffer;
  readonly structure: FetchMessageObject["bodyStructure"];
}

/** Read of each mail at once; a larger one is fetched in parts. */
const firstBytes = 256 * 1024;
const textBytes = 256 * 1024;
/** A larger mail is not downloaded to check its signature. */
const largestSigned = 60 * 1024 * 1024;
const downloadMs = 10 * 60_000;
/** Mails that are read at once, and those that are read and not taken yet. */
const room = { reading: 8, held: 200 };
/** Of one sender so many wait in memory. */
const mostOfSender = 20;
/** A server that tells of new mail is asked this often all the same, so that a dead connection is noticed. */
const idleCheckMs = 110_000;
const longestVerifyMs = 4 * 3600 * 1000;
const longestRetryMs = 15 * 60_000;
const mostFaults = 5;

/** Receives mail until `signal` aborts. @throws {ChannelError} */
export async function receive(ports: ReceivePorts, signal: AbortSignal): Promise<void> {
  const { options, positions } = ports;
  using connection = await openImap(options, signal);
  const mailbox = await connection.command((client) => client.mailboxOpen(options.imapMailbox));
  const validity = String(mailbox.uidValidity);
  const start = readStart(positions, validity, mailbox.uidNext);
  const startUid = start.isFirst ? await firstUid(connection, ports.openedAt, start.uid) : start.uid;
  if (start.isFirst) await positions.keep({ validity, uid: startUid });
  if (start.since !== undefined)
    options.log.warn("the mailbox has numbered its mails anew: those of the past days are looked through", {
      validity,
    });
  const faults: { reject: (error: unknown) => void } = { reject: () => {} };
  const faulty = new Promise<never>((_, reject) => {
    faults.reject = reject;
  });
  faulty.catch(() => undefined);
  const line = new Line(startUid, (error) => faults.reject(error), signal);
  const news = createNews(connection);
  try {
    let since = start.since;
    while (!signal.aborted) {
      news.reset();
      // It may wait for room, and not hear that the connection is gone.
      await Promise.race([scan({ ...ports, connection, line, validity }, since, signal), connection.lost, faulty]);
      since = undefined;
      if (line.open === 0) await positions.keep({ validity, uid: line.newest });
      ports.onConnected();
      await Promise.race([news.wait(waitMs(connection, options), signal), connection.lost, faulty]);
    }
  } finally {
    news.stop();
    await line.close();
  }
}

/** The newest mail that had arrived before `openedAt`; servers count in seconds. */
async function firstUid(connection: ImapConnection, openedAt: Date, newest: number): Promise<number> {
  // A search knows days, or counts seconds to its own moment.
  const dayBefore = new Date(openedAt.getTime() - 24 * 3600 * 1000);
  const found = await connection.command((client) => client.search({ since: dayBefore }, { uid: true }));
  if (!found || found.length === 0) return newest;
  const query = { uid: true, internalDate: true };
  const mails = await connection.command((client) => client.fetchAll(found as number[], query, { uid: true }));
  const since = Math.floor(openedAt.getTime() / 1000) * 1000;
  const later = mails.filter(({ internalDate }) => internalDate !== undefined && +new Date(internalDate) >= since);
  return Math.min(newest, ...later.map(({ uid }) => uid - 1));
}

function waitMs({ client }: ImapConnection, { pollIntervalSeconds }: EmailOptions): number {
  return client.capabilities.has("IDLE") ? idleCheckMs : pollIntervalSeconds * 1000;
}

interface Scope extends ReceivePorts {
  readonly connection: ImapConnection;
  readonly line: Line;
  readonly validity: string;
}

/** Takes in what the mailbox holds beyond the newest mail that is known. */
async function scan(scope: Scope, since: Date | undefined, signal: AbortSignal): Promise<void> {
  const { connection, line, options } = scope;
  const range = { uid: `${line.newest + 1}:*`, ...(since === undefined ? {} : { since }) };
  const found = (await connection.command((client) => client.search(range, { uid: true }))) || [];
  // The last mail is always part of such a range.
  const uids = [...found].filter((uid) => uid > line.newest).sort((a, b) => a - b);
  for (const uid of uids) {
    await line.room(room);
    if (signal.aborted) return;
    const mail = await fetchMail(connection, uid);
    const reason =
      mail === undefined ? "it is gone, or its server cannot show it" : ignoredReason(mail, since, options);
    if (mail === undefined || reason !== undefined) {
      options.log.info(`a mail is left alone: ${reason}`, { uid, from: mail?.head.from?.address });
      line.skip(uid);
      continue;
    }
    const address = mail.head.from?.address ?? "";
    if (line.openOf(address) < mostOfSender) line.take(uid, address, createTries(scope, mail));
    else line.take(uid, address, createLaterTries(scope, uid), true);
  }
}

async function fetchMail(connection: ImapConnection, uid: number): Promise<Mail | undefined> {
  const bare = { uid: true, size: true, internalDate: true, source: { start: 0, maxLength: firstBytes } };
  const fetch = (query: FetchQueryObject) =>
    connection.command((client) => client.fetchOne(String(uid), query, { uid: true }));
  // What is said of parts that lie very deep in each other cannot be read, and takes all the rest with it.
  const fetched = (await fetch({ ...bare, bodyStructure: true })) || (await fetch(bare));
  if (!fetched || fetched.source === undefined) return undefined;
  const { source, size = source.length, internalDate, bodyStructure: structure } = fetched;
  const arrivedAt = internalDate === undefined ? new Date() : new Date(internalDate);
  return { uid, head: await parseHead(source), arrivedAt, sizeBytes: size, source, structure };
}

function ignoredReason({ head }: Mail, since: Date | undefined, options: EmailOptions): string | undefined {
  if (since !== undefined && head.date !== undefined && head.date < since) return "it is older than the past days";
  const own = [options.fromAddress, options.imapUsername, options.smtpUsername ?? ""];
  return automaticReason(head, new Set(own.map((address) => address.toLowerCase())));
}

/** Of a mail that is fetched again when its turn comes. */
function createLaterTries(scope: Scope, uid: number): Tries {
  const state: { tries?: Tries } = {};
  const gone: Try = { isDone: true };
  return {
    async read(signal) {
      if (state.tries === undefined) {
        const mail = await fetchMail(scope.connection, uid);
        if (mail === undefined) return gone;
        state.tries = createTries(scope, mail);
      }
      return await state.tries.read(signal);
    },
    pass: async (signal) => (await state.tries?.pass(signal)) ?? gone,
    isNext: () => false,
    isOver: () => state.tries?.isOver() ?? true,
  };
}

/** What is to be done for a mail until it is settled; what has been found out is kept from one try to the next. */
function createTries(scope: Scope, mail: Mail): Tries {
  const { options, hourly, known, positions, publish, actsAtOnce, tell, connection, line, validity } = scope;
  const { log, busyRetryMs = 2000, verifyRetryMs = 30_000 } = options;
  const { from, messageId } = mail.head;
  const address = from?.address ?? "";
  const about = { uid: mail.uid, from: address };
  const arrivedAt = mail.arrivedAt.getTime();
  const state: {
    isVerified?: boolean;
    recipients?: Recipients;
    content?: MailContent;
    message?: ReceivedMessage;
    record?: KnownMail;
    faults: number;
    since: number;
    waitedMs: number;
  } = {
    faults: 0,
    since: Date.now(),
    waitedMs: verifyRetryMs / 2,
  };
  const told = new Set<string>();
  const say = async (message: ReceivedMessage, text: string): Promise<void> => {
    // An address that nobody vouches for may belong to somebody else, who has written nothing.
    if (text === "" || state.isVerified !== true || told.has(text)) return;
    told.add(text);
    await tell(message, text);
  };

  const verify = async (): Promise<Try | undefined> => {
    if (options.verifySender === "off") {
      state.isVerified = false;
      return undefined;
    }
    const { head, arrivedAt, source: start } = mail;
    const check = await checkSender({ head, arrivedAt, start, source: () => wholeSource(connection, mail) }, options);
    if (check.verdict === "later" && Date.now() - state.since < longestVerifyMs) {
      state.waitedMs = Math.min(state.waitedMs * 2, longestRetryMs);
      log.warn(`the sender of a mail cannot be checked now: ${check.why}`, about);
      return { isDone: false, waitMs: state.waitedMs };
    }
    if (check.verdict !== "verified") {
      log.warn(`a mail is left alone, as its sender is not verified: ${check.why}`, about);
      return { isDone: true };
    }
    state.isVerified = true;
    state.recipients = check.recipients;
    if ("doubt" in check.recipients) log.info(`a mail counts as text of others: ${check.recipients.doubt}`, about);
    return undefined;
  };

  const messageOf = (content: MailContent): ReceivedMessage =>
    toReceived(mail.head, content, { known, options, recipients: state.recipients });

  const open = async (signal: AbortSignal): Promise<ReceivedMessage> => {
    const content = await contentOf(scope, mail, signal);
    const message = messageOf(content);
    state.content = content;
    // Before the mail is accepted, as the answer needs it: its subject, and what it answered.
    state.record = {
      id: messageId,
      chatId: message.chatId,
      thread: message.thread,
      subject: mail.head.subject,
      references: [...mail.head.references],
      isOurs: false,
      said: saidIn(content.text, content.nested),
      at: arrivedAt,
    };
    await known.keep(state.record);
    return message;
  };

  /** No conversation holds what it said: a quote of it is news. */
  const leave = async (): Promise<Try> => {
    if (state.record !== undefined) await known.keep({ ...state.record, said: undefined });
    return { isDone: true };
  };

  const pass = async (message: ReceivedMessage): Promise<Try> => {
    if (!hourly.take(address, arrivedAt)) {
      log.warn(`more than ${options.hourlyPerSender} mails of a sender in an hour: this one is left alone`, about);
      return await leave();
    }
    const cursor = { name: positions.cursorName, value: `${validity}:${line.positionAfter(mail.uid)}` };
    const outcome = await publish({ ...message, cursor });
    if (outcome.status !== "accepted") hourly.giveBack(address, arrivedAt);
    if (outcome.status === "busy") {
      await say(message, outcome.reply);
      return { isDone: false, waitMs: busyRetryMs };
    }
    if (outcome.status === "refused") {
      await say(message, outcome.reply ?? "");
      return await leave();
    }
    if (options.markSeen) await markSeen(scope, mail);
    return { isDone: true };
  };

  return {
    async read(signal) {
      if (state.isVerified === undefined) {
        const ended = await verify();
        if (ended !== undefined) return ended;
      }
      state.message ??= await open(signal);
      return { isDone: true };
    },
    isOver: () => state.message === undefined,
    isNext: () => state.message !== undefined && actsAtOnce?.(state.message) === true,
    async pass() {
      if (state.content === undefined) return { isDone: true };
      // Made anew: since it was read ahead of its turn, an earlier mail that it quotes may have been refused.
      const message = messageOf(state.content);
      try {
        return await pass(message);
      } catch (error) {
        if (error instanceof ChannelError) throw error;
        log.error("a mail could not be passed on", { ...about, error });
        state.faults += 1;
        if (state.faults < mostFaults) return { isDone: false, waitMs: busyRetryMs };
        await say(message, "Sorry, this mail could not be taken. Please send it again.");
        return await leave();
      }
    },
  };
}

/** A large mail is never in memory as a whole. */
async function wholeSource(connection: ImapConnection, { uid, sizeBytes, source }: Mail) {
  if (sizeBytes <= source.length || sizeBytes > largestSigned) return source;
  const { content } = await connection.command(
    (client) => client.download(String(uid), undefined, { uid: true, chunkSize: firstBytes }),
    downloadMs,
  );
  if (content === undefined) throw new ChannelError("A mail has vanished while it was read.", { retryable: true });
  return content.pipe(shortLines());
}

async function contentOf({ connection, options, validity }: Scope, mail: Mail, signal: AbortSignal) {
  const { uid, sizeBytes, source, structure } = mail;
  if (sizeBytes <= source.length) return await readContent(source, signal);
  const { texts, files, mails, leftOut } = structure === undefined ? noParts : partsOf(structure);
  const shown = [...texts, ...mails];
  const wanted = shown.map(({ part }) => ({ key: part, start: 0, maxLength: textBytes }));
  const fetched =
    wanted.length === 0
      ? undefined
      : await connection.command((client) => client.fetchOne(String(uid), { bodyParts: wanted }, { uid: true }));
  const bytes = new Map(fetched ? fetched.bodyParts : []);
  // Of a mail that is built in another way than it says its server finds nothing.
  if (files.length === 0 && [...bytes.values()].every(({ length }) => length === 0))
    return { ...(await readContent(source, signal)), damage: { why: "only its beginning can be read", isGuess: true } };
  const small = smallMail(shown.map((text) => ({ ...text, bytes: bytes.get(text.part) ?? Buffer.alloc(0) })));
  const content = await readContent(small, signal);
  const others = content.files.filter(({ mimeType }) => mimeType !== "message/rfc822");
  const isCut = [...bytes.values()].some(({ length }) => length >= textBytes);
  const notes = [
    ...(isCut ? ["[The rest of this mail is left out, because it is very long.]"] : []),
    ...(leftOut > 0 ? [`[${leftOut} more parts of this mail are left out, because they are too many.]`] : []),
  ];
  return {
    ...content,
    text: [content.text, ...notes].join("\n\n"),
    files: [...others, ...filesOf(files, (part) => createPartReader(options, validity, uid, part))],
  };
}

/** Fetches a part over a connection of its own: the mailbox's may be gone by then. */
function createPartReader(options: EmailOptions, validity: string, uid: number, part: string) {
  return async (maxBytes: number, signal: AbortSignal): Promise<Uint8Array> => {
    using connection = await openImap(options, signal);
    const open = connection.command((client) => client.mailboxOpen(options.imapMailbox, { readOnly: true }));
    if (String((await open).uidValidity) !== validity)
      throw new ChannelError(`The mailbox of ${accountOf(options)} has numbered its mails anew.`);
    return await connection.command(async (client) => {
      const { content } = await client.download(String(uid), part, { uid: true, maxBytes: maxBytes + 1 });
      if (content === undefined) throw new ChannelError("The mail is not in the mailbox any more.");
      const chunks: Buffer[] = [];
      for await (const chunk of content) chunks.push(chunk);
      return Buffer.concat(chunks);
    }, downloadMs);
  };
}

async function markSeen({ connection, options }: Scope, { uid }: Mail): Promise<void> {
  try {
    await connection.command((client) => client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true }));
  } catch (error) {
    options.log.debug("a mail was not marked as seen", { uid, error });
  }
}

/** Waits until the server tells of new mail. */
function createNews({ client }: ImapConnection) {
  const state: { isNew: boolean; wake: () => void } = { isNew: false, wake: () => {} };
  client.on("exists", () => {
    state.isNew = true;
    state.wake();
  });
  return {
    reset(): void {
      state.isNew = false;
    },
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      if (state.isNew || signal.aborted) return;
      using scope = linked(signal, ms);
      await new Promise<void>((resolve) => {
        state.wake = resolve;
        scope.signal.addEventListener("abort", () => resolve());
      });
    },
    stop: () => state.wake(),
  };
}
