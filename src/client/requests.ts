import { ClientError } from "./client-error.js";
import type { CommandFrame, ServerFrame } from "./frames.js";
import type { OnAnswer } from "./subscriptions.js";
import type { ClientTiming } from "./timing.js";

type RequestTiming = Pick<ClientTiming, "commandTimeoutMs" | "idleMs">;

/** The connection, as far as requests need it. */
export interface Wire {
  /** False when it is not open; nothing was sent then. */
  send(text: string): boolean;
  /** Gives it up as dead. */
  cut(reason: string): void;
}

interface Waiting {
  readonly frame: string;
  readonly onAnswer: OnAnswer;
  readonly timer: ReturnType<typeof setTimeout>;
  /** Unix ms. */
  sentAt: number | undefined;
}

const maxWaiting = 1000;
/** Why a far side ends a WebSocket that brings more at once than it takes (RFC 6455, 7.4.1). */
const tooBig = 1009;
/** Commands without an answer yet; the gateway takes 64 of a connection at once. */
const maxUnanswered = 32;

/** Commands that wait to be sent or for their answer, over all connections; each gets an answer or an error. */
export class Requests {
  readonly #timing: RequestTiming;
  readonly #wire: Wire;
  readonly #waiting = new Map<string, Waiting>();
  #nextId = 1;
  #unanswered = 0;
  #heardAt = 0;
  #isClosed = false;
  #idleTimer: ReturnType<typeof setInterval> | undefined;

  constructor(timing: RequestTiming, wire: Wire) {
    this.#timing = timing;
    this.#wire = wire;
  }

  request(type: string, payload: object, onAnswer: OnAnswer): void {
    if (this.#isClosed) return void onAnswer(undefined, new ClientError("closed", "The client is closed"));
    if (this.#waiting.size >= maxWaiting)
      return void onAnswer(undefined, new ClientError("busy", "Too many commands are waiting"));
    const id = `c${this.#nextId++}`;
    const timestamp = new Date().toISOString();
    const frame: CommandFrame = { type: "command", id, command: { type, payload }, timestamp, source: "client" };
    const timer = setTimeout(() => this.#giveUp(id), this.#timing.commandTimeoutMs);
    this.#waiting.set(id, { frame: JSON.stringify(frame), onAnswer, timer, sentAt: undefined });
    this.sendWaiting();
  }

  /** A connection can be dead without having been closed, and a browser is not told about the gateway's pings. */
  watch(): void {
    const openedAt = Date.now();
    const { idleMs } = this.#timing;
    clearInterval(this.#idleTimer);
    this.#idleTimer = setInterval(() => {
      if (Date.now() - Math.max(this.#heardAt, openedAt) >= idleMs) this.request("ping", {}, () => undefined);
    }, idleMs / 2);
  }

  sendWaiting(): void {
    for (const entry of this.#waiting.values()) {
      if (entry.sentAt !== undefined) continue;
      if (this.#unanswered >= maxUnanswered || !this.#wire.send(entry.frame)) return;
      entry.sentAt = Date.now();
      this.#unanswered += 1;
    }
  }

  /** The gateway has sent something. */
  heard(): void {
    this.#heardAt = Date.now();
  }

  answer(frame: Extract<ServerFrame, { type: "response" }>): void {
    const onAnswer = this.#settle(frame.id);
    this.sendWaiting();
    if (frame.success) onAnswer?.(frame.data, undefined);
    else onAnswer?.(undefined, new ClientError("refused", frame.error, frame.code));
  }

  /**
   * The connection is gone: what was not sent yet waits for the next one. `code` is the WebSocket's. One that was ended because
   * of a command's size would be ended again and again if that was brought again.
   */
  lose(code: number | undefined): void {
    clearInterval(this.#idleTimer);
    const sent = [...this.#waiting].filter(([, { sentAt }]) => sentAt !== undefined);
    const sizeOf = ([, { frame }]: (typeof sent)[number]): number => new TextEncoder().encode(frame).length;
    const [largest] = code === tooBig ? sent.toSorted((a, b) => sizeOf(b) - sizeOf(a)) : [];
    for (const entry of sent)
      this.#settle(entry[0])?.(
        undefined,
        entry === largest
          ? new ClientError("refused", "It is larger than what the gateway takes at once", "too_large")
          : new ClientError("lost", "The connection was lost before the answer"),
      );
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#idleTimer);
    for (const id of [...this.#waiting.keys()])
      this.#settle(id)?.(undefined, new ClientError("closed", "The client was closed before the answer"));
  }

  #settle(id: string): OnAnswer | undefined {
    const entry = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(entry?.timer);
    if (entry?.sentAt !== undefined) this.#unanswered -= 1;
    return entry?.onAnswer;
  }

  #giveUp(id: string): void {
    const { commandTimeoutMs } = this.#timing;
    const { sentAt = Number.POSITIVE_INFINITY } = this.#waiting.get(id) ?? {};
    const seconds = commandTimeoutMs / 1000;
    this.#settle(id)?.(undefined, new ClientError("timeout", `The gateway did not answer within ${seconds} s`));
    this.sendWaiting();
    // Not a word in a long time: the connection is most likely dead without having been closed.
    const isSilent = this.#heardAt < sentAt && sentAt <= Date.now() - commandTimeoutMs / 2;
    if (isSilent) this.#wire.cut("The gateway stopped answering");
  }
}
