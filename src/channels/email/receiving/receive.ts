import { settledWithin } from "../../../util/async/within.js";
import { automaticReason } from "../headers.js";
import { Line } from "../line.js";
import type { EmailOptions, ReceivingOptions } from "../options.js";
import { type ImapConnection, openImap } from "./imap.js";
import { fetchMail, type Mail } from "./mail.js";
import { readStart } from "./positions.js";
import { LaterTries, MailTries, type TryPorts, type TryScope } from "./tries.js";

export interface ReceivePorts extends TryPorts {
  readonly options: EmailOptions;
  readonly onConnected: () => void;
  /** Of a mailbox that was never read before, mail from then on is taken. */
  readonly openedAt: Date;
}

/** Mails that are read at once, and those that are read and not taken yet. */
const room = { reading: 8, held: 200 };
/** Of one sender so many wait in memory. */
const mostOfSender = 20;
/** A server that tells about new mail is asked this often all the same, so that a dead connection is noticed. */
const idleCheckMs = 110_000;

/** Receives mail until `signal` aborts. @throws {ChannelError} */
export async function receive(ports: ReceivePorts, signal: AbortSignal): Promise<void> {
  const { options, positions } = ports;
  using connection = await openImap(options, signal);
  const mailbox = await connection.command((client) => client.mailboxOpen(options.imap.mailbox));
  const validity = String(mailbox.uidValidity);
  const start = await readStart(positions, validity, mailbox.uidNext);
  const startUid = start.isFirst ? await firstUid(connection, ports.openedAt, start.uid) : start.uid;
  if (start.isFirst) await positions.keep({ validity, uid: startUid });
  if (start.since !== undefined)
    options.log.warn("the mailbox has renumbered its mails: those of the past days are looked through", {
      validity,
    });
  const faults: { reject: (error: unknown) => void } = { reject: () => {} };
  const faulty = new Promise<never>((_, reject) => {
    faults.reject = reject;
  });
  faulty.catch(() => undefined);
  const line = new Line(startUid, (error) => faults.reject(error), signal);
  const news = new News(connection);
  try {
    let since = start.since;
    while (!signal.aborted) {
      news.reset();
      // It may wait for room, and not hear that the connection is gone.
      await Promise.race([
        scan({ ...ports, mailbox: { connection, options, validity }, line }, since, signal),
        connection.lost,
        faulty,
      ]);
      since = undefined;
      if (line.open === 0) await positions.keep({ validity, uid: line.newest });
      ports.onConnected();
      await Promise.race([news.wait(waitMs(connection, options.receiving), signal), connection.lost, faulty]);
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

function waitMs({ client }: ImapConnection, { pollIntervalSeconds }: ReceivingOptions): number {
  return client.capabilities.has("IDLE") ? idleCheckMs : pollIntervalSeconds * 1000;
}

/** Takes in what the mailbox holds beyond the newest mail that is known. */
async function scan(scope: TryScope, since: Date | undefined, signal: AbortSignal): Promise<void> {
  const { line, mailbox } = scope;
  const { connection, options } = mailbox;
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
    if (line.openOf(address) < mostOfSender) line.take(uid, address, new MailTries(scope, mail));
    else line.take(uid, address, new LaterTries(scope, uid), true);
  }
}

function ignoredReason({ head }: Mail, since: Date | undefined, options: EmailOptions): string | undefined {
  if (since !== undefined && head.date !== undefined && head.date < since) return "it is older than the past days";
  const own = [options.fromAddress, options.imap.username, options.smtp.username ?? ""];
  return automaticReason(head, new Set(own.map((address) => address.toLowerCase())));
}

/** Waits until the server tells about new mail. */
class News {
  #isNew = false;
  #wake: () => void = () => {};

  constructor({ client }: ImapConnection) {
    client.on("exists", () => {
      this.#isNew = true;
      this.#wake();
    });
  }

  reset(): void {
    this.#isNew = false;
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isNew || signal.aborted) return;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await settledWithin(woken, { ms, signal });
  }

  stop(): void {
    this.#wake();
  }
}
