import { z } from "zod";
import type { GatewayEvent } from "../../events/event.js";

/** What the server says on `/ws`. Each command gets exactly one response, with its id. */
export type ServerFrame =
  | { readonly type: "event"; readonly event: GatewayEvent }
  | {
      readonly type: "response";
      readonly id: string | number | undefined;
      readonly response: CommandResult;
    };

export type CommandResult =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: string; readonly code: string };

const frameId = z.union([z.string().max(200), z.number()]);

const commandFrame = z.object({
  type: z.literal("command"),
  id: frameId,
  command: z.object({ type: z.string().max(100), payload: z.record(z.string(), z.unknown()).optional() }),
});

/** The Go maxclaw's message frame. A session without a channel is one of the page. */
const chatFrame = z.object({
  type: z.literal("chat"),
  id: frameId.optional(),
  session: z
    .string()
    .min(1)
    .max(300)
    .transform((key) => (key.includes(":") ? key : `webui:${key}`))
    .default("webui:default"),
  content: z.string(),
});

/** The Go maxclaw's only control frame. */
const interruptFrame = z.object({
  type: z.literal("interrupt"),
  id: frameId.optional(),
  session: z.string().min(1).max(300),
  mode: z.enum(["cancel", "append"]).default("cancel"),
  content: z.string().default(""),
});

export const clientFrame = z.discriminatedUnion("type", [commandFrame, chatFrame, interruptFrame], {
  error: (issue) => (issue.code === "invalid_union" ? "must be command, chat or interrupt" : undefined),
});
export type ClientFrame = z.infer<typeof clientFrame>;

/** The id of a frame that is wrong in some other way, so that its sender can tell which one it was. */
export function idOf(text: string): string | number | undefined {
  try {
    const parsed = z.object({ id: frameId }).safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.id : undefined;
  } catch {
    return undefined;
  }
}

export function encode(frame: ServerFrame): Buffer {
  return Buffer.from(JSON.stringify({ ...frame, timestamp: new Date().toISOString(), source: "server" }));
}

/** An answer, as the Go maxclaw tells its page. */
export interface ChatPayload {
  readonly sessionKey: string;
  readonly channel: string;
  readonly chatId: string;
  readonly content: string;
}

export function encodeChat(payload: ChatPayload): Buffer {
  return Buffer.from(JSON.stringify({ type: "chat", payload }));
}

/** Frames of events. All connections that are told the same live event share its bytes. */
export type EventEncoder = (event: GatewayEvent) => Buffer;

export function createEventEncoder(): EventEncoder {
  let last: { readonly event: GatewayEvent; readonly bytes: Buffer } | undefined;
  return (event) => {
    if (last?.event !== event) last = { event, bytes: encode({ type: "event", event }) };
    return last.bytes;
  };
}
