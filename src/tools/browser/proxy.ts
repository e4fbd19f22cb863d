import { once } from "node:events";
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { LRUCache } from "lru-cache";
import { type Egress, EgressError } from "../../policy/locations/egress.js";
import { portOf } from "../web/request.js";

/**
 * The only way to the network for a browser: whatever its pages load, redirect to or connect to comes by here, and its
 * address is judged after it was looked up.
 */
export interface EgressProxy extends AsyncDisposable {
  /** `http://127.0.0.1:1234` */
  readonly url: string;
  /** Why a host was refused the last time, as a sentence. */
  refusalOf(host: string): string | undefined;
}

const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "proxy-connection",
  "proxy-authorization",
  "keep-alive",
  "te",
  "trailer",
]);
const maxRefusals = 200;

export async function openEgressProxy(egress: Egress): Promise<EgressProxy> {
  const refusals = new LRUCache<string, string>({ max: maxRefusals });
  const sockets = new Set<Duplex>();
  const resolve = async (host: string, port: number): ReturnType<Egress["resolve"]> => {
    try {
      return await egress.resolve(host, port);
    } catch (error) {
      if (error instanceof EgressError) refusals.set(plainHost(host), error.message);
      throw error;
    }
  };
  const server = createServer((request, response) => void forward(request, response, resolve));
  server.on("connect", (request, client: Duplex, head: Buffer) => void tunnel(request, client, head, resolve, sockets));
  server.on("connection", (socket) => track(socket, sockets));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    refusalOf: (host) => refusals.get(plainHost(host)),
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Plain http. */
async function forward(request: IncomingMessage, response: ServerResponse, resolve: Egress["resolve"]): Promise<void> {
  response.once("error", () => response.destroy());
  try {
    const { url: text = "" } = request;
    // Anyone who takes this for a web server gets nothing.
    if (!/^http:\/\//i.test(text) || !URL.canParse(text)) throw new EgressError("Only the browser may use this proxy.");
    const url = new URL(text);
    const addresses = await resolve(url.hostname, portOf(url));
    if (response.destroyed) return;
    const lookup: LookupFunction = (_host, options, callback) => {
      if (options.all) callback(null, [...addresses]);
      else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
    };
    const onward = requestHttp(url, { agent: false, lookup, method: request.method, headers: passedOn(request) });
    const onFailure = (): void => refuse(response, 502, "The server could not be reached.");
    onward.on("error", onFailure);
    // A server that changes the protocol gives no response, and no error either.
    onward.once("close", () => response.headersSent || onFailure());
    onward.once("response", (answer) => passBack(answer, response));
    response.once("close", () => onward.destroy());
    request.pipe(onward);
  } catch (error) {
    refuse(response, 403, error instanceof EgressError ? error.message : "The request failed.");
  }
}

function passBack(answer: IncomingMessage, response: ServerResponse): void {
  answer.once("error", () => response.destroy());
  try {
    response.writeHead(answer.statusCode ?? 502, passedOn(answer));
    answer.pipe(response);
  } catch {
    // Node reads statuses and headers that it does not write.
    answer.destroy();
    refuse(response, 502, "The server's answer is damaged.");
  }
}

function passedOn({ headers }: IncomingMessage): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !hopByHop.has(name)) kept[name] = value;
  return kept;
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(sentence);
}

/** Everything else: https and web sockets. */
async function tunnel(
  { url = "" }: IncomingMessage,
  client: Duplex,
  head: Buffer,
  resolve: Egress["resolve"],
  sockets: Set<Duplex>,
): Promise<void> {
  client.once("error", () => client.destroy());
  try {
    const target = new URL(`https://${url}`);
    const addresses = await resolve(target.hostname, portOf(target));
    const server = await dial(
      addresses.map(({ address }) => address),
      portOf(target),
    );
    track(server, sockets);
    server.once("error", () => client.destroy());
    server.once("close", () => client.destroy());
    client.once("close", () => server.destroy());
    if (client.destroyed) {
      server.destroy();
      return;
    }
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    server.write(head);
    server.pipe(client);
    client.pipe(server);
  } catch (error) {
    client.end(`HTTP/1.1 ${error instanceof EgressError ? "403 Forbidden" : "502 Bad Gateway"}\r\n\r\n`);
  }
}

const dialMs = 10_000;

/** The first address that answers. */
async function dial(addresses: readonly string[], port: number): Promise<Socket> {
  let failure: unknown;
  for (const host of addresses) {
    const socket = connect({ host, port });
    socket.setTimeout(dialMs, () => socket.destroy(new Error("no answer")));
    try {
      await once(socket, "connect");
      socket.setTimeout(0);
      return socket;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function track(socket: Duplex, sockets: Set<Duplex>): void {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
}

function plainHost(host: string): string {
  return host.replace(/^\[|\]$/g, "").toLowerCase();
}
