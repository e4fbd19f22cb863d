import type { WebSocket } from "ws";
import type { BridgeInbox, Waiting } from "../keep/inbox.js";

/** So long a client that says nothing may still turn out to be one that confirms, or that only looks. */
const defaultGraceMs = 8000;
/** So many times as long, once there was one that confirms: this one may only be slow to say so. */
const patience = 10;

/**
 * Who gets what people write. One that confirms gets each message again until it has confirmed it; the newest such client
 * takes the place of an older one. Without one, a client that says nothing, such as the Go maxclaw, gets each message once:
 * what is written to its connection counts as delivered.
 */
export class Listeners {
  readonly #inbox: BridgeInbox;
  readonly #graceMs: number;
  readonly #silent = new Map<WebSocket, ReturnType<typeof setTimeout> | undefined>();
  #confirming: { readonly socket: WebSocket; readonly given: Set<number> } | undefined;
  #work: Promise<void> = Promise.resolve();
  #hasConfirming = false;

  constructor(inbox: BridgeInbox, graceMs = defaultGraceMs) {
    this.#inbox = inbox;
    this.#graceMs = graceMs;
  }

  /** A client has come, and has not said yet what it is. */
  add(socket: WebSocket): void {
    const timer = setTimeout(
      () => {
        this.#silent.set(socket, undefined);
        this.give();
      },
      this.#graceMs * (this.#hasConfirming ? patience : 1),
    );
    this.#silent.set(socket, timer);
  }

  /** It confirms, and gets all that waits. */
  listen(socket: WebSocket): void {
    this.leaveOut(socket);
    this.#hasConfirming = true;
    this.#confirming = { socket, given: new Set() };
    this.give();
  }

  /** It is not here for messages, or it is gone. */
  leaveOut(socket: WebSocket): void {
    clearTimeout(this.#silent.get(socket));
    this.#silent.delete(socket);
    if (this.#confirming?.socket === socket) this.#confirming = undefined;
  }

  /** Only of the client that has the messages now: an older one may speak of what it got before. */
  async confirm(socket: WebSocket, seq: number): Promise<Waiting | undefined> {
    if (this.#confirming?.socket !== socket || !this.#confirming.given.delete(seq)) return undefined;
    const waiting = this.#inbox.find(seq);
    await this.#inbox.remove(seq);
    this.give();
    return waiting;
  }

  /** Gives what waits to whom it is for. */
  give(): void {
    if (this.#confirming !== undefined) this.#giveUnconfirmed();
    else this.#work = this.#work.then(() => this.#giveOnce());
  }

  async settled(): Promise<void> {
    for (const socket of [...this.#silent.keys()]) this.leaveOut(socket);
    await this.#work;
  }

  /** All at once: a chat whose messages wait holds up nobody else, and "stop" comes through. */
  #giveUnconfirmed(): void {
    const { socket, given } = this.#confirming ?? {};
    if (socket === undefined || given === undefined) return;
    for (const waiting of this.#inbox.waiting) {
      if (given.has(waiting.seq)) continue;
      given.add(waiting.seq);
      socket.send(frameOf(waiting));
    }
  }

  async #giveOnce(): Promise<void> {
    for (const waiting of [...this.#inbox.waiting]) {
      const heard = [...this.#silent].filter(([socket, timer]) => timer === undefined && socket.readyState === 1);
      if (heard.length === 0 || this.#confirming !== undefined) return;
      // Their protocol has no changes of messages.
      const frame = waiting.message.change === undefined ? frameOf(waiting) : undefined;
      if (frame !== undefined) await Promise.any(heard.map(([socket]) => write(socket, frame))).catch(() => undefined);
      if (heard.every(([socket]) => socket.readyState !== 1)) return;
      await this.#inbox.remove(waiting.seq);
    }
  }
}

function frameOf({ seq, message }: Waiting): string {
  return JSON.stringify({ type: "message", ...message, seq });
}

function write(socket: WebSocket, data: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(data, (error) => (error ? reject(error) : resolve()));
  });
}
