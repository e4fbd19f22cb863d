import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { GatewayApi } from "../../api/gateway-api.js";
import { RequestError } from "../../errors.js";
import { Connections } from "../access/connections.js";
import type { ConnectionSlots } from "../connection-slots.js";
import { type FaultReply, toFaultReply } from "../faults.js";
import { type Guard, tokenProtocol } from "../guard.js";
import type { HttpSettings } from "../options.js";
import { answerHeaders } from "../security-headers.js";
import { parseTarget } from "../target.js";
import { endConnection, serveConnection } from "./connection.js";
import { createEventEncoder } from "./frames.js";

/** The `/ws` door of the server. */
export interface WebSockets {
  /** Takes over the connection of an upgrade request, or refuses it with an HTTP answer. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Says goodbye to every client. */
  close(): void;
}

export function createWebSockets(
  settings: HttpSettings,
  api: GatewayApi,
  guard: Guard,
  slots: ConnectionSlots,
): WebSockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: settings.limits.maxBodyBytes,
    perMessageDeflate: false,
    clientTracking: true,
    // A browser wants one of the names it gave back, and the token is none to be said again.
    handleProtocols: (names) => [...names].find((name) => !name.startsWith(tokenProtocol)) ?? false,
  });
  const encodeEvent = createEventEncoder();
  const checking = new Set<AbortController>();
  const ofDevices = new Connections(api.devices);
  const check = async (request: IncomingMessage, signal: AbortSignal): Promise<string | undefined> => {
    const target = parseTarget(request.url ?? "", settings.site().basePath);
    guard.checkSource(request, { isPage: false });
    const { device } = await guard.letIn(request, target, { inQuery: true, isSocket: true, signal });
    if (target.segments.join("/") !== "ws")
      throw new RequestError("Only /ws can be upgraded.", { status: 404, code: "not_found" });
    return device?.id;
  };
  const take = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    socket.once("close", onClose);
    checking.add(gone);
    let release: () => void;
    let device: string | undefined;
    try {
      device = await check(request, gone.signal);
      release = slots.take("ws");
    } catch (error) {
      return refuse(socket, toFaultReply(error, settings.log));
    } finally {
      checking.delete(gone);
      socket.off("close", onClose);
    }
    if (socket.destroyed) return release();
    socket.once("close", release);
    server.handleUpgrade(request, socket, head, (client) => {
      client.once(
        "close",
        ofDevices.add(device, () => endConnection(client, 1008, "signed out")),
      );
      serveConnection(client, { api, settings, encodeEvent });
    });
  };
  return {
    upgrade(request, socket, head) {
      socket.on("error", () => socket.destroy());
      void take(request, socket, head);
    },
    close() {
      ofDevices.close();
      for (const one of checking) one.abort();
      for (const client of server.clients) endConnection(client, 1001, "the gateway is stopping");
      server.close();
    },
  };
}

/** An HTTP answer on a bare socket. */
export function refuse(socket: Duplex, fault: FaultReply): void {
  const body = JSON.stringify({ error: fault.error, code: fault.code });
  const lines = [
    `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status] ?? "Error"}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "Connection: close",
    ...Object.entries(answerHeaders).map(([name, value]) => `${name}: ${value}`),
    ...(fault.status === 401 ? ["WWW-Authenticate: Bearer"] : []),
    ...(fault.retryAfterMs === undefined ? [] : [`Retry-After: ${Math.ceil(fault.retryAfterMs / 1000)}`]),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
  // A peer that never closes its side is not waited for.
  setTimeout(() => socket.destroy(), 1000).unref();
}
