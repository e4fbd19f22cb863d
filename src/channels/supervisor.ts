import { ChannelError, messageOf } from "../errors.js";
import type { Logger } from "../log.js";
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
  /** Called at each change, and again with each failed try. Must not throw. */
  readonly onState: (state: ChannelConnection, detail: ConnectionDetail) => void;
  readonly log: Logger;
  /** First wait after a failure; doubled with each further one. Default 1000. */
  readonly minDelayMs?: number;
  /** Default 60,000. */
  readonly maxDelayMs?: number;
  /** A connection that held this long ends the row of failures. Default 10,000. */
  readonly stableMs?: number;
}

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
  const { onState, log, minDelayMs = 1000, maxDelayMs = 60_000, stableMs = 10_000 } = options;
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
    onState("reconnecting", { attempt, delayMs, reason });
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
  try {
    await channel.run(publish, onConnected, signal);
    return new ChannelError("It stopped receiving without a reason.", { retryable: true });
  } catch (error) {
    return error;
  }
}

/** Between three quarters and all of it, so that many gateways do not come back at the same moment. */
function jittered(ms: number): number {
  return Math.round(ms * (0.75 + Math.random() * 0.25));
}
