import type { GatewayApi } from "../api/gateway-api.js";
import type { Subscription } from "../api/messages/events-api.js";
import type { SendRequest, TurnOutcome } from "../api/messages/messages-api.js";
import type { SessionUsage } from "../api/sessions/sessions-api.js";
import { specOf } from "../events/catalogue.js";
import type { GatewayEvent, StoredEvent } from "../events/event.js";
import type { DocumentMessage } from "../sessions/session.js";

/** How a message is sent. */
export interface SendOptions extends Pick<SendRequest, "selectedSkills" | "attachments" | "messageId" | "mode"> {
  /** Stops the turn. What there is of the answer is kept as partial. */
  readonly signal?: AbortSignal | undefined;
}

/** One conversation of an agent. All its methods but `send` throw {@link RequestError} 404 once it is deleted. */
export interface AgentSession {
  readonly key: string;
  /**
   * Sends a message at once and tells what happens in the session from then on until the message's turn has ended:
   * stored events and those of the stream. Leaving the iteration stops nothing.
   *
   * @throws {RequestError} while iterating: 400 empty, 409 the session is over, 429 too much is waiting
   */
  send(text: string, options?: SendOptions): AsyncIterable<GatewayEvent>;
  /** Sends a message and resolves with how its turn ended. @throws {RequestError} as {@link send} */
  chat(text: string, options?: SendOptions): Promise<TurnOutcome>;
  /** Ends the running turn, if any. Resolves with whether there was one. */
  stop(): Promise<boolean>;
  /** Ends the running turn and with it the session. @throws {RequestError} 409 when nothing is running */
  abort(): Promise<void>;
  /** Ends a session that is idle. @throws {RequestError} 409 when it is not */
  complete(): Promise<void>;
  /** This cannot be undone. */
  delete(): Promise<void>;
  /** The conversation as people read it. */
  getMessages(): Promise<readonly DocumentMessage[]>;
  getTokenUsage(): Promise<SessionUsage>;
  /** What is stored, in order: at most `limit` (1000) events after `fromSequence` (0). */
  getEvents(range?: { readonly fromSequence?: number; readonly limit?: number }): Promise<readonly StoredEvent[]>;
}

export function createSession(api: GatewayApi, key: string): AgentSession {
  const accept = async (content: string, { signal, ...options }: SendOptions): Promise<string> => {
    signal?.throwIfAborted();
    return (await api.send({ ...options, sessionKey: key, content })).messageId;
  };
  /** The turn's own end is waited for: it is stopped, not left alone. */
  const end = async (messageId: string, signal: AbortSignal | undefined): Promise<TurnOutcome> => {
    const stop = (): void => void api.stopTurn(key).catch(() => undefined);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      if (signal?.aborted) stop();
      return await api.waitForTurn(key, messageId, new AbortController().signal);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  };
  return {
    key,
    send(text, options = {}) {
      const events = new EventList();
      void followTurn(api, key, events, {
        accept: () => accept(text, options),
        end: (messageId) => end(messageId, options.signal),
      });
      return events;
    },
    chat: async (text, options = {}) => await end(await accept(text, options), options.signal),
    stop: async () => (await api.stopTurn(key)).stopped,
    abort: () => api.abortSession(key),
    complete: () => api.completeSession(key),
    delete: () => api.deleteSession(key),
    getMessages: async () => (await api.getSession(key)).messages,
    getTokenUsage: () => api.sessionUsage(key),
    getEvents: async ({ fromSequence = 0, limit = 1000 } = {}) =>
      (await api.events(key, { fromSequence, limit })).events,
  };
}

interface OneTurn {
  readonly accept: () => Promise<string>;
  readonly end: (messageId: string) => Promise<TurnOutcome>;
}

/** Never rejects: the list reports what goes wrong. */
async function followTurn(api: GatewayApi, key: string, events: EventList, turn: OneTurn): Promise<void> {
  const subscriptions: Subscription[] = [];
  try {
    const subscription = api.subscribe(key, {}, (event) => events.push(event));
    subscriptions.push(subscription);
    await subscription.joinedAt;
    const { turnId } = await turn.end(await turn.accept());
    // A message that was given up without a turn, or whose turn was over before, has no end to come.
    const isShown = turnId !== "" && events.some((event) => event.turn_id === turnId);
    if (isShown) await events.until((event) => event.turn_id === turnId && specOf(event.type).terminal === true);
    events.finish();
  } catch (error) {
    events.finish(error);
  } finally {
    for (const subscription of subscriptions) subscription.close();
  }
}

/** Keeps what was told until somebody reads it. Can be read several times, each from the start. */
class EventList implements AsyncIterable<GatewayEvent> {
  readonly #events: GatewayEvent[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void)[] = [];

  push(event: GatewayEvent): void {
    this.#events.push(event);
    this.#wakeAll();
  }

  finish(error?: unknown): void {
    this.#end = error === undefined ? {} : { error };
    this.#wakeAll();
  }

  some(test: (event: GatewayEvent) => boolean): boolean {
    return this.#events.some(test);
  }

  async until(test: (event: GatewayEvent) => boolean): Promise<void> {
    while (!this.some(test)) await this.#more();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<GatewayEvent> {
    for (let next = 0; ; ) {
      const event = this.#events[next];
      if (event !== undefined) {
        next++;
        yield event;
      } else if (this.#end !== undefined) {
        if ("error" in this.#end) throw this.#end.error;
        return;
      } else {
        await this.#more();
      }
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
