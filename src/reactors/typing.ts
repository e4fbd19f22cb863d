import { messageOf } from "../errors.js";
import type { Unsubscribe } from "../events/bus/system-bus.js";
import { channelOf, chatOf } from "../events/session-key.js";
import type { Logger } from "../log.js";
import { linked } from "../util/async/linked.js";
import { sleep } from "../util/async/sleep.js";
import type { Reactor } from "./reactor.js";

/** The part of a channel that shows a typing sign. */
export interface TypingSign {
  showTyping?(chatId: string, thread: string | undefined, signal: AbortSignal): Promise<void>;
  readonly typingIntervalMs?: number;
}

export interface TypingOptions {
  readonly channels: ReadonlyMap<string, TypingSign>;
  readonly log: Logger;
  /** Answers that come sooner need no sign. Default 300. */
  readonly delayMs?: number;
  /** The sign goes after this, whatever the turn does. Default 10 minutes. */
  readonly maxMs?: number;
}

const defaultIntervalMs = 5000;
const never = new AbortController().signal;
/** Made once, because making one takes a stack trace. */
const over = new DOMException("The turn is over", "AbortError");

/** Shows "typing …" in the chat while the agent works for it. Only decorates: its failures harm nothing. */
export function createTypingReactor(options: TypingOptions): Reactor {
  const { channels, log, delayMs = 300, maxMs = 600_000 } = options;
  /** What ends the sign of each session, or the wait before it. */
  const shown = new Map<string, () => void>();
  const subscriptions: Unsubscribe[] = [];

  function begin(sessionKey: string): void {
    const chat = chatOfSession(sessionKey);
    const channel = channels.get(channelOf(sessionKey));
    if (chat === undefined || channel?.showTyping === undefined || shown.has(sessionKey)) return;
    const timer = setTimeout(() => {
      const scope = linked(never, maxMs);
      shown.set(sessionKey, () => scope.abort(over));
      void repeat(channel, chat, scope.signal).finally(() => scope[Symbol.dispose]());
    }, delayMs);
    shown.set(sessionKey, () => clearTimeout(timer));
  }

  function end(sessionKey: string): void {
    shown.get(sessionKey)?.();
    shown.delete(sessionKey);
  }

  async function repeat(channel: TypingSign, chat: Chat, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await channel.showTyping?.(chat.id, chat.thread, signal);
      } catch (error) {
        if (!signal.aborted) log.debug("the typing sign was not shown", { chatId: chat.id, error: messageOf(error) });
      }
      await sleep(channel.typingIntervalMs ?? defaultIntervalMs, signal).catch(() => undefined);
    }
  }

  return {
    name: "typing",
    start(bus) {
      subscriptions.push(
        bus.on("turn_execution_start", (event) => {
          // A turn that began has its full time, whatever is left of an earlier one.
          end(event.session_key);
          begin(event.session_key);
        }),
        bus.on(["turn_execution_complete", "turn_execution_failed", "turn_execution_cancelled"], (event) =>
          end(event.session_key),
        ),
        bus.on("agent_state_changed", (event) => {
          const { to } = event.payload;
          // While a person is asked, it is their turn to type.
          if (to === "idle" || to === "error" || to === "awaiting_human") end(event.session_key);
          else begin(event.session_key);
        }),
      );
    },
    stop() {
      for (const unsubscribe of subscriptions.splice(0)) unsubscribe();
      for (const sessionKey of [...shown.keys()]) end(sessionKey);
    },
  };
}

interface Chat {
  readonly id: string;
  readonly thread: string | undefined;
}

/** The chat of `channel:chat[:thread]`; none for a sub-agent's session, whose parent shows the sign. */
function chatOfSession(sessionKey: string): Chat | undefined {
  const [id, thread, ...more] = chatOf(sessionKey).split(":");
  if (id === undefined || id === "" || more.length > 0) return undefined;
  return { id, thread };
}
