import { ChannelError, messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { backoffMs, jittered } from "../util/async/backoff.js";
import { linked } from "../util/async/linked.js";
import { sleep } from "../util/async/sleep.js";
import { statusSentence } from "../util/words/status-sentences.js";
import type { Channel, Publish } from "./channel.js";

/** What is known about a channel's connection. */
export type ChannelConnection = "connecting" | "connected" | "reconnecting" | "disconnected";

export interface ConnectionDetail {
  /** Failures in a row, from 1. */
  readonly attempt?: number;
  /** Until the next try. */
  readonly delayMs?: number;
  readonly reason?: string;
}

export interface SuperviseOptions {
  /** Called at each change, and again with each failed try and each proof of life. Must not throw. */
  readonly onState: (state: ChannelConnection, detail: ConnectionDetail) => void;
  readonly log: Logger;
  /** First wait after a failure; doubled with each further one. Default 1000. */
  readonly minDelayMs?: number;
  /** Default 60,000. */
  readonly maxDelayMs?: number;
  /** A connection that held this long ends the row of failures. Default 10,000. */
  readonly stableMs?: number;
  /** After so many failures in a row it counts as disconnected, and is only looked at once in `maxDelayMs`. Default 10. */
  readonly giveUpAfter?: number;
  /** A refusal that trying again should not cure counts as lasting after this. Default 180,000. */
  readonly lastingMs?: number;
  /** Between two looks at a channel that is refused for good. Default 300,000. */
  readonly slowDelayMs?: number;
}

/** A run that does not end by then after an abort is left behind. */
const endMs = 10_000;

/**
 * Keeps a channel running until `signal` aborts: after a lost connection it is run again, later each time. A platform may
 * refuse a token for a moment and take it again, so that a refusal (a wrong token) counts only when it lasts: the channel
 * is disconnected then, and still looked at now and then. Never rejects, so that a failing channel harms no other.
 */
export async function superviseChannel(
  channel: Channel,
  publish: Publish,
  options: SuperviseOptions,
  signal: AbortSignal,
): Promise<void> {
  const { onState, log, minDelayMs = 1000, maxDelayMs = 60_000, stableMs = 10_000, giveUpAfter = 10 } = options;
  const refusals = new Refusals(options);
  onState("connecting", {});
  let attempt = 0;
  while (!signal.aborted) {
    let connectedAt: number | undefined;
    const failure = await runOnce(channel, publish, signal, () => {
      connectedAt ??= Date.now();
      refusals.end();
      onState("connected", {});
    });
    if (signal.aborted) break;
    const reason = messageOf(failure);
    attempt = connectedAt !== undefined && Date.now() - connectedAt >= stableMs ? 1 : attempt + 1;
    const refusal = refusals.note(failure);
    const named = failure instanceof ChannelError ? (failure.retryAfterMs ?? 0) : 0;
    const waitMs = jittered(backoffMs(attempt, { firstMs: minDelayMs, longestMs: maxDelayMs }));
    const delayMs = Math.max(named, refusal.slowMs ?? waitMs);
    if (refusal.isFirst) log.error(`${channel.name} is refused: ${reason}`, { delayMs, error: failure });
    else log.warn(`${channel.name} lost its connection: ${reason}`, { attempt, delayMs, error: failure });
    onState(refusal.isOff || attempt >= giveUpAfter ? "disconnected" : "reconnecting", { attempt, delayMs, reason });
    await sleep(delayMs, signal).catch(() => undefined);
  }
  onState("disconnected", {});
}

/** The row of refusals since the channel was connected last. */
class Refusals {
  readonly #lastingMs: number;
  readonly #slowDelayMs: number;
  #since: number | undefined;
  #wasConnected = false;

  constructor({ lastingMs = 180_000, slowDelayMs = 300_000 }: SuperviseOptions) {
    this.#lastingMs = lastingMs;
    this.#slowDelayMs = slowDelayMs;
  }

  /** The channel is connected. */
  end(): void {
    this.#wasConnected = true;
    this.#since = undefined;
  }

  /** `slowMs`: the refusal lasts, so that the next look comes after this. A channel that never worked counts as off at once. */
  note(failure: unknown): { readonly isFirst: boolean; readonly isOff: boolean; readonly slowMs?: number } {
    if (!(failure instanceof ChannelError) || failure.retryable) return { isFirst: false, isOff: false };
    const isFirst = this.#since === undefined;
    this.#since ??= Date.now();
    const isLasting = Date.now() - this.#since >= this.#lastingMs;
    const isOff = isLasting || !this.#wasConnected;
    return isLasting ? { isFirst, isOff, slowMs: this.#slowDelayMs } : { isFirst, isOff };
  }
}

async function runOnce(
  channel: Channel,
  publish: Publish,
  signal: AbortSignal,
  onConnected: () => void,
): Promise<unknown> {
  using scope = linked(signal);
  using watch = watchSilence(channel.longestSilenceMs, () => scope.abort());
  const run = channel.run(
    publish,
    () => {
      if (scope.signal.aborted) return;
      watch.heard();
      onConnected();
    },
    scope.signal,
  );
  try {
    await Promise.race([run, leftBehind(scope.signal)]);
    return watch.isSilent ? silence(channel) : new ChannelError(statusSentence("stopped_receiving"), again);
  } catch (error) {
    return watch.isSilent ? silence(channel) : error;
  }
}

const again = { retryable: true };

function silence({ longestSilenceMs = 0 }: Channel): ChannelError {
  return new ChannelError(statusSentence("nothing_heard", { n: Math.round(longestSilenceMs / 1000) }), again);
}

/** Calls back when nothing has been heard for so long. */
function watchSilence(longestMs: number | undefined, onSilent: () => void) {
  const state = { isSilent: false };
  const begin = () =>
    longestMs === undefined
      ? undefined
      : setTimeout(() => {
          state.isSilent = true;
          onSilent();
        }, longestMs);
  let timer = begin();
  return {
    get isSilent(): boolean {
      return state.isSilent;
    },
    heard(): void {
      clearTimeout(timer);
      timer = begin();
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** Resolves some time after the abort: a run that hangs must not keep its channel from being run again. */
function leftBehind(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const onAbort = (): void => void setTimeout(resolve, endMs).unref();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
