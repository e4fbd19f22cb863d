import { isLoopback } from "../../util/loopback.js";
import { findingSentence } from "../../util/words/finding-sentences.js";
import type { Platform } from "../platform.js";
import { type WebSocketSection, websocket, websocketLabels, websocketMeanings } from "./section.js";

export const websocketPlatform: Platform<WebSocketSection> = {
  words: {
    title: { en: "Other programs (WebSocket)", zh: "其他程序（WebSocket）" },
    labels: websocketLabels,
    meanings: websocketMeanings,
  },

  section: websocket,

  lacks: ({ host, token }) =>
    token === undefined && !isLoopback(host)
      ? `channels.websocket.host is ${host}, which others can reach, but channels.websocket.token is not set`
      : undefined,

  async open(section, { context, trustedProxies, isShared, log }) {
    if (isShared === true)
      return {
        off: "its clients are connected to one gateway, and here any of several may have the answer for them",
      };
    const { createWebSocketChannel } = await import("./websocket.js");
    return { channel: createWebSocketChannel({ ...section, trustedProxies, log }, context) };
  },

  checkup: {
    // Its address is looked after with those of all channels.
    unshared: () => ({}),
    listensOn: ({ host, port }) => ({ key: "port", host, port }),
    // With a token, anyone is who has it.
    openToAll: ({ token }) => (token === undefined ? "warn" : undefined),
    risks: ({ host, port, token }) =>
      token === undefined
        ? [
            {
              about: "access",
              // With another host it would not start.
              level: "warn",
              found: findingSentence("channel_open", { name: "websocket", place: `${host}:${port}` }),
              todo: findingSentence("channel_open_todo", { name: "websocket" }),
            },
          ]
        : [],
  },

  imports: {
    keys: ["enabled", "host", "port", "path", "token", "allowOrigins", "allowFrom"],
  },
};
