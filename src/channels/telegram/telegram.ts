import type { Api } from "grammy";
import { z } from "zod";
import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";
import { sleep } from "../../util/async/sleep.js";
import type { Channel, ChannelContext, Publish, Receipt, ReceivedFile, ReceivedMessage } from "../channel.js";
import { Albums } from "./albums.js";
import { type GrammySignal, openApi, type TelegramClient, toGrammySignal } from "./api.js";
import { download, type TelegramFile, toReceivedFile } from "./files.js";
import { Intake } from "./intake.js";
import { Parking } from "./parked.js";
import type { TelegramPress } from "./press.js";
import { Receiving } from "./receiving.js";
import { editMarkdown, sendFile, sendMarkdown } from "./send.js";
import { telegramShape } from "./shape.js";
import { fileError, pollError, sendError } from "./telegram-error.js";
import type { BotIdentity } from "./update.js";
import { openWebhook, type WebhookOptions } from "./webhook.js";

export interface TelegramOptions {
  /** The bot's token, as @BotFather shows it. */
  readonly token: string;
  /** Default `https://api.telegram.org`. */
  readonly apiRoot?: string | undefined;
  /** `http://`, `https://` or `socks5://`, with `user:password@` where it is needed. */
  readonly proxy?: string | undefined;
  /** Telegram brings updates to this address, in the place of being asked for them. */
  readonly webhook?: WebhookOptions | undefined;
  readonly pollTimeoutSeconds?: number | undefined;
  /** Shown in Telegram's command menu. */
  readonly commands?: readonly { readonly command: string; readonly description: string }[] | undefined;
  /** Waited beyond `pollTimeoutSeconds` before a poll counts as stalled. */
  readonly pollGraceMs?: number | undefined;
  readonly busyRetryMs?: number | undefined;
  /** An update that is not finished after this is parked, so that those behind it are heard. Default 1000. */
  readonly parkAfterMs?: number | undefined;
  readonly log: Logger;
}

/** Telegram's limit for what is told of a press. */
const longestToast = 200;
/** Telegram shows the sign for 5 seconds. */
const typingIntervalMs = 4500;
/** About what Telegram allows in one chat for long; it says so when it is less. */
const liveEditMs = 1000;
/** A poll and its grace take 45 s at most, a look at the webhook comes every 60 s. */
const longestSilenceMs = 110_000;
/** The parts of an album come within moments of each other. */
const albumMs = 500;
/** While an album is held, a look for more of it. */
const albumLookMs = 200;
const webhookLookMs = 60_000;
/** Telegram waits for about a minute. */
const webhookAnswerMs = 45_000;
const updateKinds = ["message", "edited_message", "callback_query"] as const;
const anyUpdate = z.looseObject({ update_id: z.number().int() });
const shortCallMs = 15_000;
/** After a lost connection a message whose file is slow to come holds up the next one no longer than this. */
const closeMs = 1000;
/** A notice that Telegram asks to send later is tried so often. */
const noticeTries = 3;

/**
 * Telegram by long polling or a webhook. An update is confirmed only after it is durable: grammY's own polling confirms earlier,
 * so that the loop is ours.
 */
export function createTelegramChannel(options: TelegramOptions, context: ChannelContext): Channel {
  const { log, pollTimeoutSeconds = 30, pollGraceMs = 15_000, busyRetryMs = 1000, parkAfterMs = 1000 } = options;
  const { sendTimeoutMs = 30_000 } = context;
  let opened: Promise<TelegramClient> | undefined;
  let resumeAt: number | undefined;
  const asides = new Set<Promise<void>>();
  /** Nobody waits for it but the end. `work` never rejects. */
  const aside = (work: Promise<void>): void => {
    const doing = work.finally(() => asides.delete(doing));
    asides.add(doing);
  };
  const open = (): Promise<TelegramClient> => {
    opened ??= openApi(options);
    return opened;
  };

  /** One call with a time limit of its own. */
  async function call<T>(
    ms: number,
    signal: AbortSignal,
    work: (api: Api, signal: GrammySignal) => Promise<T>,
    toFailure: (error: unknown, timedOut: boolean) => ChannelError = pollError,
  ): Promise<T> {
    const { api } = await open();
    using scope = linked(signal, ms);
    try {
      return await work(api, toGrammySignal(scope.signal));
    } catch (error) {
      throw signal.aborted ? error : toFailure(error, scope.signal.aborted);
    }
  }

  async function identify(signal: AbortSignal): Promise<BotIdentity> {
    const me = await call(shortCallMs, signal, (api, limit) => api.getMe(limit));
    return { id: me.id, username: me.username };
  }

  async function showCommands(signal: AbortSignal): Promise<void> {
    const { commands } = options;
    if (commands === undefined) return;
    try {
      await call(shortCallMs, signal, (api, limit) => api.setMyCommands([...commands], {}, limit));
    } catch (error) {
      log.debug("Telegram's command menu was not set", { error: messageOf(error) });
    }
  }

  /** Telegram shows a clock on the button until it is told something, for which nothing else waits. */
  async function takePress({ callbackId, press }: TelegramPress, signal: AbortSignal): Promise<void> {
    const outcome = await context.press?.(press);
    if (outcome === undefined || signal.aborted) return;
    const told = { text: outcome.text.slice(0, longestToast), show_alert: outcome.status !== "taken" };
    const telling = call(shortCallMs, signal, (api, limit) => api.answerCallbackQuery(callbackId, told, limit));
    aside(
      telling.then(
        () => undefined,
        (error: unknown) => {
          if (!signal.aborted) log.debug("a press was not confirmed on Telegram", { error: messageOf(error) });
        },
      ),
    );
  }

  function toFile(file: TelegramFile): ReceivedFile {
    return toReceivedFile(file, async (fileId, maxBytes, signal) => {
      const found = await call(shortCallMs, signal, (api, limit) => api.getFile(fileId, limit), fileError);
      if (found.file_path === undefined) throw new ChannelError("Telegram does not give this file.");
      const { agent, fileAddress } = await open();
      return await download(fileAddress(found.file_path), agent, maxBytes, signal);
    });
  }

  async function poll(receiving: Receiving, timeout: number, signal: AbortSignal): Promise<void> {
    const offset = receiving.intake.beginPoll();
    const request = {
      limit: 100,
      timeout,
      allowed_updates: updateKinds,
      ...(offset === undefined ? {} : { offset }),
    };
    const updates = await call(timeout * 1000 + pollGraceMs, signal, (api, limit) => api.getUpdates(request, limit));
    receiving.albums.polled();
    for (const update of updates) receiving.take(update);
  }

  async function runPolling(receiving: Receiving, onConnected: () => void, signal: AbortSignal): Promise<void> {
    // Polling is refused while a webhook is set, which an earlier program may have left behind.
    await call(shortCallMs, signal, (api, limit) => api.deleteWebhook({}, limit));
    // The first poll answers at once, so that it is known whether polling works.
    await poll(receiving, 0, signal);
    while (!signal.aborted) {
      onConnected();
      await receiving.intake.settledWithin(receiving.albums.isHolding ? albumLookMs : parkAfterMs);
      await receiving.intake.park();
      if (!signal.aborted) await poll(receiving, receiving.albums.isHolding ? 0 : pollTimeoutSeconds, signal);
    }
  }

  async function runWebhook(
    webhook: WebhookOptions,
    receiving: Receiving,
    onConnected: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    const take = async (update: unknown): Promise<boolean> => {
      const { success, data } = anyUpdate.safeParse(update);
      if (!success) return true;
      const { intake } = receiving;
      intake.beginPoll();
      receiving.take(data);
      if (await intake.isDoneWithin(data.update_id, parkAfterMs)) return true;
      // Telegram brings only so many at a time.
      await intake.park();
      return await intake.isDoneWithin(data.update_id, webhookAnswerMs);
    };
    await using _server = await openWebhook(webhook, take, log);
    const { url, secret } = webhook;
    const set = { secret_token: secret, allowed_updates: updateKinds };
    await call(shortCallMs, signal, (api, limit) => api.setWebhook(url, set, limit));
    while (!signal.aborted) {
      const info = await call(shortCallMs, signal, (api, limit) => api.getWebhookInfo(limit));
      if (info.url !== url)
        throw new ChannelError("Another program has taken this bot's webhook away. Stop it, or use a bot of its own.", {
          retryable: true,
        });
      const { last_error_message: trouble, last_error_date: at = 0, pending_update_count: waiting } = info;
      if (trouble !== undefined && waiting > 0 && Date.now() - at * 1000 < webhookLookMs)
        throw new ChannelError(`Telegram cannot reach channels.telegram.webhook.url (${trouble}).`, {
          retryable: true,
        });
      onConnected();
      await sleep(webhookLookMs, signal);
    }
  }

  /** Outside the outbound queue, for what nobody waits for: best effort. */
  async function tell(message: ReceivedMessage, text: string, signal: AbortSignal): Promise<void> {
    const { chatId, thread, platformMessageId: replyTo } = message;
    const notice = { chatId, thread, replyTo, content: text };
    for (let tries = 1; ; tries++) {
      try {
        return void (await call(shortCallMs, signal, (api, limit) => sendMarkdown(api, notice, limit)));
      } catch (error) {
        if (signal.aborted) return;
        const waitMs = error instanceof ChannelError && tries < noticeTries ? error.retryAfterMs : undefined;
        if (waitMs === undefined)
          return log.warn("a Telegram notice was not sent", { chatId, error: messageOf(error) });
        await sleep(waitMs, signal).catch(() => undefined);
      }
    }
  }

  return {
    name: "telegram",
    typingIntervalMs,
    ...telegramShape,
    liveEditMs,
    longestSilenceMs,

    async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
      using connected = linked(signal);
      let intake: Intake | undefined;
      try {
        const bot = await identify(signal);
        const cursorName = `telegram:${bot.id}:offset`;
        const startOffset = resumeAt ?? parseOffset(context.cursor(cursorName));
        const notify = (message: ReceivedMessage, text: string): void => {
          aside(tell(message, text, signal));
        };
        const { actsAtOnce } = context;
        const parking = new Parking(context.records, bot.id, log);
        const about = {
          publish,
          cursorName,
          startOffset,
          tell: notify,
          actsAtOnce,
          parking,
          parkAfterMs,
          busyRetryMs,
          log,
        };
        intake = new Intake(about, signal);
        const albums = new Albums(albumMs, connected.signal);
        const press = (one: TelegramPress): Promise<void> => takePress(one, signal);
        const receiving = new Receiving({ intake, albums, bot, toFile, takePress: press, log });
        receiving.restore(parking.load());
        aside(showCommands(signal));
        if (options.webhook === undefined) await runPolling(receiving, onConnected, signal);
        else await runWebhook(options.webhook, receiving, onConnected, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        // What is still being put together comes again, whole.
        connected.abort();
        resumeAt = (await intake?.close(signal.aborted ? undefined : closeMs)) ?? resumeAt;
        if (signal.aborted) await Promise.all(asides);
      }
    },

    async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
      const client = await open();
      if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
      const [file] = message.attachments;
      using scope = linked(signal, file === undefined ? sendTimeoutMs : sendTimeoutMs * 4);
      const limit = toGrammySignal(scope.signal);
      try {
        const platformMessageId = await (file === undefined
          ? sendMarkdown(client.api, message, limit)
          : sendFile(client, { ...message, file }, limit));
        return { platformMessageId };
      } catch (error) {
        throw sendError(error, signal.aborted ? "abort" : scope.signal.aborted ? "timeout" : undefined);
      }
    },

    async edit(message, signal): Promise<void> {
      const { api } = await open();
      using scope = linked(signal, sendTimeoutMs);
      try {
        await editMarkdown(api, message, toGrammySignal(scope.signal));
      } catch (error) {
        throw sendError(error, signal.aborted ? "abort" : scope.signal.aborted ? "timeout" : undefined);
      }
    },

    async showTyping(chatId: string, thread: string | undefined, signal: AbortSignal): Promise<void> {
      const where = thread === undefined ? {} : { message_thread_id: Number(thread) };
      await call(shortCallMs, signal, (api, limit) => api.sendChatAction(chatId, "typing", where, limit));
    },
  };
}

function parseOffset(cursor: string | undefined): number | undefined {
  const offset = Number(cursor);
  return cursor !== undefined && Number.isSafeInteger(offset) && offset > 0 ? offset : undefined;
}
