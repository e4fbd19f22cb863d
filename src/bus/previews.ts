import { z } from "zod";
import type { Engine, Records } from "../engine/engine.js";
import { ChannelError, messageOf } from "../errors.js";
import type { SessionLives } from "../events/session-lives.js";
import type { Logger } from "../log.js";
import { settledWithin } from "../util/async/within.js";
import { outboundWork } from "./message-bus.js";
import type { OutboundMessage } from "./messages.js";

/** The part of a channel that shows a message which grows. */
export interface GrowingSender {
  send(message: OutboundMessage, signal: AbortSignal): Promise<{ readonly platformMessageId: string }>;
  edit?(
    message: { readonly chatId: string; readonly platformMessageId: string; readonly content: string },
    signal: AbortSignal,
  ): Promise<void>;
}

/**
 * What is on a platform of replies that are still being written, by the id of the outbound message that each will be.
 * Its platform id is stored before a second look is shown, so that the final text takes its place also after a restart.
 * Only a kill, or a connection that breaks, between the platform's showing it and the storing leaves one standing: its
 * first words, once.
 */
export interface Previews {
  /**
   * Shows the reply as far as it is. Nothing is shown while older messages of the chat wait to be sent, or once the
   * final text is on its way.
   *
   * @throws {ChannelError} as the channel says
   */
  show(message: OutboundMessage, signal: AbortSignal): Promise<void>;
  /**
   * Shows nothing more of it. `shown`: the words that are there, or are on their way; empty for those from before a
   * restart. Undefined: nothing is there.
   */
  freeze(outboundId: string): { readonly shown: string } | undefined;
  /** The platform's id of what is there, once nothing more is being shown for it. */
  take(outboundId: string): Promise<string | undefined>;
  /** It is a message of its own now: the final text is there, or others have come below it. */
  forget(outboundId: string): Promise<void>;
  /** Nothing is kept of those of a session that is deleted. What is on the platform stays there. */
  forgetSession(sessionKey: string): Promise<void>;
  /** Shows nothing more. Resolves once what is on its way is there and is stored, after `limitMs` at most. */
  close(limitMs: number): Promise<void>;
}

const record = z.object({ platformMessageId: z.string(), sessionKey: z.string().optional() });

interface State {
  sessionKey: string | undefined;
  platformMessageId: string | undefined;
  isStored: boolean;
  shown: string;
  /** What is on its way. */
  showing: string;
  isClosed: boolean;
  working: Promise<void>;
}

/** Where previews are, and what may go before them. */
export interface PreviewPorts {
  readonly engine: Pick<Engine, "waiting" | "status">;
  readonly records: Records;
  readonly channels: ReadonlyMap<string, GrowingSender>;
  readonly lives: Pick<SessionLives, "run">;
  readonly log: Logger;
}

export function createPreviews(ports: PreviewPorts): Previews {
  return new StoredPreviews(ports);
}

class StoredPreviews implements Previews {
  readonly #engine: PreviewPorts["engine"];
  readonly #records: Records;
  readonly #channels: ReadonlyMap<string, GrowingSender>;
  readonly #lives: Pick<SessionLives, "run">;
  readonly #log: Logger;
  readonly #states = new Map<string, State>();
  #isClosed = false;

  constructor({ engine, records, channels, lives, log }: PreviewPorts) {
    this.#engine = engine;
    this.#records = records;
    this.#channels = channels;
    this.#lives = lives;
    this.#log = log;
  }

  async show(message: OutboundMessage, signal: AbortSignal): Promise<void> {
    const state = this.#stateOf(message.id);
    if (this.#isClosed || state.isClosed || state.shown === message.content) return;
    state.sessionKey = message.sessionKey;
    const work = this.#lives.run(message.sessionKey, () => this.#put(state, message, signal));
    state.working = work.catch(() => undefined);
    await work;
  }

  freeze(id: string): { readonly shown: string } | undefined {
    const state = this.#stateOf(id);
    state.isClosed = true;
    if (state.platformMessageId === undefined && state.showing === "") return undefined;
    return { shown: state.showing === "" ? state.shown : state.showing };
  }

  async take(id: string): Promise<string | undefined> {
    if (!this.#states.has(id) && this.#records.get(id) === undefined) return undefined;
    const state = this.#stateOf(id);
    state.isClosed = true;
    await state.working;
    return state.platformMessageId;
  }

  async forget(id: string): Promise<void> {
    const state = this.#states.get(id);
    if (state !== undefined) {
      state.isClosed = true;
      await state.working;
      this.#states.delete(id);
    }
    if (this.#records.get(id) === undefined) return;
    await this.#records
      .delete(id)
      .catch((error: unknown) => this.#log.debug(`a preview was not forgotten: ${messageOf(error)}`));
  }

  async forgetSession(sessionKey: string): Promise<void> {
    for (const [id, state] of this.#states) {
      if (state.sessionKey !== sessionKey) continue;
      // One that the platform does not answer is not waited for: it finds itself forgotten.
      state.isClosed = true;
      this.#states.delete(id);
    }
    for (const { id, value } of this.#records.list())
      if (record.safeParse(value).data?.sessionKey === sessionKey) await this.#records.delete(id);
  }

  async close(limitMs: number): Promise<void> {
    this.#isClosed = true;
    await settledWithin(Promise.all([...this.#states.values()].map(({ working }) => working)), { ms: limitMs });
  }

  #stateOf(id: string): State {
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    const { platformMessageId, sessionKey } = record.safeParse(this.#records.get(id)).data ?? {};
    const state: State = {
      sessionKey,
      platformMessageId,
      isStored: platformMessageId !== undefined,
      shown: "",
      showing: "",
      isClosed: false,
      working: Promise.resolve(),
    };
    this.#states.set(id, state);
    return state;
  }

  async #put(state: State, message: OutboundMessage, signal: AbortSignal): Promise<void> {
    const { id, chatId, content } = message;
    const channel = this.#channels.get(message.channel);
    if (channel?.edit === undefined) return;
    if (state.platformMessageId === undefined && !(await this.#mayBegin(state, message))) return;
    state.showing = content;
    try {
      if (state.platformMessageId !== undefined) {
        await this.#keepId(id, state, state.platformMessageId);
        await channel.edit({ chatId, platformMessageId: state.platformMessageId, content }, signal);
      } else {
        const { platformMessageId } = await sendFirst(channel, message, state, signal);
        state.platformMessageId = platformMessageId;
        await this.#keepId(id, state, platformMessageId);
      }
      state.shown = content;
    } finally {
      state.showing = "";
    }
  }

  async #mayBegin(state: State, message: OutboundMessage): Promise<boolean> {
    // What is shown on a full disk could be there for ever.
    if (!this.#engine.status().writable) return false;
    const before = await this.#engine.waiting("outbound", outboundWork(message).key);
    // The final text may be on its way by now.
    return before.length === 0 && !state.isClosed;
  }

  /** Nothing more is shown before it is stored. */
  async #keepId(id: string, state: State, platformMessageId: string): Promise<void> {
    if (state.isStored || !this.#states.has(id)) return;
    await this.#records.put(id, { platformMessageId, sessionKey: state.sessionKey }, { isReceipt: true });
    state.isStored = true;
  }
}

/** One of which nobody knows whether it is there is the last: each further try could leave one more standing. */
async function sendFirst(channel: GrowingSender, message: OutboundMessage, state: State, signal: AbortSignal) {
  try {
    return await channel.send(message, signal);
  } catch (error) {
    if (error instanceof ChannelError && error.outcome === "unknown") state.isClosed = true;
    throw error;
  }
}

/**
 * Puts the final text in place of the preview. False when there is none any more: the text is to be sent then. The
 * same edit twice is the same as once, so that no failure of it counts as a message that may have been shown.
 *
 * @throws {ChannelError} `refused` and retryable
 */
export async function replacePreview(
  channel: GrowingSender,
  message: OutboundMessage,
  platformMessageId: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (channel.edit === undefined) return false;
  try {
    await channel.edit({ chatId: message.chatId, platformMessageId, content: message.content }, signal);
    return true;
  } catch (error) {
    if (!(error instanceof ChannelError)) throw error;
    if (error.outcome === "refused" && !error.retryable) return false;
    const { retryAfterMs } = error;
    throw new ChannelError(error.message, { outcome: "refused", retryable: true, retryAfterMs, cause: error });
  }
}
