import { type Client, ProtocolError, SdkError } from "@modelcontextprotocol/client";
import { sleep } from "../../util/async/sleep.js";
import type { McpLimits } from "../settings.js";

interface Followed {
  readonly client: Client;
  close(): Promise<void>;
}

interface FollowOptions {
  readonly limits: McpLimits;
  readonly onChanged: () => void;
  /** The connection is over. */
  readonly signal: AbortSignal;
}

/**
 * Listens for changed tools where the server says so only to a client that asks to hear it (2026-07-28). A stream that is cut
 * is asked for again, with growing pauses; what was changed meanwhile may have been missed. A server that does not give
 * it any more is gone; one that refuses it from the beginning is used without. Never rejects.
 */
export async function followChanges(followed: Followed, { limits, onChanged, signal }: FollowOptions): Promise<void> {
  let pauseMs = limits.minDelayMs;
  for (let opened = 0; !signal.aborted; opened++) {
    const from = performance.now();
    try {
      const stream = await followed.client.listen({ toolsListChanged: true }, { timeout: limits.listMs, signal });
      if (opened > 0) onChanged();
      await stream.closed;
    } catch (error) {
      const isRefused = opened === 0 && (error instanceof ProtocolError || error instanceof SdkError);
      if (!isRefused && !signal.aborted) await followed.close();
      return;
    }
    pauseMs =
      performance.now() - from >= limits.stableMs ? limits.minDelayMs : Math.min(pauseMs * 2, limits.maxDelayMs);
    await sleep(pauseMs, signal).catch(() => undefined);
  }
}
