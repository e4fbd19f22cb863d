import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { CommandFrame } from "../../../src/client/frames.js";
import type { GatewayEvent } from "../../../src/events/event.js";

interface FrameSocket {
  respond(id: string, response: object): void;
  event(event: GatewayEvent): void;
}

type AnyCommand = CommandFrame & { readonly command: { readonly payload: Readonly<Record<string, unknown>> } };

/** The far side of the client at the wire: a WebSocket server that a test can cut, mute and make refuse. */
export interface FrameServer {
  readonly url: string;
  /** How many connections were opened so far. */
  readonly connections: number;
  /** Path and query of the last upgrade request. */
  readonly lastUrl: string;
  /** What the last client asked for in `Sec-WebSocket-Protocol`. */
  readonly lastProtocols: readonly string[];
  /** By default each command succeeds. */
  onCommand: (frame: AnyCommand, socket: FrameSocket) => void;
  /** Answers upgrade requests with 503. */
  refuses: boolean;
  /** Takes connections and never answers the upgrade. */
  isMute: boolean;
  broadcast(event: GatewayEvent): void;
  raw(text: string): void;
  /** Ends all connections, saying why. */
  end(code: number): void;
  /** Ends all connections without a goodbye. */
  cut(): void;
  /** Reads nothing more from the present connections. */
  pause(): void;
  close(): Promise<void>;
}

export async function openFrameServer(): Promise<FrameServer> {
  const sockets = new Set<WebSocket>();
  const http = createServer();
  const wss = new WebSocketServer({ noServer: true });
  const state: { connections: number; lastUrl: string; lastProtocols: readonly string[] } = {
    connections: 0,
    lastUrl: "",
    lastProtocols: [],
  };
  const text = (event: GatewayEvent): string => JSON.stringify({ type: "event", event, source: "server" });

  const serve = (socket: WebSocket): void => {
    state.connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    const face: FrameSocket = {
      respond: (id, response) => socket.send(JSON.stringify({ type: "response", id, response })),
      event: (event) => socket.send(text(event)),
    };
    socket.on("message", (data) => server.onCommand(JSON.parse(String(data)), face));
  };

  http.on("upgrade", (request, socket, head) => {
    state.lastUrl = request.url ?? "";
    state.lastProtocols = request.headers["sec-websocket-protocol"]?.split(/, */) ?? [];
    socket.on("error", () => undefined);
    if (server.isMute) return;
    if (server.refuses) socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    else wss.handleUpgrade(request, socket, head, serve);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = http.address() as AddressInfo;
  const connections = new Set<Socket>();
  http.on("connection", (connection) => connections.add(connection));

  const server: FrameServer = {
    url: `ws://127.0.0.1:${port}/ws`,
    get connections() {
      return state.connections;
    },
    get lastProtocols() {
      return state.lastProtocols;
    },
    get lastUrl() {
      return state.lastUrl;
    },
    onCommand: ({ id }, socket) => socket.respond(id, { success: true }),
    refuses: false,
    isMute: false,
    broadcast(event) {
      for (const socket of sockets) socket.send(text(event));
    },
    raw(frame) {
      for (const socket of sockets) socket.send(frame);
    },
    end(code) {
      for (const socket of sockets) socket.close(code);
    },
    cut() {
      for (const socket of sockets) socket.terminate();
    },
    pause() {
      for (const socket of sockets) socket.pause();
    },
    async close() {
      const closed = once(http, "close");
      http.close();
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
  return server;
}

/** An event as the wire carries it; the payload is of no interest to who only orders events. */
export function eventOf(
  sessionKey: string,
  seq: number | null,
  type: "agent_state_changed" | "text_delta" = "agent_state_changed",
): GatewayEvent {
  const envelope = {
    schema_version: "1.0" as const,
    event_id: `evt_${sessionKey}_${seq}`,
    session_key: sessionKey,
    seq,
    timestamp: "2026-01-01T00:00:00.000Z",
    source: "agent",
    metadata: { instance_id: "gw_test" },
  };
  return type === "text_delta"
    ? { ...envelope, type, payload: { message_id: "msg_1", text: "x" } }
    : { ...envelope, type, payload: { from: "idle", to: "thinking", cause: "message" } };
}

/** Resolves once it holds; rejects after the limit. */
export async function until(holds: () => boolean, limitMs = 20_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`still not true after ${limitMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
