import { z } from "zod";
import { ChannelError } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { sleep } from "../../../util/async/sleep.js";
import { type Account, shortCallMs } from "../account.js";
import type { Receiving } from "./receiving.js";
import { openWebhook, type WebhookOptions } from "./webhook.js";

/** What both ways to get updates need. */
export interface Source {
  readonly account: Account;
  readonly receiving: Receiving;
  /** An update that is not finished after this is parked, so that those behind it are heard. */
  readonly parkAfterMs: number;
  readonly onConnected: () => void;
}

export interface PollTiming {
  readonly pollTimeoutSeconds: number;
  /** Waited beyond `pollTimeoutSeconds` before a poll counts as stalled. */
  readonly pollGraceMs: number;
}

const updateKinds = ["message", "edited_message", "callback_query"] as const;
const anyUpdate = z.looseObject({ update_id: z.number().int() });
/** While an album is held, a look for more of it. */
const albumLookMs = 200;
const webhookLookMs = 60_000;
/** Telegram waits for about a minute. */
const webhookAnswerMs = 45_000;

/** Asks for updates until `signal` aborts. @throws {ChannelError} */
export async function runPolling(source: Source, timing: PollTiming, signal: AbortSignal): Promise<void> {
  const { account, receiving, parkAfterMs, onConnected } = source;
  const { intake, albums } = receiving;
  // Polling is refused while a webhook is set, which an earlier program may have left behind.
  await account.call(shortCallMs, signal, (api, limit) => api.deleteWebhook({}, limit));
  // The first poll answers at once, so that it is known whether polling works.
  await poll(source, 0, timing, signal);
  while (!signal.aborted) {
    onConnected();
    receiving.restore();
    const beganAt = performance.now();
    await intake.settledWithin(albums.isHolding ? albumLookMs : parkAfterMs);
    await intake.park();
    // What is parked is settled too, so that an album out of the parking is waited for here.
    if (albums.isHolding) await sleep(Math.max(0, albumLookMs - (performance.now() - beganAt)), signal);
    if (!signal.aborted) await poll(source, albums.isHolding ? 0 : timing.pollTimeoutSeconds, timing, signal);
  }
}

async function poll(
  { account, receiving }: Source,
  timeout: number,
  { pollGraceMs }: PollTiming,
  signal: AbortSignal,
): Promise<void> {
  const offset = receiving.intake.beginPoll();
  const from = offset === undefined ? {} : { offset };
  const request = { limit: 100, timeout, allowed_updates: updateKinds, ...from };
  const updates = await account.call(timeout * 1000 + pollGraceMs, signal, (api, limit) =>
    api.getUpdates(request, limit),
  );
  receiving.albums.polled();
  for (const update of updates) receiving.take(update);
}

/** Telegram brings updates until `signal` aborts. @throws {ChannelError} */
export async function runWebhook(
  source: Source,
  webhook: WebhookOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { account, onConnected } = source;
  await using _server = await openWebhook(webhook, (update) => takeBrought(source, update), log);
  const { url, secret } = webhook;
  const set = { secret_token: secret, allowed_updates: updateKinds };
  await account.call(shortCallMs, signal, (api, limit) => api.setWebhook(url, set, limit));
  while (!signal.aborted) {
    await checkWebhook(account, url, signal);
    onConnected();
    source.receiving.restore();
    await sleep(webhookLookMs, signal);
  }
}

/** Whether the update may be confirmed: Telegram brings only so many at a time. */
async function takeBrought({ receiving, parkAfterMs }: Source, update: unknown): Promise<boolean> {
  const { success, data } = anyUpdate.safeParse(update);
  if (!success) return true;
  const { intake } = receiving;
  intake.beginPoll();
  receiving.take(data);
  if (await intake.isDoneWithin(data.update_id, parkAfterMs)) return true;
  await intake.park();
  return await intake.isDoneWithin(data.update_id, webhookAnswerMs);
}

async function checkWebhook(account: Account, url: string, signal: AbortSignal): Promise<void> {
  const info = await account.call(shortCallMs, signal, (api, limit) => api.getWebhookInfo(limit));
  if (info.url !== url)
    throw new ChannelError("Another program has taken this bot's webhook away. Stop it, or use a bot of its own.", {
      retryable: true,
    });
  const { last_error_message: trouble, last_error_date: at = 0, pending_update_count: waiting } = info;
  if (trouble !== undefined && waiting > 0 && Date.now() - at * 1000 < webhookLookMs)
    throw new ChannelError(`Telegram cannot reach channels.telegram.webhook.url (${trouble}).`, { retryable: true });
}
