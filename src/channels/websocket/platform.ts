import { isLoopback } from "../../util/loopback.js";
import type { Platform } from "../platform.js";
import { type WebSocketSection, websocket } from "./section.js";

export const websocketPlatform: Platform<WebSocketSection> = {
  section: websocket,

  lacks: ({ host, token }) =>
    token === undefined && !isLoopback(host)
      ? `channels.websocket.host is ${host}, which others can reach, but channels.websocket.token is not set`
      : undefined,

  async open(section, { context, trustedProxies, log }) {
    const { createWebSocketChannel } = await import("./websocket.js");
    return { channel: createWebSocketChannel({ ...section, trustedProxies, log }, context) };
  },

  // Programs come to it: there is nobody to log in at.
  logIn: async () => undefined,
};
