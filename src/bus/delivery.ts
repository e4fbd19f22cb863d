import PQueue from "p-queue";
import type { Delivery, Engine } from "../engine/engine.js";
import { ChannelError, EngineError, messageOf } from "../errors.js";
import type { DeliveryStatus } from "../events/catalogue.js";
import { draft, type EventDraft, type StoredEvent } from "../events/event.js";
import type { SessionLives } from "../events/session-lives.js";
import type { Logger } from "../log.js";
import { backoffMs } from "../util/async/backoff.js";
import { sleep } from "../util/async/sleep.js";
import { statusSentence } from "../util/words/status-sentences.js";
import type { OutboundMessage } from "./messages.js";
import { type GrowingSender, type Previews, replacePreview } from "./previews.js";
import { refusedFile } from "./refused-file.js";
import { stageFiles } from "./staged-files.js";

/** The part of a channel that sends. */
export interface Sender extends GrowingSender {
  /** @throws {ChannelError} `refused` (nothing was shown) or `unknown` (it may have arrived) */
  send(message: OutboundMessage, signal: AbortSignal): Promise<{ readonly platformMessageId: string }>;
  /** Looks for what an earlier send may have shown. `since`: Unix ms at which it was queued. */
  find?(
    message: OutboundMessage,
    since: number,
    signal: AbortSignal,
  ): Promise<{ readonly platformMessageId: string } | undefined>;
}

export interface DeliveryOptions {
  readonly engine: Pick<Engine, "consume" | "events" | "lastSequence">;
  readonly channels: ReadonlyMap<string, Sender>;
  /** Replies that are there already, as far as they had grown. */
  readonly previews?: Pick<Previews, "take" | "forget"> | undefined;
  /** A send that is under way when its session is deleted is cut. */
  readonly lives?: Pick<SessionLives, "run" | "free"> | undefined;
  readonly log: Logger;
  /** Sends at the same time, per channel. Default 32. */
  readonly parallel?: number;
  /** Attempts that may have shown the message before it is buried. Default 8. */
  readonly maxAttempts?: number;
  /**
   * Attempts that showed nothing go on for this long, at least `maxAttempts` of them, so that an outage of hours loses
   * no reply. Default 24 h.
   */
  readonly keepTryingMs?: number;
  /** First wait after a failed attempt; doubled with each further one, up to 60 times this. Default 1000. */
  readonly retryDelayMs?: number | undefined;
  /** How long a send that is under way may still take, asked when `signal` aborts. Default 10,000. */
  readonly graceMs?: () => number;
}

/** Lanes at work at once. Those of a stuck channel wait here, and leave room for the others. */
const lanesAtWork = 1024;
/** Events older than the message by more than this need not be looked at. */
const clockSlackMs = 60_000;
/** Events at the end of a log: most messages were queued among them. And how many to read further back at a time. */
const firstLook = 16;
const furtherLook = 200;
const keepForChannelMs = 7 * 24 * 3600 * 1000;
const lookForRoomMs = 500;
/** Lanes without a channel leave their place to others this often. */
const parkMs = 60_000;

/** Sends what waits in the outbound queue through the channels, in order per chat, until `signal` aborts. */
export async function deliverOutbound(options: DeliveryOptions, signal: AbortSignal): Promise<void> {
  const { engine, graceMs = () => 10_000 } = options;
  const sending = new AbortController();
  let graceTimer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = (): void => {
    graceTimer = setTimeout(() => sending.abort(signal.reason), graceMs());
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const queues = new Map<string, PQueue>();
  const queueOf = (channel: string): PQueue => {
    const queue = queues.get(channel) ?? new PQueue({ concurrency: options.parallel ?? 32 });
    queues.set(channel, queue);
    return queue;
  };
  try {
    // The attempts are counted here, because those that showed nothing are not limited by their number alone.
    const limits = { parallel: lanesAtWork };
    await engine.consume(
      "outbound",
      limits,
      async (delivery) => {
        const { channel } = delivery.work.body;
        const sender = options.channels.get(channel);
        if (sender === undefined) return await keepForChannel(delivery, signal);
        await queueOf(channel).add(() =>
          signal.aborted ? delivery.release() : deliverInLife(delivery, sender, options, sending.signal),
        );
      },
      signal,
    );
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(graceTimer);
  }
}

/**
 * A mistake in the config must not cost a reply: it waits for its channel to come back, for a week. Waiting counts as
 * no attempt and names no time, so that the reply goes out as soon as a start finds the channel on again.
 */
async function keepForChannel(delivery: Delivery<"outbound">, signal: AbortSignal): Promise<void> {
  const { channel } = delivery.work.body;
  const reason = statusSentence("channel_gone", { name: channel });
  if (Date.now() - delivery.work.acceptedAt < keepForChannelMs) {
    await sleep(parkMs, signal).catch(() => undefined);
    return await delivery.release();
  }
  await delivery.bury({ reason, emit: [], events: [change(delivery, "dead_letter", false, { error: reason })] });
}

async function deliverInLife(
  delivery: Delivery<"outbound">,
  sender: Sender,
  options: DeliveryOptions,
  sending: AbortSignal,
): Promise<void> {
  const { lives } = options;
  const { sessionKey } = delivery.work;
  if (lives === undefined) return await deliver(delivery, sender, options, sending);
  // Afterwards the delivery is fenced.
  await lives.free(sessionKey);
  await lives.run(sessionKey, (signal) => deliver(delivery, sender, options, signal), sending);
}

async function deliver(
  delivery: Delivery<"outbound">,
  sender: Sender,
  options: DeliveryOptions,
  sending: AbortSignal,
): Promise<void> {
  const { log, maxAttempts = 8 } = options;
  // Most are sent at the first attempt, and nothing in the log tells about another one.
  const unclear = delivery.isFirst ? 0 : await countUnclear(delivery, options.engine);
  if (delivery.exhausted || unclear >= maxAttempts) {
    return bury(delivery, options, unclear, "It may have been sent several times, and no attempt was confirmed.");
  }
  const [begun] = await delivery.append([change(delivery, "sending", unclear > 0)], { durable: false });
  try {
    const receipt = await show(delivery.work, unclear > 0, sender, options.previews, sending);
    const detail = { platform_message_id: receipt.platformMessageId };
    const sent = change(delivery, "sent", unclear > 0, detail, begun?.event_id);
    await onceThereIsRoom(() => delivery.commit({ events: [sent], emit: [] }), sending);
    await options.previews?.forget(delivery.work.id);
  } catch (error) {
    if (!(error instanceof ChannelError)) throw error;
    log.warn("an outbound message was not sent", {
      outboundId: delivery.work.id,
      attempt: delivery.attempt,
      outcome: error.outcome,
      error: error.message,
    });
    const before = { unclear, begunAs: begun?.event_id };
    await onceThereIsRoom(() => settleFailure(delivery, error, before, options), sending);
  }
}

/** What happened to a send is known: a disk that is full makes it wait, and nothing is sent again for it. */
async function onceThereIsRoom(store: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await store();
      return;
    } catch (error) {
      const isFull = error instanceof EngineError && error.kind === "persistence" && error.retryable;
      if (!isFull) throw error;
      await sleep(lookForRoomMs, signal);
    }
  }
}

/** Instead of its preview, where one is; else as a message of its own, unless an earlier attempt has shown it. */
async function show(
  { body, acceptedAt }: Delivery<"outbound">["work"],
  mayStand: boolean,
  sender: Sender,
  previews: DeliveryOptions["previews"],
  signal: AbortSignal,
): Promise<{ readonly platformMessageId: string }> {
  const platformMessageId = await previews?.take(body.id);
  await using staged = await stageFiles(body);
  const { message } = staged;
  const found =
    mayStand && platformMessageId === undefined ? await lookFor(message, acceptedAt, sender, signal) : undefined;
  if (found !== undefined) return found;
  if (platformMessageId === undefined) return await sender.send(message, signal);
  if (await replacePreview(sender, message, platformMessageId, signal)) return { platformMessageId };
  return await sender.send(message, signal);
}

/** Looking shows nothing: that it fails leaves what is known as it was. */
async function lookFor(message: OutboundMessage, since: number, sender: Sender, signal: AbortSignal) {
  try {
    return await sender.find?.(message, since, signal);
  } catch (error) {
    if (!(error instanceof ChannelError)) throw error;
    const { retryAfterMs } = error;
    throw new ChannelError(error.message, { outcome: "refused", retryable: true, retryAfterMs, cause: error });
  }
}

async function settleFailure(
  delivery: Delivery<"outbound">,
  failure: ChannelError,
  before: { readonly unclear: number; readonly begunAs: string | undefined },
  options: DeliveryOptions,
): Promise<void> {
  const { maxAttempts = 8, keepTryingMs = 24 * 3600 * 1000, retryDelayMs = 1000 } = options;
  const error = messageOf(failure);
  const isUnknown = failure.outcome === "unknown";
  const unclear = before.unclear + (isUnknown ? 1 : 0);
  if (!isUnknown && !failure.retryable) {
    const refused = change(delivery, "refused", unclear > 0, { error }, before.begunAs);
    const notice = refusedFile(delivery.work.body, failure, refused.event_id);
    await delivery.bury({ reason: error, emit: notice.emit, events: [refused, ...notice.events] });
    await options.previews?.forget(delivery.work.id);
    return;
  }
  const failed = change(delivery, isUnknown ? "unknown" : "retrying", unclear > 0, { error }, before.begunAs);
  const isOld = delivery.attempt >= maxAttempts && Date.now() - delivery.work.acceptedAt >= keepTryingMs;
  if (unclear >= maxAttempts || isOld) return bury(delivery, options, unclear, error, [failed]);
  const longestMs = retryDelayMs * (delivery.attempt > maxAttempts ? 300 : 60);
  const waitMs = backoffMs(delivery.attempt, { firstMs: retryDelayMs, longestMs });
  await delivery.retry({ reason: error, delayMs: failure.retryAfterMs ?? waitMs, events: [failed] });
}

async function bury(
  delivery: Delivery<"outbound">,
  { previews }: DeliveryOptions,
  unclear: number,
  reason: string,
  before: readonly EventDraft[] = [],
): Promise<void> {
  const dead = change(delivery, "dead_letter", unclear > 0, { error: reason }, before.at(-1)?.event_id);
  await delivery.bury({ reason, emit: [], events: [...before, dead] });
  await previews?.forget(delivery.work.id);
}

/**
 * How many earlier attempts may have shown the message: their end is unknown, or they were under way at a crash. The
 * log is read backwards to where the message was queued or buried. Attempts that could not be stored are not counted as
 * such, but their beginning may be in the log.
 */
async function countUnclear(
  delivery: Delivery<"outbound">,
  engine: Pick<Engine, "events" | "lastSequence">,
): Promise<number> {
  const { id, sessionKey, acceptedAt, mayHaveBegun = false } = delivery.work;
  let page = firstLook;
  let unclear = 0;
  // What a log cannot rule out counts as one.
  let least = mayHaveBegun ? 1 : 0;
  let hasEnd = false;
  let before = (await engine.lastSequence(sessionKey)) + 1;
  while (before > 1) {
    const afterSeq = Math.max(before - 1 - page, 0);
    const events = await readPart(engine, sessionKey, { afterSeq, limit: before - 1 - afterSeq });
    if (events === undefined) return Math.max(unclear, least, delivery.attempt > 1 ? 1 : 0);
    for (const event of events.toReversed()) {
      if (event.type !== "outbound_delivery_changed" || event.payload.outbound_id !== id) continue;
      const { status, maybe_duplicate: mayRepeat } = event.payload;
      // A dead letter that was sent for again begins again.
      if (status === "queued" || status === "dead_letter" || status === "refused") return Math.max(unclear, least);
      if (mayRepeat === true) least = 1;
      if (status === "unknown" || (status === "sending" && !hasEnd)) unclear += 1;
      hasEnd = status !== "sending";
    }
    const oldest = events[0];
    if (oldest === undefined || Date.parse(oldest.timestamp) < acceptedAt - clockSlackMs) break;
    before = oldest.seq;
    page = furtherLook;
  }
  return Math.max(unclear, least);
}

/** Undefined where the log is damaged: that a chat's past cannot be read must not keep it from being told so. */
async function readPart(
  engine: Pick<Engine, "events">,
  sessionKey: string,
  range: { readonly afterSeq: number; readonly limit: number },
): Promise<readonly StoredEvent[] | undefined> {
  try {
    return (await engine.events(sessionKey, range)).events;
  } catch (error) {
    if (error instanceof EngineError && error.kind === "corrupt") return undefined;
    throw error;
  }
}

function change(
  delivery: Delivery<"outbound">,
  status: DeliveryStatus,
  mayRepeat: boolean,
  detail: { readonly platform_message_id?: string; readonly error?: string } = {},
  causedBy?: string,
): EventDraft {
  const { id, body } = delivery.work;
  const causationId = causedBy ?? body.queuedEventId;
  return draft(
    "outbound_delivery_changed",
    {
      outbound_id: id,
      channel: body.channel,
      chat_id: body.chatId,
      status,
      attempt: delivery.attempt,
      ...(mayRepeat ? { maybe_duplicate: true } : {}),
      ...detail,
    },
    {
      source: `channel:${body.channel}`,
      ...(body.turnId === undefined ? {} : { turn_id: body.turnId }),
      ...(body.correlationId === undefined ? {} : { correlation_id: body.correlationId }),
      ...(causationId === undefined ? {} : { causation_id: causationId }),
    },
  );
}
