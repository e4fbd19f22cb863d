import { linked } from "../../util/async/linked.js";
import type { OpenSocket } from "../wire/socket.js";
import { type BridgeOptions, listenToBridge } from "./bridge.js";
import type { BridgeFrame } from "./frames.js";

/** The bridge tells how it is as soon as somebody is let in; it says nothing before its first login. */
const patienceMs = 6000;

/** Asks the bridge how it is, beside the channel that runs. `isWaiting`: it shows a code to scan. @throws {ChannelError} */
export async function lookAtBridge(
  options: BridgeOptions,
  signal: AbortSignal,
): Promise<{ readonly isConnected: boolean; readonly isWaiting: boolean }> {
  let isConnected = false;
  let isWaiting = false;
  using scope = linked(signal, patienceMs);
  const onFrame = (frame: BridgeFrame, socket: OpenSocket): void => {
    // Our own bridge would give messages to who says nothing.
    if (frame.type === "hello") void socket.send(JSON.stringify({ type: "look" })).catch(() => undefined);
    if (frame.type === "status") isConnected = frame.status === "connected";
    if (frame.type === "qr") isWaiting = true;
    if (isConnected || isWaiting) scope.abort();
  };
  const hear = { onFrame, onOpen: () => undefined, onAlive: () => undefined };
  await listenToBridge(options, { reconnectMs: 0 }, hear, scope.signal);
  signal.throwIfAborted();
  return { isConnected, isWaiting };
}
