import { WebSocket } from "ws";
import type { GatewayApi } from "../../api/gateway-api.js";
import type { SubscribeOptions, Subscription } from "../../api/messages/events-api.js";
import { messageOf, RequestError } from "../../errors.js";
import type { GatewayEvent } from "../../events/event.js";
import { createGate } from "../../util/async/gate.js";
import { within } from "../../util/async/within.js";
import { toFaultReply } from "../faults.js";
import { parseJson } from "../json.js";
import type { HttpSettings } from "../options.js";
import { type CommandContext, runCommand } from "./commands.js";
import { type ClientFrame, type CommandResult, clientFrame, type EventEncoder, encode, idOf } from "./frames.js";
import { GoListener } from "./go.js";

const maxRunningCommands = 64;
const maxSubscriptions = 256;

interface Followed {
  readonly types: readonly string[] | undefined;
  readonly subscription: Subscription;
}

export interface ConnectionPorts {
  readonly api: GatewayApi;
  readonly settings: HttpSettings;
  readonly encodeEvent: EventEncoder;
}

/** Serves one client until its connection closes: commands in, responses and events out. */
export function serveConnection(socket: WebSocket, ports: ConnectionPorts): void {
  const { settings } = ports;
  const connection = new Connection(socket, ports);
  socket.on("message", (data, isBinary) => {
    if (isBinary) connection.refuseBinary();
    else void connection.take(String(data));
  });
  const stopPinging = keepAlive(socket, settings);
  socket.on("error", (error) => settings.log.debug("a WebSocket failed", { error: messageOf(error) }));
  socket.once("close", () => {
    stopPinging();
    connection.close();
  });
}

type FrameId = string | number | undefined;

class Connection {
  readonly #socket: WebSocket;
  readonly #ports: ConnectionPorts;
  readonly #followed = new Map<string, Followed>();
  readonly #goPage: GoListener;
  #running = 0;

  constructor(socket: WebSocket, ports: ConnectionPorts) {
    this.#socket = socket;
    this.#ports = ports;
    this.#goPage = new GoListener(ports.api, (frame) => this.#send(frame));
  }

  /** Runs a command, and answers it. Never rejects. */
  async take(text: string): Promise<void> {
    let id: FrameId;
    const responded = createGate();
    try {
      const frame = parseJson(text, clientFrame);
      id = frame.id;
      if (frame.type !== "command") this.#goPage.begin(responded.opened);
      this.#respond(id, { success: true, data: await this.#run(frame, responded.opened) });
    } catch (error) {
      this.#refuse(id ?? idOf(text), error);
    } finally {
      responded.open();
    }
  }

  refuseBinary(): void {
    this.#refuse(undefined, new RequestError("Frames are JSON text.", { status: 400, code: "bad_request" }));
  }

  close(): void {
    this.#goPage.close();
    for (const target of [...this.#followed.keys()]) this.#unsubscribe(target);
  }

  async #run(frame: ClientFrame, responded: Promise<void>): Promise<unknown> {
    if (this.#running >= maxRunningCommands)
      throw new RequestError("Too many commands at once.", { status: 429, code: "BUFFER_FULL" });
    const { api, settings } = this.#ports;
    const context: CommandContext = {
      api,
      subscribe: (target, options) => this.#subscribe(target, { ...options, after: responded }),
      unsubscribe: (target) => this.#unsubscribe(target),
    };
    const ms = settings.timings.commandTimeoutMs;
    const late = () => new RequestError(`No answer within ${ms} ms.`, { status: 504, code: "timeout" });
    this.#running++;
    try {
      return await within(runCommand(frame, context), { ms, late });
    } finally {
      this.#running--;
    }
  }

  #subscribe(target: string, options: SubscribeOptions): Promise<number | undefined> {
    this.#unsubscribe(target);
    if (this.#followed.size >= maxSubscriptions)
      throw new RequestError(`One connection follows ${maxSubscriptions} sessions at most.`, {
        status: 429,
        code: "BUFFER_FULL",
      });
    const { api, settings, encodeEvent } = this.#ports;
    const subscription = api.subscribe(target, options, (event) =>
      this.#isSentElsewhere(target, event) ? undefined : this.#send(encodeEvent(event)),
    );
    this.#followed.set(target, { types: options.types, subscription });
    subscription.caughtUp.catch((error: unknown) => {
      settings.log.error("replaying a session to a client failed", { target, error: messageOf(error) });
      endConnection(this.#socket, 1011, "reading the past failed: reconnect");
    });
    return subscription.joinedAt;
  }

  #unsubscribe(target: string): boolean {
    this.#followed.get(target)?.subscription.close();
    return this.#followed.delete(target);
  }

  /** Who follows `*` and one session gets that session's events once. */
  #isSentElsewhere(target: string, event: GatewayEvent): boolean {
    if (target !== "*") return false;
    const own = this.#followed.get(event.session_key);
    return own !== undefined && (own.types === undefined || own.types.includes(event.type));
  }

  #respond(id: FrameId, response: CommandResult): void {
    void this.#send(encode({ type: "response", id, response }));
  }

  #refuse(id: FrameId, error: unknown): void {
    const fault = toFaultReply(error, this.#ports.settings.log);
    this.#respond(id, { success: false, error: fault.error, code: fault.code });
  }

  /** The promise, if there is one, resolves when a slow reader has taken this frame: a replay waits for it. */
  #send(frame: Buffer): Promise<void> | undefined {
    const socket = this.#socket;
    const { maxBufferedBytes } = this.#ports.settings.limits;
    if (socket.readyState !== WebSocket.OPEN) return undefined;
    if (socket.bufferedAmount > maxBufferedBytes) {
      endConnection(socket, 1013, "reading too slowly: reconnect and catch up");
      return undefined;
    }
    const taken = new Promise<void>((resolve) => socket.send(frame, { binary: false }, () => resolve()));
    return socket.bufferedAmount > maxBufferedBytes / 8 ? taken : undefined;
  }
}

/** Says goodbye, and does not wait long for an answer: a stalled reader would keep its buffer alive. */
export function endConnection(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.close(code, reason);
  const timer = setTimeout(() => socket.terminate(), 1000);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}

function keepAlive(socket: WebSocket, settings: HttpSettings): () => void {
  let late: NodeJS.Timeout | undefined;
  const pinging = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN || late !== undefined) return;
    socket.ping();
    late = setTimeout(() => socket.terminate(), settings.timings.pongTimeoutMs);
  }, settings.timings.pingIntervalMs);
  socket.on("pong", () => {
    clearTimeout(late);
    late = undefined;
  });
  return () => {
    clearInterval(pinging);
    clearTimeout(late);
  };
}
