import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { WebSocketServer } from "ws";
import { messageOf } from "../../../../src/errors.js";
import type { Logger } from "../../../../src/log.js";
import { isLoopback } from "../../../../src/util/loopback.js";
import { isSameSecret } from "../../../../src/util/same-secret.js";
import { Client, type ClientParts } from "./client.js";
import type { Uploads } from "./uploads.js";

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
}

export interface ServerParts extends ClientParts {
  readonly uploads: Uploads;
  readonly log: Logger;
}

/** Of one frame: texts alone. Files come and go by HTTP. */
const largestFrame = 1024 * 1024;

/** Where gateways connect: a WebSocket for frames, and `/files/` for what they are about. */
export class BridgeServer implements AsyncDisposable {
  readonly #options: ServerOptions;
  readonly #parts: ServerParts;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: largestFrame, perMessageDeflate: false });
  readonly #clients = new Set<Client>();

  private constructor(options: ServerOptions, parts: ServerParts) {
    this.#options = options;
    this.#parts = parts;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  static async open(options: ServerOptions, parts: ServerParts): Promise<BridgeServer> {
    const opened = new BridgeServer(options, parts);
    await new Promise<void>((resolve, reject) => {
      opened.#server.once("error", reject);
      opened.#server.listen(options.port, options.host, resolve);
    });
    return opened;
  }

  get port(): number {
    // A server that listens on a port has such an address.
    return (this.#server.address() as AddressInfo).port;
  }

  /** To all who have shown the token. */
  say(frame: object): void {
    for (const client of this.#clients) client.say(frame);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#clients].map((client) => client.settled()));
  }

  /** A page in a browser is never let in, and without a token nobody who calls this machine by another name. */
  #isStranger({ headers: { origin, host = "" } }: IncomingMessage): boolean {
    if (origin !== undefined) return true;
    return this.#options.token === undefined && !isLoopback(host.replace(/:\d+$/, ""));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#isStranger(request)) {
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      const { token } = this.#options;
      new Client(opened, token, this.#parts, {
        onIn: (client) => this.#clients.add(client),
        onGone: (client) => this.#clients.delete(client),
      }).begin();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const status = this.#refusalOf(request) ?? (await this.#serve(request, response));
      if (status !== undefined) response.writeHead(status, { connection: "close" }).end();
    } catch (error) {
      this.#parts.log.warn(`a file did not pass: ${messageOf(error)}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    }
  }

  #refusalOf(request: IncomingMessage): number | undefined {
    if (this.#isStranger(request)) return 403;
    const { token } = this.#options;
    const [, given = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    return token === undefined || isSameSecret(given, token) ? undefined : 401;
  }

  /** Resolves with the status of an answer that has no body. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<number | undefined> {
    const { method, url = "" } = request;
    const [, seq] = /^\/files\/(\d+)$/.exec(url) ?? [];
    if (method === "GET" && seq !== undefined) return await this.#giveFile(Number(seq), response);
    if (method !== "POST" || url !== "/files") return 404;
    const upload = await this.#parts.uploads.take(request);
    if (upload === undefined) return 413;
    response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ upload }));
    return undefined;
  }

  async #giveFile(seq: number, response: ServerResponse): Promise<number | undefined> {
    const { inbox, whatsapp } = this.#parts;
    const media = inbox.find(seq)?.media;
    if (media === undefined) return 404;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const content = await whatsapp.download(media, gone.signal);
    response.writeHead(200, { "content-type": "application/octet-stream" });
    await pipeline(content, response);
    return undefined;
  }
}
