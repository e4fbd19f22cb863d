import { z } from "zod";

/** The records of the failed turns that wait for their provider. */
export const waitingRetries = "waiting_retries";

export interface WaitingTurn {
  readonly sessionKey: string;
  readonly turnId: string;
  /** Its name in the config. */
  readonly provider: string;
}

/** Unix ms: not before, and not later. */
export interface RetryTimes {
  readonly after: number;
  readonly until: number;
}

const names = z.tuple([z.string(), z.string(), z.string()]);
const times = z.object({ after: z.number(), until: z.number() });

/** The record as a count: it is written together with the end of the turn, or not at all. */
export function waitingRetry({ sessionKey, turnId, provider }: WaitingTurn, { after, until }: RetryTimes) {
  return { kind: waitingRetries, id: JSON.stringify([sessionKey, turnId, provider]), add: { after, until } };
}

/** Undefined for what this version does not understand. */
export function readWaitingRetry(id: string, value: unknown): (WaitingTurn & RetryTimes) | undefined {
  const named = names.safeParse(parsed(id));
  const timed = times.safeParse(value);
  if (!named.success || !timed.success) return undefined;
  const [sessionKey, turnId, provider] = named.data;
  return { sessionKey, turnId, provider, ...timed.data };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Written by another version.
    return undefined;
  }
}
