import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Attachment, OutboundMessage } from "../../bus/messages.js";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import { readToSend } from "../../util/files/noted-file.js";
import { WrongTokens } from "../../util/wrong-tokens.js";
import type { Channel, ChannelContext, Publish, Receipt, ReceivedMessage } from "../channel.js";
import { Clients } from "./clients.js";
import { type ClientFrame, chatName, parseFrame, type ServerFrame } from "./frames.js";

export interface WebSocketOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly path: string;
  /** Web pages that may connect, by their origin. Programs send none. */
  readonly allowOrigins: readonly string[];
  /** Who connects has to show it. Needed for any other host than loopback. */
  readonly token?: string | undefined;
  readonly busyRetryMs?: number | undefined;
  /** Called with the port that is listened on. */
  readonly onListening?: ((port: number) => void) | undefined;
  readonly log: Logger;
}

/** A file of 20 MB in base64, and then some. */
const largestFrame = 32 * 1024 * 1024;
const maxFileBytes = 20 * 1024 * 1024;
const longestMessage = 100_000;
const lifeMs = 20_000;
/** Frames of one connection that are not taken yet. */
const mostPending = 100;
const typingIntervalMs = 5000;
const loopback: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

/** A door for other programs: each connection is a chat, or several. The frames are those of the Go maxclaw and more. */
export function createWebSocketChannel(options: WebSocketOptions, context: ChannelContext): Channel {
  const { host, token, allowOrigins, log, busyRetryMs = 1000 } = options;
  const { sendTimeoutMs = 15_000 } = context;
  const clients = new Clients();
  const wrong = new WrongTokens();
  const stopping = new AbortController();

  /** Why this request may not connect, as an HTTP status; undefined when it may. */
  async function refusalOf(request: IncomingMessage): Promise<Refusal | undefined> {
    const { path, query } = addressOf(request);
    if (path !== options.path) return { status: 404, why: `only ${options.path} is served here` };
    const { origin } = request.headers;
    // A web page always says where it is from: without this any page could talk through its visitor's browser.
    if (origin !== undefined && !allowOrigins.includes(origin))
      return { status: 403, why: `channels.websocket.allowOrigins does not name ${origin}` };
    const wrong = await wrongToken(request, query);
    if (wrong !== undefined) return wrong;
    const chat = chatOf(query);
    return chat === undefined || chatName.safeParse(chat).success
      ? undefined
      : { status: 400, why: "chatId has 1 to 128 letters, digits or . _ @ + -" };
  }

  /** A wrong one is answered late, and after some of them from one address for minutes not at all. */
  async function wrongToken(request: IncomingMessage, query: URLSearchParams): Promise<Refusal | undefined> {
    if (token === undefined) return undefined;
    const shown = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? query.get("token");
    const missing = { status: 401, why: "the token is missing or wrong" };
    if (shown === null) return missing;
    const { remoteAddress } = request.socket;
    if (wrong.mayCompare(remoteAddress, token) && isSame(shown, token)) return undefined;
    const { lockedMs, isNew } = await wrong.count(remoteAddress, stopping.signal);
    if (isNew) log.warn("many wrong tokens came from one address: it is locked for some minutes", { remoteAddress });
    return lockedMs === undefined ? missing : { status: 429, why: "too many wrong tokens came from this address" };
  }

  async function listen(server: Server): Promise<void> {
    if (token === undefined && !loopback.has(host))
      throw new ChannelError(
        `channels.websocket.host is ${host}, which others can reach: set channels.websocket.token first.`,
      );
    server.listen(options.port, host);
    try {
      await once(server, "listening");
    } catch (error) {
      throw new ChannelError(`channels.websocket cannot listen on ${host}:${options.port} (${messageOf(error)}).`, {
        retryable: true,
      });
    }
    const address = server.address();
    if (typeof address === "object" && address !== null) options.onListening?.(address.port);
  }

  return {
    name: "websocket",
    files: "together",
    maxFileBytes,
    typingIntervalMs,

    async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
      const server = createServer((_request, response) => void response.writeHead(426).end("WebSocket only\n"));
      const sockets = new WebSocketServer({ noServer: true, maxPayload: largestFrame, perMessageDeflate: false });
      const inbox = createInbox(publish, { busyRetryMs, clients, log, actsAtOnce: context.actsAtOnce }, signal);
      const take = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
        const refusal = await refusalOf(request);
        if (signal.aborted) return void socket.destroy();
        if (refusal !== undefined) {
          socket.end(`HTTP/1.1 ${refusal.status} Refused\r\nConnection: close\r\n\r\n${refusal.why}\n`);
          return;
        }
        sockets.handleUpgrade(request, socket, head, (client) => {
          const chatId = chatOf(addressOf(request).query) ?? `ws-${randomBytes(8).toString("hex")}`;
          greet(client, chatId, clients, inbox);
        });
      };
      server.on("upgrade", (request, socket, head) => {
        socket.on("error", () => socket.destroy());
        void take(request, socket, head);
      });
      try {
        await listen(server);
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
    },

    split: (content) => (content.trim() === "" ? [] : pieces(content)),

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
      await clients.deliver(chatId, frame, sendTimeoutMs, signal);
      return { platformMessageId: id };
    },

    async edit({ chatId, platformMessageId: id, content }): Promise<void> {
      if (!clients.tellChat(chatId, { type: "edit", id, chatId, content }))
        throw new ChannelError(`No program is connected for ${chatId}.`);
    },

    async showTyping(chatId: string, thread: string | undefined): Promise<void> {
      clients.tellChat(chatId, { type: "typing", chatId, ...(thread === undefined ? {} : { thread }) });
    },
  };
}

function greet(client: WebSocket, chatId: string, clients: Clients, inbox: Inbox): void {
  clients.add(client);
  clients.claim(chatId, client);
  clients.tell(client, { type: "hello", chatId });
  client.on("error", () => client.terminate());
  client.on("message", (data, isBinary) => {
    const frame = isBinary ? "A frame has to be text." : parseFrame(data.toString());
    if (typeof frame === "string") clients.tell(client, { type: "error", error: frame });
    else inbox.take(frame, chatId, client);
  });
}

interface Refusal {
  readonly status: number;
  readonly why: string;
}

interface Inbox {
  take(frame: ClientFrame, chatId: string, client: WebSocket): void;
  settled(): Promise<void>;
}

interface InboxOptions {
  readonly busyRetryMs: number;
  readonly clients: Clients;
  readonly log: Logger;
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
}

/** Passes frames on, in order for each chat; a chat whose message is not taken yet holds up only itself. */
function createInbox(
  publish: Publish,
  { busyRetryMs, clients, log, actsAtOnce }: InboxOptions,
  signal: AbortSignal,
): Inbox {
  const tails = new Map<string, Promise<void>>();
  const underWay = new Set<Promise<void>>();
  const pending = new WeakMap<WebSocket, number>();

  /** Who writes faster than is taken is not read any further. */
  function count(client: WebSocket, by: 1 | -1): void {
    const now = (pending.get(client) ?? 0) + by;
    pending.set(client, now);
    if (now >= mostPending) client.pause();
    else if (client.isPaused) client.resume();
  }

  async function pass(message: ReceivedMessage, id: string | undefined, client: WebSocket): Promise<void> {
    const { chatId } = message;
    const refuse = (error: string): void =>
      clients.tell(client, { type: "refused", ...(id === undefined ? {} : { id }), chatId, error });
    for (let wasTold = false; !signal.aborted; ) {
      const outcome = await publish(message);
      if (outcome.status === "refused") return refuse(outcome.reply ?? "");
      if (outcome.status !== "busy")
        return id === undefined ? undefined : clients.tell(client, { type: "accepted", id, chatId });
      // It is taken yet: this is not the word that it was refused.
      if (!wasTold && outcome.reply !== "") clients.tell(client, { type: "error", error: outcome.reply });
      wasTold = true;
      await sleep(busyRetryMs, signal).catch(() => undefined);
    }
  }

  return {
    take(frame, ownChat, client) {
      const message = toReceived(frame, ownChat);
      clients.claim(message.chatId, client);
      const isFirst = actsAtOnce?.(message) === true;
      const before = (isFirst ? undefined : tails.get(message.chatId)) ?? Promise.resolve();
      count(client, 1);
      const done = before
        .then(() => pass(message, frame.id, client))
        .catch((error: unknown) => {
          log.error("a WebSocket message could not be passed on", { chat: message.chatId, error });
          clients.tell(client, { type: "error", error: "This message could not be taken. Please send it again." });
        })
        .finally(() => {
          count(client, -1);
          if (tails.get(message.chatId) === done) tails.delete(message.chatId);
        });
      if (!isFirst) tails.set(message.chatId, done);
      underWay.add(done);
      void done.then(() => underWay.delete(done));
    },
    settled: async () => void (await Promise.all(underWay)),
  };
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

async function toWireFile({ path, filename, mimeType }: Attachment) {
  const bytes = await readToSend({ path, filename });
  return { filename, mimeType, data: bytes.toString("base64") };
}

function pieces(content: string): readonly string[] {
  const count = Math.ceil(content.length / longestMessage);
  return Array.from({ length: count }, (_, n) => content.slice(n * longestMessage, (n + 1) * longestMessage));
}

/** Anybody who can connect chooses it: `new URL` would throw at `//`. */
function addressOf({ url = "/" }: IncomingMessage): { readonly path: string; readonly query: URLSearchParams } {
  const [path = "", query] = url.split("?", 2);
  return { path, query: new URLSearchParams(query) };
}

function chatOf(query: URLSearchParams): string | undefined {
  return query.get("chatId") ?? query.get("clientId") ?? undefined;
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
