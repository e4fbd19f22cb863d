import { WebSocket } from "ws";
import type { SendFault } from "./channel-harness.js";

export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * A program at the gateway's WebSocket door, as careful ones are: it comes back after a cut, sends again what was not
 * accepted, and leaves out a message whose id it has seen.
 */
export interface WebSocketProgram extends AsyncDisposable {
  /** What it has read, repeats left out. */
  readonly frames: readonly Frame[];
  /** All frames, repeats included. */
  readonly raw: readonly Frame[];
  /** Sends it until it is accepted or refused. */
  write(frame: Frame & { readonly id: string }): void;
  fail(fault: SendFault): void;
  cut(): void;
}

export function startProgram(address: string): WebSocketProgram {
  const frames: Frame[] = [];
  const raw: Frame[] = [];
  const unsettled = new Map<string, Frame>();
  const seen = new Set<unknown>();
  let fault: SendFault | undefined;
  let isMute = false;
  let isOver = false;
  let socket: WebSocket;

  const onMessage = (data: Buffer): void => {
    const frame = JSON.parse(data.toString()) as Frame;
    const fails = frame.type === "message" ? fault : undefined;
    if (fails !== undefined) fault = undefined;
    if (fails === "cut-before") {
      socket.terminate();
      return;
    }
    raw.push(frame);
    if (frame.type === "accepted" || frame.type === "refused") unsettled.delete(String(frame.id));
    if (frame.type !== "message" || !seen.has(frame.id)) frames.push(frame);
    if (frame.type === "message") seen.add(frame.id);
    if (fails === "cut-after") socket.terminate();
    if (fails === "timeout") isMute = true;
  };

  const connect = (): void => {
    if (isOver) return;
    isMute = false;
    socket = new WebSocket(address, { autoPong: false });
    socket.on("error", () => {});
    socket.on("open", () => {
      for (const frame of unsettled.values()) socket.send(JSON.stringify(frame));
    });
    socket.on("message", onMessage);
    socket.on("ping", (data) => {
      // One answer is left out.
      if (!isMute) socket.pong(data);
      isMute = false;
    });
    socket.on("close", () => setTimeout(connect, 20).unref());
  };
  connect();

  return {
    frames,
    raw,
    write(frame) {
      unsettled.set(frame.id, frame);
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
    },
    fail(next) {
      fault = next;
    },
    cut: () => socket.terminate(),
    async [Symbol.asyncDispose]() {
      isOver = true;
      socket.terminate();
    },
  };
}
