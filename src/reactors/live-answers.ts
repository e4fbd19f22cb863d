import type { OutboundMessage } from "../bus/messages.js";
import { ChannelError, messageOf } from "../errors.js";
import { channelOf } from "../events/session-key.js";
import type { Unsubscribe } from "../events/system-bus.js";
import type { Logger } from "../log.js";
import { sleep } from "../util/async/sleep.js";
import type { Reactor } from "./reactor.js";

export interface LiveAnswersOptions {
  readonly channels: ReadonlyMap<string, { readonly liveEditMs?: number }>;
  readonly previews: {
    show(message: OutboundMessage, signal: AbortSignal): Promise<void>;
    forget(outboundId: string): Promise<void>;
  };
  /** The first platform message of this turn's reply if the text were all of it; undefined where none is due. */
  readonly firstPiece: (
    sessionKey: string,
    messageId: string,
    turnId: string,
    text: string,
  ) => OutboundMessage | undefined;
  readonly log: Logger;
  /** From the first word to its showing: an answer that is over by then is sent as a whole. Default 300. */
  readonly firstMs?: number;
}

interface Live {
  readonly turnId: string;
  readonly messageId: string;
  readonly stop: AbortController;
  readonly everyMs: number;
  /** Of the model's present message. */
  text: string;
  isFresh: boolean;
  isRunning: boolean;
  hasReply: boolean;
}

/** Slower by this, at most, after the platform has asked for it. */
const mostSlowdown = 8;
const over = new DOMException("The turn is over", "AbortError");

/** Shows answers while they grow, on channels that can edit. Only decorates: the reply's own send has the last word. */
export function createLiveAnswersReactor(options: LiveAnswersOptions): Reactor {
  const { channels, previews, firstPiece, log, firstMs = 300 } = options;
  const turns = new Map<string, Live>();
  const subscriptions: Unsubscribe[] = [];
  // What is on its way when the turn ends is not cut: then nobody would know whether it stands there.
  const { signal: unhurried } = new AbortController();

  async function run(sessionKey: string, live: Live): Promise<void> {
    const { signal } = live.stop;
    let waitMs = firstMs;
    let slowdown = 1;
    let shown = "";
    try {
      while (!signal.aborted) {
        await sleep(waitMs, signal);
        waitMs = live.everyMs * slowdown;
        if (live.text === "" || live.text === shown) break;
        const { text } = live;
        const message = firstPiece(sessionKey, live.messageId, live.turnId, text);
        if (message === undefined) return;
        try {
          await previews.show(message, unhurried);
          shown = text;
        } catch (error) {
          if (!(error instanceof ChannelError)) throw error;
          // The words stay for the next look, which comes later from now on.
          slowdown = Math.min(slowdown * 2, mostSlowdown);
          waitMs = Math.max(live.everyMs * slowdown, error.retryAfterMs ?? 0);
        }
      }
    } catch (error) {
      if (!signal.aborted) log.debug(`a growing answer was not shown: ${messageOf(error)}`, { session: sessionKey });
    } finally {
      live.isRunning = false;
    }
  }

  function end(sessionKey: string): void {
    const live = turns.get(sessionKey);
    turns.delete(sessionKey);
    live?.stop.abort(over);
    if (live !== undefined && !live.hasReply) void previews.forget(`${live.turnId}#1`);
  }

  /** Something of the turn comes below what was shown: an answer that went on above it would be overlooked. */
  function settle(sessionKey: string): void {
    const live = turns.get(sessionKey);
    if (live === undefined) return;
    live.text = "";
    live.isFresh = true;
    void previews.forget(`${live.turnId}#1`);
  }

  return {
    name: "live",
    start(bus) {
      subscriptions.push(
        bus.on("turn_execution_start", ({ session_key: key, turn_id: turnId, payload }) => {
          end(key);
          const everyMs = channels.get(channelOf(key))?.liveEditMs;
          const [messageId] = payload.message_ids;
          if (everyMs === undefined || turnId === undefined || messageId === undefined) return;
          const stop = new AbortController();
          const fresh = { text: "", isFresh: true, isRunning: false, hasReply: false };
          turns.set(key, { turnId, messageId, stop, everyMs, ...fresh });
        }),
        bus.on("message_stream_start", ({ session_key: key }) => {
          const live = turns.get(key);
          if (live !== undefined) live.isFresh = true;
        }),
        bus.on("text_delta", ({ session_key: key, payload }) => {
          const live = turns.get(key);
          if (live === undefined) return;
          live.text = live.isFresh ? payload.text : live.text + payload.text;
          live.isFresh = false;
          if (live.isRunning) return;
          live.isRunning = true;
          void run(key, live);
        }),
        bus.on("outbound_delivery_changed", ({ session_key: key, turn_id: turnId, payload }) => {
          const live = turns.get(key);
          if (live === undefined || payload.status !== "queued" || live.turnId !== turnId) return;
          if (payload.outbound_id === `${turnId}#1`) live.hasReply = true;
          else if (!live.hasReply && !payload.outbound_id.startsWith(`${turnId}-n`)) settle(key);
        }),
        bus.on(["turn_execution_complete", "turn_execution_failed", "turn_execution_cancelled"], (event) =>
          end(event.session_key),
        ),
        bus.on("session_state_changed", ({ session_key: key, payload }) => {
          if (payload.to === "deleted") end(key);
        }),
      );
    },
    stop() {
      for (const unsubscribe of subscriptions.splice(0)) unsubscribe();
      for (const live of turns.values()) live.stop.abort(over);
      turns.clear();
    },
  };
}
