import { messageOf } from "../errors.js";
import { sleep } from "../util/async/sleep.js";

/** A gateway that answers for a home. */
export interface Answering {
  readonly pid: number;
  readonly version: string;
  /** It takes messages. */
  readonly isReady: boolean;
}

/** The gateway of a home, as it is asked and started again. */
export interface GatewayPort {
  /** What answers now; undefined while nothing does. */
  look(): Promise<Answering | undefined>;
  /** Ends the gateway and starts it again. Absent where that is not for us to do. */
  readonly restart: (() => Promise<void>) | undefined;
}

const pauseMs = 250;

/**
 * Starts the gateway again, and waits until the one that runs says itself that it is of `version` and ready. Undefined: it is; else
 * why not, as the end of a sentence.
 */
export async function restartAs(
  version: string,
  { look, restart }: GatewayPort,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const before = await look().catch(() => undefined);
  try {
    await restart?.();
  } catch (error) {
    return `it could not be started: ${messageOf(error)}`;
  }
  let why = "nothing answers";
  for (const endAt = performance.now() + limitMs; performance.now() < endAt; ) {
    try {
      const now = await look();
      if (now === undefined) why = "nothing answers";
      else if (now.pid === before?.pid) why = `the old gateway (pid ${now.pid}) still runs`;
      else if (now.version !== version) why = `a gateway of version ${now.version} answers`;
      else if (!now.isReady) why = "it answers, but takes no messages";
      else return undefined;
    } catch (error) {
      why = messageOf(error);
    }
    await sleep(pauseMs, signal);
  }
  return `${why}, after ${Math.round(limitMs / 1000)} s`;
}
