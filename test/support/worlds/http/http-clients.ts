import { WebSocket } from "ws";
import type { GatewayEvent } from "../../../../src/events/event.js";

export interface SseMessage {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads an event stream until it ends, `isEnough` says so, or 3 s have passed. */
export async function readSse(
  response: Response,
  isEnough: (all: readonly SseMessage[]) => boolean = () => false,
): Promise<readonly SseMessage[]> {
  const messages: SseMessage[] = [];
  const reader = response.body?.getReader();
  if (reader === undefined) return messages;
  const timer = setTimeout(() => void reader.cancel(), 3000);
  const decoder = new TextDecoder();
  let buffer = "";
  while (!isEnough(messages)) {
    const { done, value } = await reader.read();
    if (done) break;
    buffer += decoder.decode(value, { stream: true });
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string): string | undefined =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined) messages.push({ id: field("id"), event: field("event"), data });
    }
  }
  clearTimeout(timer);
  await reader.cancel().catch(() => {});
  return messages;
}

export interface ResponseFrame {
  readonly type: "response";
  readonly id?: string;
  readonly response: {
    readonly success: boolean;
    readonly data?: unknown;
    readonly error?: string;
    readonly code?: string;
  };
  readonly source: string;
  readonly timestamp: string;
}

export interface TestSocket {
  readonly socket: WebSocket;
  readonly events: readonly GatewayEvent[];
  readonly responses: readonly ResponseFrame[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Sends a command and resolves with its response. */
  command(type: string, payload?: object): Promise<ResponseFrame["response"]>;
  /** Sends the text as it is and resolves with the next response. */
  sendText(text: string): Promise<ResponseFrame>;
}

export async function openSocket(
  url: string,
  options: { readonly origin?: string; readonly headers?: Record<string, string>; readonly autoPong?: boolean } = {},
): Promise<TestSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, options);
  const events: GatewayEvent[] = [];
  const responses: ResponseFrame[] = [];
  const waiting = new Set<(frame: ResponseFrame) => void>();
  socket.on("message", (data) => {
    // The tests assert on what they read; a wrong shape fails there.
    const frame = JSON.parse(String(data)) as ResponseFrame | { type: "event"; event: GatewayEvent };
    if (frame.type === "event") {
      events.push(frame.event);
      return;
    }
    responses.push(frame);
    for (const tell of [...waiting]) tell(frame);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => resolve({ code, reason: String(reason) })),
  );
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", reject);
  });
  socket.on("error", () => {});
  const next = (isIt: (frame: ResponseFrame) => boolean): Promise<ResponseFrame> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no response within 3 s")), 3000);
      const tell = (frame: ResponseFrame): void => {
        if (!isIt(frame)) return;
        clearTimeout(timer);
        waiting.delete(tell);
        resolve(frame);
      };
      waiting.add(tell);
    });
  let count = 0;
  return {
    socket,
    events,
    responses,
    closed,
    async command(type, payload = {}) {
      const id = `c${++count}`;
      const answer = next((frame) => frame.id === id);
      socket.send(JSON.stringify({ type: "command", id, command: { type, payload } }));
      return (await answer).response;
    },
    sendText(text) {
      const answer = next(() => true);
      socket.send(text);
      return answer;
    },
  };
}

/** The HTTP status with which an upgrade is refused. */
export function refusedUpgrade(
  url: string,
  options: { readonly origin?: string; readonly headers?: Record<string, string> } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace("http", "ws"), options);
    socket.once("unexpected-response", (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.once("open", () => {
      socket.terminate();
      reject(new Error("the upgrade was not refused"));
    });
    socket.on("error", () => {});
  });
}

/**
 * What a client has in the end: the stored events in order, and the text of each message as its deltas make it.
 * A repeated message_stream_start begins its text again. Stored answers are left out: they would hide a hole.
 */
export function digest(events: readonly GatewayEvent[]): {
  readonly stored: readonly string[];
  readonly texts: Readonly<Record<string, string>>;
} {
  const texts = new Map<string, string>();
  const stored: string[] = [];
  for (const event of events) {
    if (event.seq !== null) stored.push(`${event.seq} ${event.type} ${event.event_id}`);
    if (event.type === "message_stream_start") texts.set(event.payload.message_id, "");
    if (event.type === "text_delta")
      texts.set(event.payload.message_id, `${texts.get(event.payload.message_id)}${event.payload.text}`);
  }
  return { stored, texts: Object.fromEntries(texts) };
}
