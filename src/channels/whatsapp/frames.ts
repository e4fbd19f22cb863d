import { z } from "zod";

const text = z.string().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);

const quoted = z.object({ id: z.string(), text: z.string(), fromMe: z.boolean() });

const file = z.object({
  name: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number().optional(),
  isVoice: z.boolean().optional(),
});

const message = {
  id: z.string(),
  /** The chat, not the person: in a group it is the group's. */
  sender: z.string().min(1),
  content: z.string(),
  timestamp: z.unknown().optional(),
  isGroup: z.boolean().catch(false).default(false),
  fromMe: z.boolean().catch(false).default(false),
  // All below is only of newer bridges: who wrote in a group, and whether it was to the bot.
  /** The phone number's address, where `sender` is a hidden id (`…@lid`). */
  pn: text,
  participant: z.string().min(1).optional().catch(undefined),
  wasMentioned: flag,
  isForwarded: flag,
  // Of our own bridge alone.
  /** The bridge keeps the message until it gets an `ack` with this. */
  seq: z.number().optional().catch(undefined),
  /** The person's own name for themselves. */
  name: text,
  /** Its content is at `/files/<seq>`. `content` is its caption. */
  file: file.optional().catch(undefined),
  quoted: quoted.optional().catch(undefined),
  /** What happened to the message that `id` names. `changeId` tells one edit from the next. */
  change: z.enum(["edited", "deleted"]).optional().catch(undefined),
  changeId: text,
  /** A kind that cannot be read, e.g. `stickers`. */
  unreadable: text,
};

/** A message as our own bridge keeps it. */
export const frameMessage = z.object(message);
export type BridgeMessage = z.infer<typeof frameMessage>;

/** What a bridge says: https://github.com/Lichas/maxclaw/blob/main/bridge/src/server.ts, and what our own one says besides. */
const frame = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("message"), ...message }),
  /** `text`: how it is, as a sentence. `reason`: `lost` comes back by itself, `code`, `logged-out`, `replaced` and `refused` do not. */
  z.looseObject({ type: z.literal("status"), status: z.string(), text, reason: text }),
  z.looseObject({ type: z.literal("qr"), qr: z.string().min(1).max(4000) }),
  z.looseObject({ type: z.literal("sent"), to: z.string().optional(), id: text, messageId: z.string().optional() }),
  z.looseObject({
    type: z.literal("error"),
    error: z.string().catch("").default(""),
    id: text,
    retryAfterMs: z.number().min(0).optional().catch(undefined),
    /** `unknown`: WhatsApp may have it. A repeat with the same id is safe. */
    outcome: z.enum(["refused", "unknown"]).optional().catch(undefined),
  }),
  /** The bridge keeps messages, and knows a send that comes again. Said first on each connection. */
  z.looseObject({ type: z.literal("hello"), protocol: z.number(), maxFileBytes: z.number().optional() }),
  /** The answer to `find`; without `messageId` nobody knows that WhatsApp has it. */
  z.looseObject({ type: z.literal("found"), id: z.string(), messageId: z.string().optional() }),
]);
export type BridgeFrame = z.infer<typeof frame>;

/** Undefined: a kind that is not known here, or not as it should be. */
export function parseFrame(data: Buffer): BridgeFrame | undefined {
  try {
    return frame.safeParse(JSON.parse(data.toString())).data;
  } catch {
    // Not JSON.
    return undefined;
  }
}
