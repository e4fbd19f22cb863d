import { lookup } from "node:dns/promises";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import type { GatewayApi } from "../api/gateway-api.js";
import { ConfigError } from "../errors.js";
import { isLoopback } from "../util/loopback.js";
import { createConnectionSlots } from "./connection-slots.js";
import type { FaultReply } from "./faults.js";
import { Guard } from "./guard.js";
import { type HttpOptions, withDefaults } from "./options.js";
import { createRequestHandler } from "./request-handler.js";
import { createWebSockets, refuse } from "./websocket/websocket.js";

/** The gateway's one HTTP server, while it listens. */
export interface HttpServer {
  readonly host: string;
  /** The one it got, also where port 0 was asked for. */
  readonly port: number;
  /** `host:port`, an IPv6 host in brackets. */
  readonly address: string;
  /** `http://host:port`. */
  readonly url: string;
  /** What the owner has to know of who comes. */
  problems(): readonly string[];
}

/** Room for short requests beside the long-lived connections. */
const shortRequests = 256;

/**
 * Listens, and serves until it is disposed or `signal` aborts: open streams end, answers under way get
 * `options.timings.graceMs`.
 *
 * @throws {ConfigError} the address cannot be had, or it is open to others and no token is set
 */
export async function openHttpServer(
  options: HttpOptions,
  api: GatewayApi,
  signal: AbortSignal,
): Promise<HttpServer & AsyncDisposable> {
  const settings = withDefaults(options);
  const { host, token, log } = settings;
  if (token === "")
    throw new ConfigError("The gateway's token is empty. Set one of at least a few characters, or none.");
  if (token === undefined && !isLoopback(host)) {
    await assertOwnAddress(host);
    throw new ConfigError(
      `The gateway would listen on ${host}, which others can reach. Set gateway.token, or gateway.host to 127.0.0.1.`,
    );
  }

  let port = settings.port;
  const guard = new Guard(settings, api.devices, () => port);
  const slots = createConnectionSlots(settings.limits.maxConnections, settings.onClient);
  const sockets = createWebSockets(settings, api, guard, slots);
  const handler = createRequestHandler(settings, api, guard, slots);
  const server = createServer(
    {
      headersTimeout: settings.timings.headersTimeoutMs,
      // Where no file is brought the reader of the body is stricter.
      requestTimeout: Math.max(settings.timings.requestTimeoutMs, settings.timings.uploadTimeoutMs),
      connectionsCheckingInterval: Math.min(1000, settings.timings.requestTimeoutMs / 2),
    },
    (request, response) => handler.handle(request, response),
  );
  server.maxConnections = settings.limits.maxConnections + shortRequests;
  const unused = trackUnused(server);
  server.on("upgrade", (request, socket, head) => sockets.upgrade(request, socket, head));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (handler.hasBegun(socket) || !socket.writable || error.code === "ECONNRESET") socket.destroy();
    else refuse(socket, toBrokenRequest(error.code));
  });
  port = await listen(server, host, port);
  server.on("error", (error) => log.error("the HTTP server failed", { error }));

  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const cut = setTimeout(() => server.closeAllConnections(), settings.timings.graceMs);
    for (const socket of unused) socket.destroy();
    sockets.close();
    await Promise.race([handler.finish(), closed]);
    server.closeIdleConnections();
    await closed;
    clearTimeout(cut);
  };
  let closing: Promise<void> | undefined;
  const closeOnce = (): Promise<void> => {
    closing ??= close();
    return closing;
  };
  const onAbort = (): void => void closeOnce();
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });

  const address = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
  return {
    host,
    port,
    address,
    url: `http://${address}`,
    problems: () => [guard.problem()].filter((problem) => problem !== undefined),
    async [Symbol.asyncDispose]() {
      signal.removeEventListener("abort", onAbort);
      await closeOnce();
    },
  };
}

/** Connections without a request so far, as browsers open them in advance: Node does not count them as idle. */
function trackUnused(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("request", ({ socket }) => unused.delete(socket));
  server.on("upgrade", ({ socket }) => unused.delete(socket));
  return unused;
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(toAddressError(error, host, port));
    server.once("error", onError);
    const onListening = (): void => {
      server.off("error", onError);
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : port);
    };
    try {
      server.listen({ host: host.replace(/^\[(.*)\]$/, "$1"), port }, onListening);
    } catch (error) {
      reject(
        new ConfigError(`${port} is not a port number. Set gateway.port to one from 1 to 65535.`, { cause: error }),
      );
    }
  });
}

function toAddressError(error: NodeJS.ErrnoException, host: string, port: number): ConfigError {
  const where = `Cannot listen on ${host}, port ${port}`;
  const text =
    error.code === "EADDRINUSE"
      ? `${where}: the port is in use, perhaps by a gateway that already runs. Stop that program or set gateway.port to another port.`
      : error.code === "EACCES"
        ? `${where}: the system does not allow it. Set gateway.port to a port above 1023.`
        : `${where} (${error.code ?? error.message}). Set gateway.host to an address of this machine, e.g. 127.0.0.1.`;
  return new ConfigError(text, { cause: error });
}

/** Requests that never became one. */
function toBrokenRequest(code: string | undefined): FaultReply {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return { status: 408, code: "timeout", error: "The request took too long to arrive." };
  if (code === "HPE_HEADER_OVERFLOW")
    return { status: 431, code: "bad_request", error: "The request's headers are too large." };
  return { status: 400, code: "bad_request", error: "This is not an HTTP request." };
}

/**
 * Resolves where this machine has the address, or one that the name means.
 *
 * @throws as listening there would
 */
async function assertOwnAddress(host: string): Promise<void> {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  const found = (await lookup(plain, { all: true })).map(({ address }) => address);
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  if (found.some((address) => ["0.0.0.0", "::", ...own].includes(address))) return;
  throw Object.assign(new Error(`${host} is not an address of this machine`), {
    ...{ code: "EADDRNOTAVAIL", syscall: "listen" },
  });
}
