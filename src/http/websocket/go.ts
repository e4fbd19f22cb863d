import type { GatewayApi } from "../../api/gateway-api.js";
import type { Subscription } from "../../api/messages/events-api.js";
import { textOf } from "../../events/content.js";
import type { GatewayEvent } from "../../events/event.js";
import { encodeChat } from "./frames.js";

/** Channels of one's own pages and programs; `desktop` is the Go maxclaw's. */
const pages = new Set(["webui", "desktop"]);
const types = ["assistant_message", "turn_execution_failed"];

/**
 * The answers of all page conversations in the Go maxclaw's form, `{type: "chat", payload}`. Only for connections that have
 * spoken in it: others subscribe to what they want.
 */
export class GoListener {
  readonly #api: GatewayApi;
  readonly #send: (frame: Buffer) => void | Promise<void>;
  #subscription: Subscription | undefined;

  constructor(api: GatewayApi, send: (frame: Buffer) => void | Promise<void>) {
    this.#api = api;
    this.#send = send;
  }

  /** Safe to repeat. Nothing is told before `after`. */
  begin(after: Promise<void>): void {
    this.#subscription ??= this.#api.subscribe("*", { types, after }, (event) => {
      const content = answerIn(event);
      if (content === undefined || content.trim() === "") return undefined;
      const { session_key: key } = event;
      const [channel = ""] = key.split(":");
      if (!pages.has(channel) || key.includes(":spawn:")) return undefined;
      return this.#send(encodeChat({ sessionKey: key, channel, chatId: key, content }));
    });
  }

  close(): void {
    this.#subscription?.close();
  }
}

function answerIn(event: GatewayEvent): string | undefined {
  if (event.type === "turn_execution_failed") return event.payload.message;
  if (event.type !== "assistant_message" || !event.payload.final || event.payload.partial) return undefined;
  return textOf(event.payload.content);
}
