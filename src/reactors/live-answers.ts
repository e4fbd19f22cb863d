import type { OutboundMessage } from "../bus/messages.js";
import { ChannelError, messageOf } from "../errors.js";
import type { EventsOf, Unsubscribe } from "../events/bus/system-bus.js";
import type { EventOf } from "../events/event.js";
import { channelOf } from "../events/session-key.js";
import type { Logger } from "../log.js";
import { backoffMs } from "../util/async/backoff.js";
import { QuickAbort } from "../util/async/on-abort.js";
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
  ) => Promise<OutboundMessage | undefined>;
  readonly log: Logger;
  /** From the first word to its showing: an answer that is over by then is sent as a whole. Default 300. */
  readonly firstMs?: number;
}

interface Live {
  readonly turnId: string;
  readonly messageId: string;
  readonly stop: QuickAbort;
  readonly unsubscribe: Unsubscribe;
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
  return new LiveAnswers(options);
}

class LiveAnswers implements Reactor {
  readonly name = "live";
  readonly #options: LiveAnswersOptions;
  /** By session, of turns whose channel can show them. */
  readonly #turns = new Map<string, Live>();
  readonly #subscriptions: Unsubscribe[] = [];
  // What is on its way when the turn ends is not cut: then nobody would know whether it is there.
  readonly #unhurried = new AbortController().signal;

  constructor(options: LiveAnswersOptions) {
    this.#options = options;
  }

  start(bus: Parameters<Reactor["start"]>[0]): void {
    const turnIsOver = ["turn_execution_complete", "turn_execution_failed", "turn_execution_cancelled"] as const;
    this.#subscriptions.push(
      bus.on("turn_execution_start", (event) => this.#begin(event, bus)),
      bus.on("outbound_delivery_changed", (event) => this.#onQueued(event)),
      bus.on(turnIsOver, (event) => this.#end(event.session_key)),
      bus.on("session_state_changed", ({ session_key: key, payload }) => {
        if (payload.to === "deleted") this.#end(key);
      }),
    );
  }

  stop(): void {
    for (const unsubscribe of this.#subscriptions.splice(0)) unsubscribe();
    for (const live of this.#turns.values()) {
      live.unsubscribe();
      live.stop.abort(over);
    }
    this.#turns.clear();
  }

  #begin(
    { session_key: key, turn_id: turnId, payload }: EventOf<"turn_execution_start">,
    bus: Parameters<Reactor["start"]>[0],
  ): void {
    this.#end(key);
    const everyMs = this.#options.channels.get(channelOf(key))?.liveEditMs;
    const [messageId] = payload.message_ids;
    if (everyMs === undefined || turnId === undefined || messageId === undefined) return;
    const fresh = { text: "", isFresh: true, isRunning: false, hasReply: false };
    // Pieces of answers are many: only those are listened to that can be shown.
    const unsubscribe = bus.on(["message_stream_start", "text_delta"], (event) => this.#onPiece(event), {
      sessionKey: key,
    });
    this.#turns.set(key, { turnId, messageId, stop: new QuickAbort(), unsubscribe, everyMs, ...fresh });
  }

  #onPiece(event: EventsOf<"message_stream_start" | "text_delta">): void {
    const live = this.#turns.get(event.session_key);
    if (live === undefined) return;
    if (event.type === "text_delta") this.#grow(event.session_key, live, event.payload.text);
    else live.isFresh = true;
  }

  #grow(key: string, live: Live, text: string): void {
    live.text = live.isFresh ? text : live.text + text;
    live.isFresh = false;
    if (live.isRunning) return;
    live.isRunning = true;
    void this.#showWhileItGrows(key, live);
  }

  async #showWhileItGrows(session: string, live: Live): Promise<void> {
    const { signal } = live.stop;
    try {
      await sleep(this.#options.firstMs ?? 300, signal);
      let shown = "";
      let refusals = 0;
      while (live.text !== "" && live.text !== shown) {
        const { text } = live;
        const seen = await this.#show(session, live, text);
        if (seen === "none") return;
        const isShown = seen === "shown";
        if (isShown) shown = text;
        else refusals += 1;
        // Where the platform has asked for it the words stay for the next look, which comes later from now on.
        const waitMs = backoffMs(refusals + 1, { firstMs: live.everyMs, longestMs: live.everyMs * mostSlowdown });
        await sleep(isShown ? waitMs : Math.max(waitMs, seen.retryAfterMs ?? 0), signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#options.log.debug(`a growing answer was not shown: ${messageOf(error)}`, { session });
    } finally {
      live.isRunning = false;
    }
  }

  /** `none`: nothing is to be shown of it. A failure of the channel is given back. */
  async #show(session: string, live: Live, text: string): Promise<"shown" | "none" | ChannelError> {
    const message = await this.#options.firstPiece(session, live.messageId, live.turnId, text);
    if (message === undefined || live.stop.signal.aborted) return "none";
    try {
      await this.#options.previews.show(message, this.#unhurried);
      return "shown";
    } catch (error) {
      if (error instanceof ChannelError) return error;
      throw error;
    }
  }

  #onQueued({ session_key: key, turn_id: turnId, payload }: EventOf<"outbound_delivery_changed">): void {
    const live = this.#turns.get(key);
    if (live === undefined || payload.status !== "queued" || live.turnId !== turnId) return;
    if (payload.outbound_id === `${turnId}#1`) live.hasReply = true;
    else if (!live.hasReply && !payload.outbound_id.startsWith(`${turnId}-n`)) this.#settle(live);
  }

  /** Something of the turn comes below what was shown: an answer that went on above it would be overlooked. */
  #settle(live: Live): void {
    live.text = "";
    live.isFresh = true;
    void this.#options.previews.forget(`${live.turnId}#1`);
  }

  #end(sessionKey: string): void {
    const live = this.#turns.get(sessionKey);
    this.#turns.delete(sessionKey);
    live?.unsubscribe();
    live?.stop.abort(over);
    if (live !== undefined && !live.hasReply) void this.#options.previews.forget(`${live.turnId}#1`);
  }
}
