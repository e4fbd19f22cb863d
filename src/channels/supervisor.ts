import { ChannelError, messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { linked } from "../util/linked.js";
import { sleep } from "../util/sleep.js";
import type { Channel, Publish } from "./channel.js";

/** What is known of a channel's connection. */
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
}

/** A run that does not end by then after an abort is left behind. */
const endMs = 10_000;

/**
 * Keeps a channel running until `signal` aborts: after a lost connection it is run again, later each time. A failure
 * that trying again cannot cure (a wrong token) leaves it disconnected. Never rejects, so that a failing channel harms
 * no other.
 */
export async function superviseChannel(
  channel: Channel,
  publish: Publish,
  options: SuperviseOptions,
  signal: AbortSignal,
): Promise<void> {
  const { onState, log, minDelayMs = 1000, maxDelayMs = 60_000, stableMs = 10_000, giveUpAfter = 10 } = options;
  onState("connecting", {});
  let attempt = 0;
  while (!signal.aborted) {
    let connectedAt: number | undefined;
    const failure = await runOnce(channel, publish, signal, () => {
      connectedAt ??= Date.now();
      onState("connected", {});
    });
    if (signal.aborted) break;
    const reason = messageOf(failure);
    if (failure instanceof ChannelError && !failure.retryable) {
      log.error(`${channel.name} is off: ${reason}`, { error: failure });
      onState("disconnected", { reason });
      return;
    }
    attempt = connectedAt !== undefined && Date.now() - connectedAt >= stableMs ? 1 : attempt + 1;
    const named = failure instanceof ChannelError ? (failure.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(named, jittered(Math.min(minDelayMs * 2 ** (attempt - 1), maxDelayMs)));
    log.warn(`${channel.name} lost its connection: ${reason}`, { attempt, delayMs, error: failure });
    onState(attempt >= giveUpAfter ? "disconnected" : "reconnecting", { attempt, delayMs, reason });
    await sleep(delayMs, signal).catch(() => undefined);
  }
  onState("disconnected", {});
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
    return watch.isSilent ? silence(channel) : new ChannelError("It stopped receiving without a reason.", again);
  } catch (error) {
    return watch.isSilent ? silence(channel) : error;
  }
}

const again = { retryable: true };

function silence({ longestSilenceMs = 0 }: Channel): ChannelError {
  return new ChannelError(`Nothing was heard for ${Math.round(longestSilenceMs / 1000)} s.`, again);
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

/** Between three quarters and all of it, so that many gateways do not come back at the same moment. */
function jittered(ms: number): number {
  return Math.round(ms * (0.75 + Math.random() * 0.25));
}
