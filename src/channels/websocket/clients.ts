import { WebSocket } from "ws";
import { ChannelError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import type { ServerFrame } from "./frames.js";

/** Sends that wait for a program which is away; past that the oldest is given back and tried again later. */
const mostWaiting = 16;

/** A program's connection, and the pongs it owes. */
interface Client {
  readonly socket: WebSocket;
  readonly owed: Map<string, () => void>;
}

/** Which connection each chat is on: the newest that has used it. */
export class Clients {
  readonly #byChat = new Map<string, Client>();
  readonly #clients = new Map<WebSocket, Client>();
  readonly #waiting = new Set<{ readonly chatId: string; readonly settle: (client: Client | undefined) => void }>();
  #pings = 0;

  add(socket: WebSocket): void {
    const client: Client = { socket, owed: new Map() };
    this.#clients.set(socket, client);
    socket.on("pong", (data) => client.owed.get(data.toString())?.());
    socket.once("close", () => {
      this.#clients.delete(socket);
      for (const [chatId, each] of this.#byChat) if (each === client) this.#byChat.delete(chatId);
    });
  }

  /** Answers of this chat go here from now on. */
  claim(chatId: string, socket: WebSocket): void {
    const client = this.#clients.get(socket);
    if (client === undefined) return;
    this.#byChat.set(chatId, client);
    for (const wait of this.#waiting) if (wait.chatId === chatId) wait.settle(client);
  }

  send(socket: WebSocket, frame: ServerFrame): void {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
  }

  /** To the chat's program if it is there. */
  sendToChat(chatId: string, frame: ServerFrame): boolean {
    const client = this.#byChat.get(chatId);
    if (client === undefined) return false;
    this.send(client.socket, frame);
    return true;
  }

  /**
   * Resolves once the program has read the frame: it answers the ping behind it.
   *
   * @throws {ChannelError} `refused` while the program is away, `unknown` when it goes or is silent afterwards
   */
  async deliver(chatId: string, frame: ServerFrame, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    const { socket, owed } = this.#byChat.get(chatId) ?? (await this.#waitFor(chatId, signal));
    const mark = String(++this.#pings);
    using scope = linked(signal, timeoutMs);
    const unknown = (why: string): ChannelError =>
      new ChannelError(`The program of ${chatId} ${why}: the message may have arrived.`, {
        outcome: "unknown",
        retryable: true,
      });
    await new Promise<void>((resolve, reject) => {
      const onClose = (): void => finish(() => reject(unknown("went away")));
      const onAbort = (): void => finish(() => reject(unknown("did not answer in time")));
      const finish = (settle: () => void): void => {
        owed.delete(mark);
        socket.removeListener("close", onClose);
        scope.signal.removeEventListener("abort", onAbort);
        settle();
      };
      owed.set(mark, () => finish(resolve));
      socket.once("close", onClose);
      scope.signal.addEventListener("abort", onAbort, { once: true });
      socket.send(JSON.stringify(frame));
      socket.ping(mark);
    });
  }

  /** Ends every connection. */
  close(): void {
    for (const { socket } of this.#clients.values()) {
      socket.close(1001, "the gateway is stopping");
      setTimeout(() => socket.terminate(), 500).unref();
    }
  }

  /** Asks everybody for a sign of life; who has not answered the last time is gone. */
  askAll(silent: WeakSet<WebSocket>): void {
    for (const { socket } of this.#clients.values()) {
      // Its pong may have come: it is not read while more of it than enough waits.
      if (socket.isPaused) continue;
      if (silent.has(socket)) {
        socket.terminate();
        continue;
      }
      silent.add(socket);
      socket.once("pong", () => silent.delete(socket));
      socket.ping("alive");
    }
  }

  async #waitFor(chatId: string, signal: AbortSignal): Promise<Client> {
    const client = await new Promise<Client | undefined>((resolve) => {
      const onAbort = (): void => wait.settle(undefined);
      const wait = {
        chatId,
        settle: (found: Client | undefined): void => {
          this.#waiting.delete(wait);
          signal.removeEventListener("abort", onAbort);
          resolve(found);
        },
      };
      this.#waiting.add(wait);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      const [oldest] = this.#waiting;
      if (this.#waiting.size > mostWaiting) oldest?.settle(undefined);
    });
    if (client !== undefined) return client;
    throw new ChannelError(`No program is connected for ${chatId}: the message waits for it.`, { retryable: true });
  }
}
