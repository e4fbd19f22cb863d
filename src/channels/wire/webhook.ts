import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";
import { within } from "../../util/async/within.js";
import type { WebhookPaths } from "../channel.js";

/** What a platform has brought. */
export interface WebhookRequest {
  readonly method: "GET" | "POST";
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Byte for byte as it came: what signatures are made of. Empty for `GET`. */
  readonly body: Buffer;
}

export interface WebhookAnswer {
  readonly status: number;
  /** An object is sent as JSON. */
  readonly body?: string | object;
}

/**
 * Answers one request, which anybody can have sent: check its signature first. Answer 200 only once what it brought is
 * durable; what it throws is answered with 503, so that the platform brings it again.
 */
export type TakeWebhook = (request: WebhookRequest, signal: AbortSignal) => Promise<WebhookAnswer>;

export interface WebhookOptions {
  /** The channel's name, as in the config. */
  readonly name: string;
  /** Where to listen: `127.0.0.1:18793`, `:18793`. Absent: a path of the gateway's own server, `/hooks/<name>`. */
  readonly listenAddr?: string | undefined;
  /** Of the channel's own server. Default `/hooks/<name>`. */
  readonly path?: string | undefined;
  /** Default 1 MB. */
  readonly maxBytes?: number | undefined;
  /** Until the whole request is in, and until it is answered. Default 10,000 each. */
  readonly limitMs?: number | undefined;
  /** Of the gateway's own server. */
  readonly paths?: WebhookPaths | undefined;
  readonly log: Logger;
}

export interface Webhook extends AsyncDisposable {
  /** Of its own server; undefined on the gateway's. */
  readonly port: number | undefined;
}

const largestBody = 1024 * 1024;
const limitMs = 10_000;

/**
 * Takes what a platform brings, until it is disposed. Requests that are under way then are answered with 503.
 *
 * @throws {ChannelError} when the address cannot be listened on, or there is none
 */
export async function openWebhook(options: WebhookOptions, take: TakeWebhook): Promise<Webhook> {
  const desk = new Desk(options, take);
  const { name, listenAddr, paths } = options;
  if (listenAddr !== undefined) return await listen(options, listenAddr, desk);
  if (paths === undefined)
    throw new ChannelError(`channels.${name} needs an address to listen on. Set channels.${name}.listenAddr.`);
  const taken = paths.open(name, (request, response) => desk.handle(request, response));
  return {
    port: undefined,
    async [Symbol.asyncDispose]() {
      taken[Symbol.dispose]();
      await desk.close();
    },
  };
}

/** `host:port` or `:port`, which is every address of this machine; undefined for anything else. */
export function parseListenAddr(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, inBrackets, host = inBrackets ?? "0.0.0.0", port = ""] =
    /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]/]+))?:(\d{1,5})$/i.exec(text) ?? [];
  return port !== "" && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined;
}

async function listen(options: WebhookOptions, listenAddr: string, desk: Desk): Promise<Webhook> {
  const { name } = options;
  const path = options.path ?? `/hooks/${name}`;
  const where = parseListenAddr(listenAddr);
  if (where === undefined)
    throw new ChannelError(`channels.${name}.listenAddr is not an address such as 127.0.0.1:18793.`);
  const server = createServer((request, response) => {
    if (pathOf(request) === path) void desk.handle(request, response);
    else response.writeHead(404, { connection: "close" }).end();
  });
  server.requestTimeout = options.limitMs ?? limitMs;
  server.headersTimeout = Math.min(server.requestTimeout, limitMs);
  server.listen(where.port, where.host);
  try {
    await once(server, "listening");
  } catch (error) {
    const why = `${listenAddr} cannot be listened on (${messageOf(error)})`;
    throw new ChannelError(`channels.${name}.listenAddr: ${why}. Choose another port.`, { retryable: true });
  }
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : where.port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      await desk.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Reads requests, and writes the answers. */
class Desk {
  readonly #options: WebhookOptions;
  readonly #take: TakeWebhook;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: WebhookOptions, take: TakeWebhook) {
    this.#options = options;
    this.#take = take;
  }

  /** Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name, log } = this.#options;
    const done = this.#answer(request, response)
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted)
          log.warn(`what ${name} brought could not be taken: ${messageOf(error)}`, { error });
        end(response, { status: 503 });
      })
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
    return done;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#underWay);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { maxBytes = largestBody, limitMs: ms = limitMs } = this.#options;
    const { method, headers } = request;
    if (method !== "GET" && method !== "POST") {
      response.setHeader("allow", "GET, POST");
      return end(response, { status: 405 });
    }
    using scope = linked(this.#closing.signal, ms * 2);
    const body = await within(readBody(request, maxBytes), { ms, signal: scope.signal });
    if (body === undefined) return end(response, { status: 413 });
    const { searchParams: query } = new URL(request.url ?? "/", "http://localhost");
    const taking = this.#take({ method, query, headers, body }, scope.signal);
    end(response, await within(taking, { ms, signal: scope.signal }));
  }
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/";
}

function end(response: ServerResponse, { status, body }: WebhookAnswer): void {
  if (response.headersSent || response.destroyed) return;
  const isJson = typeof body === "object";
  const headers = { "content-type": isJson ? "application/json" : "text/plain; charset=utf-8" };
  // What is left of a refused body is not read.
  response.writeHead(status, status >= 400 ? { ...headers, connection: "close" } : headers);
  response.end(isJson ? JSON.stringify(body) : (body ?? ""));
}

/** Undefined: it is larger. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    // A request without an encoding gives bytes.
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) return undefined;
  }
  return Buffer.concat(chunks);
}
