import type { WebSocket } from "ws";
import type { Logger } from "../../log.js";
import { Background } from "../../util/async/background.js";
import { InOrder } from "../../util/async/in-order.js";
import { sleep } from "../../util/async/sleep.js";
import type { ChannelContext, Publish, ReceivedMessage } from "../channel.js";
import type { Clients } from "./clients.js";
import type { ClientFrame } from "./frames.js";

export interface InboxOptions {
  readonly publish: Publish;
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
  readonly clients: Clients;
  readonly busyRetryMs: number;
  readonly log: Logger;
}

/** Frames of one connection that are not taken yet. */
const mostPending = 100;

/** Passes frames on, in order for each chat; a chat whose message is not taken yet holds up only itself. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #signal: AbortSignal;
  readonly #chats = new InOrder<string>();
  readonly #underWay: Background;
  readonly #pending = new WeakMap<WebSocket, number>();

  constructor(options: InboxOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#underWay = new Background((error) => options.log.error("a WebSocket frame was not handled", { error }));
  }

  take(frame: ClientFrame, ownChat: string, client: WebSocket): void {
    const message = toReceived(frame, ownChat);
    const { chatId } = message;
    this.#options.clients.claim(chatId, client);
    const isFirst = this.#options.actsAtOnce?.(message) === true;
    const pass = (): Promise<void> => this.#pass(message, frame.id, client);
    this.#count(client, 1);
    const passed = isFirst ? pass() : this.#chats.run(pass, chatId);
    this.#underWay.own(passed.finally(() => this.#count(client, -1)));
  }

  settled(): Promise<void> {
    return this.#underWay.settled();
  }

  /** Who writes faster than is taken is not read any further. */
  #count(client: WebSocket, by: 1 | -1): void {
    const now = (this.#pending.get(client) ?? 0) + by;
    this.#pending.set(client, now);
    if (now >= mostPending) client.pause();
    else if (client.isPaused) client.resume();
  }

  async #pass(message: ReceivedMessage, id: string | undefined, client: WebSocket): Promise<void> {
    const { clients, log } = this.#options;
    try {
      await this.#offer(message, id, client);
    } catch (error) {
      log.error("a WebSocket message could not be passed on", { chat: message.chatId, error });
      clients.send(client, { type: "error", error: "This message could not be taken. Please send it again." });
    }
  }

  /** Until it is taken, or refused. */
  async #offer(message: ReceivedMessage, id: string | undefined, client: WebSocket): Promise<void> {
    const { publish, clients, busyRetryMs } = this.#options;
    const { chatId } = message;
    const named = id === undefined ? {} : { id };
    for (let wasTold = false; !this.#signal.aborted; wasTold = true) {
      const outcome = await publish(message);
      if (outcome.status === "refused")
        return clients.send(client, { type: "refused", ...named, chatId, error: outcome.reply ?? "" });
      if (outcome.status !== "busy")
        return id === undefined ? undefined : clients.send(client, { type: "accepted", id, chatId });
      // It is taken yet: this is not the word that it was refused.
      if (!wasTold && outcome.reply !== "") clients.send(client, { type: "error", error: outcome.reply });
      await sleep(busyRetryMs, this.#signal).catch(() => undefined);
    }
  }
}

function toReceived(frame: ClientFrame, ownChat: string): ReceivedMessage {
  const chatId = frame.chatId ?? ownChat;
  const senderId = frame.sender ?? chatId;
  const about = {
    chatId,
    thread: frame.thread,
    // Several people behind one chat, as the replies of the gateway see it too.
    chatType: senderId === chatId ? ("dm" as const) : ("group" as const),
    addressed: true,
    senderId,
    platformMessageId: frame.id,
  };
  if (frame.type === "delete") return { ...about, content: "", change: "deleted" };
  if (frame.type === "edit") return { ...about, content: frame.content, change: "edited" };
  const { content, senderName, files = [], quoted, id } = frame;
  return {
    ...about,
    content: content.trim(),
    senderName,
    quoted,
    dedupId: id === undefined ? undefined : `websocket:${chatId}:${id}`,
    files: files.map(({ data, ...file }) => {
      const bytes = Buffer.from(data, "base64");
      return { ...file, sizeBytes: bytes.length, read: async () => bytes };
    }),
  };
}
