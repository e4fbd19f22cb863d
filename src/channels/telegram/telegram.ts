import type { Api } from "grammy";
import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/linked.js";
import type { Channel, ChannelContext, Publish, Receipt, ReceivedMessage } from "../channel.js";
import { splitMarkdown } from "../formatting/split.js";
import { telegramLength } from "../formatting/telegram-html.js";
import { type GrammySignal, openApi, toGrammySignal } from "./api.js";
import { Intake } from "./intake.js";
import { parsePress, type TelegramPress } from "./press.js";
import { editMarkdown, sendMarkdown } from "./send.js";
import { pollError, sendError } from "./telegram-error.js";
import { type BotIdentity, parseUpdate } from "./update.js";

export interface TelegramOptions {
  /** The bot's token, as @BotFather shows it. */
  readonly token: string;
  /** Default `https://api.telegram.org`. */
  readonly apiRoot?: string | undefined;
  /** `http://`, `https://` or `socks5://`, with `user:password@` where it is needed. */
  readonly proxy?: string | undefined;
  readonly pollTimeoutSeconds?: number | undefined;
  /** Shown in Telegram's command menu. */
  readonly commands?: readonly { readonly command: string; readonly description: string }[] | undefined;
  /** Waited beyond `pollTimeoutSeconds` before a poll counts as stalled. */
  readonly pollGraceMs?: number | undefined;
  readonly sendTimeoutMs?: number | undefined;
  readonly busyRetryMs?: number | undefined;
  readonly log: Logger;
}

/** Telegram's limit, in characters after entity parsing. */
const longestMessage = 4096;
/** Telegram allows a hundred; nobody reads as many. */
const maxButtons = 12;
/** Telegram's limit for what is told of a press. */
const longestToast = 200;
/** Telegram shows the sign for 5 seconds. */
const typingIntervalMs = 4500;
/** A poll goes out again after this even if some chat is stuck, so that the others are heard. */
const stuckChatMs = 1000;
const shortCallMs = 15_000;

/**
 * Telegram by long polling. An update is confirmed only after it is durable: grammY's own polling confirms earlier,
 * so that the loop is ours.
 */
export function createTelegramChannel(options: TelegramOptions, context: ChannelContext): Channel {
  const { log, pollTimeoutSeconds = 30, pollGraceMs = 15_000, sendTimeoutMs = 30_000, busyRetryMs = 1000 } = options;
  let opened: Promise<Api> | undefined;
  let resumeAt: number | undefined;
  const api = (): Promise<Api> => {
    opened ??= openApi(options);
    return opened;
  };

  /** One call with a time limit of its own. */
  async function call<T>(
    ms: number,
    signal: AbortSignal,
    work: (api: Api, signal: GrammySignal) => Promise<T>,
  ): Promise<T> {
    const client = await api();
    using scope = linked(signal, ms);
    try {
      return await work(client, toGrammySignal(scope.signal));
    } catch (error) {
      throw signal.aborted ? error : pollError(error, scope.signal.aborted);
    }
  }

  async function identify(signal: AbortSignal): Promise<BotIdentity> {
    const me = await call(shortCallMs, signal, (client, limit) => client.getMe(limit));
    // Polling is refused while a webhook is set, which an earlier program may have left behind.
    await call(shortCallMs, signal, (client, limit) => client.deleteWebhook({}, limit));
    return { id: me.id, username: me.username };
  }

  async function showCommands(signal: AbortSignal): Promise<void> {
    const { commands } = options;
    if (commands === undefined) return;
    try {
      await call(shortCallMs, signal, (client, limit) => client.setMyCommands([...commands], {}, limit));
    } catch (error) {
      log.debug("Telegram's command menu was not set", { error: messageOf(error) });
    }
  }

  /** Telegram shows a clock on the button until it is told something. */
  async function takePress({ callbackId, press }: TelegramPress, signal: AbortSignal): Promise<void> {
    const outcome = await context.press?.(press);
    if (outcome === undefined || signal.aborted) return;
    const told = { text: outcome.text.slice(0, longestToast), show_alert: outcome.status !== "taken" };
    try {
      await call(shortCallMs, signal, (client, limit) => client.answerCallbackQuery(callbackId, told, limit));
    } catch (error) {
      if (!signal.aborted) log.debug("a press was not confirmed on Telegram", { error: messageOf(error) });
    }
  }

  async function poll(intake: Intake, bot: BotIdentity, timeout: number, signal: AbortSignal): Promise<void> {
    const offset = intake.beginPoll();
    const request = {
      limit: 100,
      timeout,
      allowed_updates: ["message", "callback_query"] as const,
      ...(offset === undefined ? {} : { offset }),
    };
    const updates = await call(timeout * 1000 + pollGraceMs, signal, (client, limit) =>
      client.getUpdates(request, limit),
    );
    for (const update of updates) {
      if (intake.has(update.update_id)) continue;
      const press = parsePress(update);
      if (press !== undefined) {
        intake.takeWork(update.update_id, () => takePress(press, signal));
        continue;
      }
      const parsed = parseUpdate(update, update.update_id, bot);
      if ("ignored" in parsed)
        log.debug(`a Telegram update was ignored: ${parsed.ignored}`, { updateId: update.update_id });
      intake.take(update.update_id, "message" in parsed ? parsed.message : undefined);
    }
  }

  /** Outside the outbound queue, for what nobody waits for: best effort. */
  async function tell(message: ReceivedMessage, text: string, signal: AbortSignal): Promise<void> {
    const { chatId, thread, platformMessageId: replyTo } = message;
    try {
      await call(shortCallMs, signal, (client, limit) =>
        sendMarkdown(client, { chatId, thread, replyTo, content: text }, limit),
      );
    } catch (error) {
      if (!signal.aborted) log.warn("a Telegram notice was not sent", { chatId, error: messageOf(error) });
    }
  }

  return {
    name: "telegram",
    typingIntervalMs,
    maxButtons,

    async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
      const told = new Set<Promise<void>>();
      let intake: Intake | undefined;
      try {
        const bot = await identify(signal);
        const cursorName = `telegram:${bot.id}:offset`;
        const startOffset = resumeAt ?? parseOffset(context.cursor(cursorName));
        const notify = (message: ReceivedMessage, text: string): void => {
          const telling = tell(message, text, signal).finally(() => told.delete(telling));
          told.add(telling);
        };
        intake = new Intake({ publish, cursorName, startOffset, tell: notify, busyRetryMs, log }, signal);
        // The first poll answers at once, so that it is known whether polling works.
        await poll(intake, bot, 0, signal);
        onConnected();
        const commands = showCommands(signal);
        told.add(commands);
        while (!signal.aborted) {
          await intake.settledWithin(stuckChatMs);
          if (!signal.aborted) await poll(intake, bot, pollTimeoutSeconds, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        resumeAt = (await intake?.close()) ?? resumeAt;
        await Promise.all(told);
      }
    },

    split: (content) => splitMarkdown(content, longestMessage, telegramLength),

    async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
      const client = await api();
      if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
      using scope = linked(signal, sendTimeoutMs);
      try {
        return { platformMessageId: await sendMarkdown(client, withFileNote(message), toGrammySignal(scope.signal)) };
      } catch (error) {
        throw sendError(error, signal.aborted ? "abort" : scope.signal.aborted ? "timeout" : undefined);
      }
    },

    async edit(message, signal): Promise<void> {
      const client = await api();
      using scope = linked(signal, sendTimeoutMs);
      try {
        await editMarkdown(client, message, toGrammySignal(scope.signal));
      } catch (error) {
        throw sendError(error, signal.aborted ? "abort" : scope.signal.aborted ? "timeout" : undefined);
      }
    },

    async showTyping(chatId: string, thread: string | undefined, signal: AbortSignal): Promise<void> {
      const where = thread === undefined ? {} : { message_thread_id: Number(thread) };
      await call(shortCallMs, signal, (client, limit) => client.sendChatAction(chatId, "typing", where, limit));
    },
  };
}

function parseOffset(cursor: string | undefined): number | undefined {
  const offset = Number(cursor);
  return cursor !== undefined && Number.isSafeInteger(offset) && offset > 0 ? offset : undefined;
}

/** Files cannot be sent yet: the person is told their names. */
function withFileNote(message: OutboundMessage): OutboundMessage {
  if (message.attachments.length === 0) return message;
  const names = message.attachments.map((file) => file.filename).join(", ");
  const content = `${message.content}\n\n[not sent, because files on Telegram are not supported yet: ${names}]`;
  return telegramLength(content) > longestMessage ? message : { ...message, content };
}
