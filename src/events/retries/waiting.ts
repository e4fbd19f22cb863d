import { z } from "zod";

/** The records of the failed turns that wait for their provider. */
export const waitingRetries = "waiting_retries";

export interface WaitingTurn {
  readonly sessionKey: string;
  readonly turnId: string;
  /** Its name in the config. */
  readonly provider: string;
}

/** Unix ms. */
export interface RetryTimes {
  /** Not before. */
  readonly after: number;
  /** Not later. */
  readonly until: number;
  /** The provider answered, but not what it was asked: before this only another answer of its models says that it works again. */
  readonly blindAt?: number | undefined;
}

const names = z.tuple([z.string(), z.string(), z.string()]);
const times = z.object({ after: z.number(), until: z.number(), blindAt: z.number().optional() });

/** The record as a count: it is written together with the end of the turn, or not at all. */
export function waitingRetry({ sessionKey, turnId, provider }: WaitingTurn, { after, until, blindAt }: RetryTimes) {
  const add = { after, until, ...(blindAt === undefined ? {} : { blindAt }) };
  return { kind: waitingRetries, id: JSON.stringify([sessionKey, turnId, provider]), add };
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
