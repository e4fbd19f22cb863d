import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

/** A request as a platform sees it. */
export interface FakeCall {
  /** `POST /messages`, without the query. */
  readonly name: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body's JSON; undefined where it is not JSON. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
}

export interface FakeReply {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** What goes wrong with one call. `carriedOut`: the platform does what it was asked, and then fails. */
export type FakeFault =
  | ({ readonly kind: "answer" } & FakeReply)
  | { readonly kind: "cut"; readonly carriedOut: boolean }
  | { readonly kind: "hang"; readonly carriedOut: boolean };

export interface FakeServerOptions {
  /** Carries a call out. Throw for what a test must not do. */
  readonly answer: (call: FakeCall) => FakeReply | Promise<FakeReply>;
  /** A WebSocket was opened; undefined: this platform has none. Return a status to refuse it. */
  readonly onSocket?: (socket: WebSocket, call: Pick<FakeCall, "query" | "headers">) => void;
  readonly refusesSocket?: (call: Pick<FakeCall, "query" | "headers">) => number | undefined;
  /** Another name for a call, where one path serves several. */
  readonly rename?: (name: string, json: FakeCall["json"]) => string;
}

/** A platform's HTTP and WebSocket on loopback, with faults on demand: what is special about a platform is in `options`. */
export async function startFakeServer(options: FakeServerOptions): Promise<FakeServer> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new FakeServer(server, options);
}

export class FakeServer implements AsyncDisposable {
  /** `http://127.0.0.1:1234`. */
  readonly url: string;
  /** All calls so far. */
  readonly calls: FakeCall[] = [];
  /** Open WebSockets. */
  readonly sockets = new Set<WebSocket>();
  readonly #server: Server;
  readonly #options: FakeServerOptions;
  readonly #faults: { readonly call: RegExp; readonly fault: FakeFault }[] = [];
  readonly #open = new Set<ServerResponse>();

  constructor(server: Server, options: FakeServerOptions) {
    // A server that listens on TCP has an object as its address.
    const { port } = server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
    this.#server = server;
    this.#options = options;
    server.on("request", (request, response) => void this.#handle(request, response));
    const sockets = new WebSocketServer({ noServer: true });
    server.on("upgrade", (request, socket, head) => {
      const call = { query: queryOf(request), headers: request.headers };
      const status = options.onSocket === undefined ? 404 : options.refusesSocket?.(call);
      if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\n\r\n`);
      sockets.handleUpgrade(request, socket, head, (client) => {
        this.sockets.add(client);
        client.on("close", () => this.sockets.delete(client));
        client.on("error", () => client.terminate());
        options.onSocket?.(client, call);
      });
    });
  }

  /** The next call whose name matches fails so; several are planned in order. */
  failNext(call: RegExp, fault: FakeFault, times = 1): void {
    for (let nth = 0; nth < times; nth += 1) this.#faults.push({ call, fault });
  }

  /** Breaks the WebSockets, and the calls under way whose name matches; if there is none, the next such call. */
  loseConnections(call?: RegExp): void {
    for (const socket of this.sockets) socket.terminate();
    if (call === undefined) return;
    const open = [...this.#open].filter(({ req }) => call.test(nameOf(req)));
    for (const { req } of open) req.socket.destroy();
    if (open.length === 0) this.failNext(call, { kind: "cut", carriedOut: false });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    this.#open.add(response);
    response.once("close", () => {
      this.#open.delete(response);
      gone.abort();
    });
    try {
      const body = await bodyOf(request);
      const json = jsonIn(body);
      const about = { query: queryOf(request), headers: request.headers, body, json };
      const name = this.#options.rename?.(nameOf(request), json) ?? nameOf(request);
      const call: FakeCall = { name, ...about, signal: gone.signal };
      this.calls.push(call);
      await this.#carryOut(call, request, response);
    } catch (error) {
      write(response, { status: 500, body: { error: String(error) } });
    }
  }

  async #carryOut(call: FakeCall, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = this.#faults.findIndex((one) => one.call.test(call.name));
    const fault = at === -1 ? undefined : this.#faults.splice(at, 1)[0]?.fault;
    if (fault === undefined) return write(response, await this.#options.answer(call));
    if (fault.kind === "answer") return write(response, fault);
    if (fault.carriedOut) await this.#options.answer(call);
    if (fault.kind === "cut") request.socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

function nameOf(request: IncomingMessage): string {
  return `${request.method} ${(request.url ?? "/").split("?", 1)[0]}`;
}

function queryOf(request: IncomingMessage): URLSearchParams {
  return new URL(request.url ?? "/", "http://localhost").searchParams;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function jsonIn(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch {
    // A form or a file.
    return {};
  }
}

function write(response: ServerResponse, { status = 200, headers = {}, body = {} }: FakeReply): void {
  if (response.headersSent || response.destroyed) return;
  const isBytes = body instanceof Uint8Array;
  response.writeHead(status, { ...(isBytes ? {} : { "content-type": "application/json" }), ...headers });
  response.end(isBytes ? body : JSON.stringify(body));
}
