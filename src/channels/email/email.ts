import { ChannelError, messageOf } from "../../errors.js";
import { sleep } from "../../util/async/sleep.js";
import type { Channel, ChannelContext, ChannelRecords, Publish, ReceivedMessage } from "../channel.js";
import { accountOf, type EmailOptions } from "./options.js";
import { createKnownMails } from "./receiving/known.js";
import { createPositions } from "./receiving/positions.js";
import { receive } from "./receiving/receive.js";
import { createHourlyCap } from "./sending/hourly-cap.js";
import { createSend } from "./sending/send.js";

/** A notice waits in no queue. */
const noticeAttempts = 3;
const noticeRetryMs = 2000;
const dayMs = 24 * 3600 * 1000;
/** Servers commonly take 25 MB, and files grow by a third on their way. */
const maxFileBytes = 18 * 1024 * 1024;

/**
 * A mailbox by IMAP and SMTP. Each sender is a chat, and each thread of theirs a conversation. A mail stays in the
 * mailbox whatever happens: what is stored here is up to where it has been read.
 */
export function createEmailChannel(options: EmailOptions, context: ChannelContext): Channel {
  const records = context.records ?? createMemoryRecords();
  const known = createKnownMails(records, Date.now);
  const positions = createPositions(accountOf(options.imap), context, records);
  const hourly = createHourlyCap(options.receiving.hourlyPerSender);
  const sending = { ...options.sending, timeoutMs: options.sending.timeoutMs ?? context.sendTimeoutMs };
  const send = createSend({ ...options, sending }, known);
  const { log } = options;
  const openedAt = new Date();

  return {
    name: "email",
    patienceMs: dayMs,
    files: "together",
    maxFileBytes,
    namesAnswered: true,

    async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
      const tell = async ({ chatId, thread, platformMessageId }: ReceivedMessage, content: string): Promise<void> => {
        const id = `notice:${platformMessageId}:${content}`;
        const notice = { id, chatId, thread, replyTo: platformMessageId, content, attachments: [] };
        for (let attempt = 1; !signal.aborted; attempt++) {
          try {
            await send(notice, signal);
            return;
          } catch (error) {
            const isWorthIt = error instanceof ChannelError && error.retryable && attempt < noticeAttempts;
            if (!signal.aborted) log.warn(`a notice was not sent: ${messageOf(error)}`, { chatId, attempt });
            if (!isWorthIt) return;
            await sleep(noticeRetryMs, signal).catch(() => undefined);
          }
        }
      };
      try {
        await known.forgetOld();
        const { actsAtOnce } = context;
        await receive({ options, known, positions, hourly, tell, publish, actsAtOnce, onConnected, openedAt }, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },

    split: (content) => (content.trim() === "" ? [] : [content]),
    send: (message, signal) => send(message, signal),
    forget: (chatId, thread) => known.forget(chatId, thread),
  };
}

/** For a channel that is used without a gateway. */
function createMemoryRecords(): ChannelRecords {
  const records = new Map<string, unknown>();
  return {
    get: (id) => records.get(id),
    put: async (id, value) => void records.set(id, value),
    delete: async (id) => void records.delete(id),
    list: () => [...records].map(([id, value]) => ({ id, value })),
  };
}
