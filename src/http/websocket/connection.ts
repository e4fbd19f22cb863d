import { WebSocket } from "ws";
import type { GatewayApi, Subscription } from "../../api/gateway-api.js";
import { messageOf, RequestError } from "../../errors.js";
import type { GatewayEvent } from "../../events/event.js";
import { toFaultReply } from "../faults.js";
import { parseJson } from "../json.js";
import type { HttpSettings } from "../options.js";
import { type CommandContext, runCommand } from "./commands.js";
import { type CommandResult, clientFrame, type EventEncoder, encode, idOf } from "./frames.js";
import { GoListener } from "./go.js";

const maxRunningCommands = 64;
const maxSubscriptions = 256;

interface Followed {
  readonly types: readonly string[] | undefined;
  subscription: Subscription | undefined;
}

export interface ConnectionPorts {
  readonly api: GatewayApi;
  readonly settings: HttpSettings;
  readonly encodeEvent: EventEncoder;
}

/** Serves one client until its connection closes: commands in, responses and events out. */
export function serveConnection(socket: WebSocket, { api, settings, encodeEvent }: ConnectionPorts): void {
  const { log } = settings;
  const followed = new Map<string, Followed>();
  let running = 0;

  /** The promise, if there is one, resolves when a slow reader has taken this frame: a replay waits for it. */
  const send = (frame: Buffer): Promise<void> | undefined => {
    if (socket.readyState !== WebSocket.OPEN) return undefined;
    if (socket.bufferedAmount > settings.maxBufferedBytes) {
      endConnection(socket, 1013, "reading too slowly: reconnect and catch up");
      return undefined;
    }
    const taken = new Promise<void>((resolve) => socket.send(frame, { binary: false }, () => resolve()));
    return socket.bufferedAmount > settings.maxBufferedBytes / 8 ? taken : undefined;
  };

  const respond = (id: string | number | undefined, response: CommandResult): void => {
    void send(encode({ type: "response", id, response }));
  };
  const refuse = (id: string | number | undefined, error: unknown): void => {
    const fault = toFaultReply(error, log);
    respond(id, { success: false, error: fault.error, code: fault.code });
  };

  /** Who follows `*` and one session gets that session's events once. */
  const isToldElsewhere = (target: string, event: GatewayEvent): boolean => {
    if (target !== "*") return false;
    const own = followed.get(event.session_key);
    return own !== undefined && (own.types === undefined || own.types.includes(event.type));
  };

  const unsubscribe = (target: string): boolean => {
    followed.get(target)?.subscription?.close();
    return followed.delete(target);
  };

  const contextOf = (responded: Promise<void>): CommandContext => ({
    api,
    unsubscribe,
    subscribe(target, options) {
      unsubscribe(target);
      if (followed.size >= maxSubscriptions)
        throw new RequestError(`One connection follows ${maxSubscriptions} sessions at most.`, {
          status: 429,
          code: "BUFFER_FULL",
        });
      const subscription = api.subscribe(target, { ...options, after: responded }, (event) =>
        isToldElsewhere(target, event) ? undefined : send(encodeEvent(event)),
      );
      followed.set(target, { types: options.types, subscription });
      subscription.caughtUp.catch((error: unknown) => {
        log.error("replaying a session to a client failed", { target, error: messageOf(error) });
        endConnection(socket, 1011, "reading the past failed: reconnect");
      });
      return subscription.joinedAt;
    },
  });

  const goPage = new GoListener(api, (frame) => send(frame));

  const onText = async (text: string): Promise<void> => {
    let id: string | number | undefined;
    let onResponded = (): void => {};
    const responded = new Promise<void>((resolve) => {
      onResponded = resolve;
    });
    try {
      const frame = parseJson(text, clientFrame);
      id = frame.id;
      if (frame.type !== "command") goPage.begin(responded);
      if (running >= maxRunningCommands)
        throw new RequestError("Too many commands at once.", { status: 429, code: "BUFFER_FULL" });
      running++;
      try {
        respond(id, {
          success: true,
          data: await inTime(runCommand(frame, contextOf(responded)), settings.commandTimeoutMs),
        });
      } finally {
        running--;
      }
    } catch (error) {
      refuse(id ?? idOf(text), error);
    } finally {
      onResponded();
    }
  };

  socket.on("message", (data, isBinary) => {
    if (isBinary) refuse(undefined, new RequestError("Frames are JSON text.", { status: 400, code: "bad_request" }));
    else void onText(String(data));
  });
  const stopPinging = keepAlive(socket, settings);
  socket.on("error", (error) => log.debug("a WebSocket failed", { error: messageOf(error) }));
  socket.once("close", () => {
    stopPinging();
    goPage.close();
    for (const target of [...followed.keys()]) unsubscribe(target);
  });
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
    late = setTimeout(() => socket.terminate(), settings.pongTimeoutMs);
  }, settings.pingIntervalMs);
  socket.on("pong", () => {
    clearTimeout(late);
    late = undefined;
  });
  return () => {
    clearInterval(pinging);
    clearTimeout(late);
  };
}

async function inTime(result: unknown, timeoutMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new RequestError(`No answer within ${timeoutMs} ms.`, { status: 504, code: "timeout" });
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}
