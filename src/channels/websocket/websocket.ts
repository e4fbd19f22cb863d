import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Attachment, OutboundMessage } from "../../bus/messages.js";
import { ChannelError, messageOf } from "../../errors.js";
import { sleep } from "../../util/async/sleep.js";
import { readToSend } from "../../util/files/noted-file.js";
import type { Channel, ChannelContext, Publish, Receipt } from "../channel.js";
import { Clients } from "./clients.js";
import { chatOf, Door, type DoorOptions } from "./door.js";
import { parseFrame, type ServerFrame } from "./frames.js";
import { Inbox } from "./inbox.js";

export interface WebSocketOptions extends DoorOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly busyRetryMs?: number | undefined;
  /** Called with the port that is listened on. */
  readonly onListening?: ((port: number) => void) | undefined;
}

/** A file of 20 MB in base64, and then some. */
const largestFrame = 32 * 1024 * 1024;
const maxFileBytes = 20 * 1024 * 1024;
const longestMessage = 100_000;
const lifeMs = 20_000;
const typingIntervalMs = 5000;
const loopback: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

/** A door for other programs: each connection is a chat, or several. The frames are those of the Go maxclaw and more. */
export function createWebSocketChannel(options: WebSocketOptions, context: ChannelContext): Channel {
  return new WebSocketChannel(options, context);
}

class WebSocketChannel implements Channel {
  readonly name = "websocket";
  readonly files = "together";
  readonly maxFileBytes = maxFileBytes;
  readonly typingIntervalMs = typingIntervalMs;
  readonly #options: WebSocketOptions;
  readonly #context: ChannelContext;
  readonly #door: Door;
  readonly #clients = new Clients();

  constructor(options: WebSocketOptions, context: ChannelContext) {
    this.#options = options;
    this.#context = context;
    this.#door = new Door(options);
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    const clients = this.#clients;
    const { log, busyRetryMs = 1000 } = this.#options;
    const server = createServer((_request, response) => void response.writeHead(426).end("WebSocket only\n"));
    const sockets = new WebSocketServer({ noServer: true, maxPayload: largestFrame, perMessageDeflate: false });
    const inbox = new Inbox({ publish, actsAtOnce: this.#context.actsAtOnce, clients, busyRetryMs, log }, signal);
    server.on("upgrade", (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      const letIn = (): void =>
        sockets.handleUpgrade(request, socket, head, (client) => this.#greet(client, chatOf(request), inbox));
      void this.#answer(request, socket, letIn, signal);
    });
    try {
      await listen(server, this.#options);
      const silent = new WeakSet<WebSocket>();
      while (!signal.aborted) {
        onConnected();
        await sleep(lifeMs, signal).catch(() => undefined);
        clients.askAll(silent);
      }
    } finally {
      clients.close();
      sockets.close();
      server.close();
      server.closeAllConnections();
      await inbox.settled();
    }
  }

  async #answer(request: IncomingMessage, socket: Duplex, letIn: () => void, signal: AbortSignal): Promise<void> {
    const refusal = await this.#door.refusalOf(request, signal);
    if (signal.aborted) socket.destroy();
    else if (refusal === undefined) letIn();
    else socket.end(`HTTP/1.1 ${refusal.status} Refused\r\nConnection: close\r\n\r\n${refusal.why}\n`);
  }

  #greet(client: WebSocket, named: string | undefined, inbox: Inbox): void {
    const clients = this.#clients;
    const chatId = named ?? `ws-${randomBytes(8).toString("hex")}`;
    clients.add(client);
    clients.claim(chatId, client);
    clients.send(client, { type: "hello", chatId });
    client.on("error", () => client.terminate());
    client.on("message", (data, isBinary) => {
      const frame = isBinary ? "A frame must be text." : parseFrame(data.toString());
      if (typeof frame === "string") clients.send(client, { type: "error", error: frame });
      else inbox.take(frame, chatId, client);
    });
  }

  split(content: string): readonly string[] {
    return content.trim() === "" ? [] : pieces(content);
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    const files = await Promise.all(message.attachments.map(toWireFile));
    const { id, chatId, thread, content, replyTo } = message;
    const frame: ServerFrame = {
      type: "message",
      id,
      chatId,
      ...(thread === undefined ? {} : { thread }),
      sender: "assistant",
      content,
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(files.length === 0 ? {} : { files }),
    };
    await this.#clients.deliver(chatId, frame, this.#context.sendTimeoutMs ?? 15_000, signal);
    return { platformMessageId: id };
  }

  async edit({ chatId, platformMessageId: id, content }: Parameters<NonNullable<Channel["edit"]>>[0]): Promise<void> {
    if (!this.#clients.sendToChat(chatId, { type: "edit", id, chatId, content }))
      throw new ChannelError(`No program is connected for ${chatId}.`);
  }

  async showTyping(chatId: string, thread: string | undefined): Promise<void> {
    this.#clients.sendToChat(chatId, { type: "typing", chatId, ...(thread === undefined ? {} : { thread }) });
  }
}

/** @throws {ChannelError} */
async function listen(server: Server, { host, port, token, onListening }: WebSocketOptions): Promise<void> {
  if (token === undefined && !loopback.has(host))
    throw new ChannelError(
      `channels.websocket.host is ${host}, which others can reach: set channels.websocket.token first.`,
    );
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new ChannelError(`channels.websocket cannot listen on ${host}:${port} (${messageOf(error)}).`, {
      retryable: true,
    });
  }
  const address = server.address();
  if (typeof address === "object" && address !== null) onListening?.(address.port);
}

async function toWireFile({ path, filename, mimeType }: Attachment) {
  const bytes = await readToSend({ path, filename });
  return { filename, mimeType, data: bytes.toString("base64") };
}

function pieces(content: string): readonly string[] {
  const count = Math.ceil(content.length / longestMessage);
  return Array.from({ length: count }, (_, n) => content.slice(n * longestMessage, (n + 1) * longestMessage));
}
