import type { OutboundMessage } from "../../../bus/messages.js";
import { ChannelError, messageOf } from "../../../errors.js";
import { sleep } from "../../../util/async/sleep.js";
import type { Receipt } from "../../channel.js";
import type { EmailOptions, SendingOptions } from "../options.js";
import { type ImapConnection, openImap } from "../receiving/imap.js";
import type { KnownMails } from "../receiving/known.js";
import { type ComposedMail, compose, messageIdOf } from "./compose.js";
import { submit } from "./smtp.js";

const sentLooks = 3;
/** A mail server may look at a mail for long before it takes it. */
const sendMs = 120_000;
/** Servers that put what they send into the folder of sent mail, besides those that say so. */
const filingHosts = /(?:^|\.)(?:gmail\.com|googlemail\.com|office365\.com|outlook\.com)$/i;

export type SendMail = (
  message: Pick<OutboundMessage, "id" | "chatId" | "thread" | "replyTo" | "content" | "attachments">,
  signal: AbortSignal,
) => Promise<Receipt>;

/**
 * Sends one mail. Its Message-ID is stored before anything leaves: when that finds it there already, an earlier attempt
 * may have arrived, and the folder of sent mail is asked first.
 */
export function createSend(options: EmailOptions, known: KnownMails): SendMail {
  const { fromAddress, sending, log } = options;
  /** Attempts of this process of which it is certain that nothing has left. */
  const refused = new Set<string>();

  return async (message, signal) => {
    if (!sending.autoReplyEnabled)
      throw new ChannelError("Nothing is sent by mail, because channels.email.autoReplyEnabled is false.");
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    const { chatId, thread, replyTo } = message;
    const id = messageIdOf(message.id, fromAddress);
    const receipt = { platformMessageId: id };
    const isSecond = known.find(id)?.isOurs === true && !refused.has(id);
    if (isSecond && (await wasSent(options, id, signal).catch(failForNow))) return receipt;
    const answered = (replyTo === undefined ? undefined : known.find(replyTo)) ?? known.latest(chatId, thread);
    const mail = await compose(message, answered, fromAddress);
    const { subject, references, said } = mail;
    await known.keep({ id, chatId, thread, subject, references: [...references], isOurs: true, said, at: Date.now() });
    refused.delete(id);
    try {
      await submit(options, { from: fromAddress, to: chatId }, mail.raw, sending.timeoutMs ?? sendMs, signal);
    } catch (error) {
      if (error instanceof ChannelError && error.outcome === "refused" && !isSecond) refused.add(id);
      throw error;
    }
    await fileCopy(options, mail, signal).catch((error: unknown) =>
      log.warn(`a sent mail was not put into the folder of sent mail: ${messageOf(error)}`, { chatId }),
    );
    return receipt;
  };
}

/** As long as nobody can tell, nothing is sent, and the mail waits. */
function failForNow(error: unknown): never {
  throw new ChannelError(messageOf(error), { cause: error, retryable: true });
}

/** @throws {ChannelError} the folder cannot be read */
async function wasSent(options: EmailOptions, messageId: string, signal: AbortSignal): Promise<boolean> {
  const { sentLookMs = 1500 } = options.sending;
  using connection = await openImap(options, signal);
  // The server may take a moment to file what it has taken.
  for (let look = 1; ; look++) {
    if (await isInSent(connection, options, messageId)) return true;
    if (look === sentLooks) return false;
    await sleep(sentLookMs, signal).catch(() => undefined);
  }
}

async function isInSent(connection: ImapConnection, options: EmailOptions, messageId: string): Promise<boolean> {
  const folder = await findSentFolder(connection, options.sending);
  if (folder === undefined) return false;
  await connection.command((client) => client.mailboxOpen(folder, { readOnly: true }));
  const header = { "message-id": `<${messageId}>` };
  const found = await connection.command((client) => client.search({ header }, { uid: true }));
  return Array.isArray(found) && found.length > 0;
}

async function fileCopy(options: EmailOptions, mail: ComposedMail, signal: AbortSignal): Promise<void> {
  if (options.sending.sentCopy === "never" || filingHosts.test(options.smtp.host)) return;
  using connection = await openImap(options, signal);
  if (connection.client.capabilities.has("X-GM-EXT-1") || (await isInSent(connection, options, mail.messageId))) return;
  const folder = await findSentFolder(connection, options.sending);
  if (folder !== undefined) await connection.command((client) => client.append(folder, mail.raw, ["\\Seen"]));
}

async function findSentFolder(
  connection: ImapConnection,
  { sentMailbox }: SendingOptions,
): Promise<string | undefined> {
  const folders = await connection.command((client) => client.list());
  const wanted = folders.find(({ path, specialUse }) =>
    sentMailbox === undefined ? specialUse === "\\Sent" : path === sentMailbox,
  );
  return wanted?.path;
}
