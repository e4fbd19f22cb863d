import { z } from "zod";

const message = z.looseObject({
  type: z.literal("message"),
  id: z.string(),
  /** The chat, not the person: in a group it is the group's. */
  sender: z.string().min(1),
  content: z.string(),
  timestamp: z.unknown().optional(),
  isGroup: z.boolean().catch(false).default(false),
  fromMe: z.boolean().catch(false).default(false),
  // All below is only of newer bridges: who wrote in a group, and whether it was to the bot.
  /** The phone number's address, where `sender` is a hidden id (`…@lid`). */
  pn: z.string().optional().catch(undefined),
  participant: z.string().min(1).optional().catch(undefined),
  wasMentioned: z.boolean().optional().catch(undefined),
  isForwarded: z.boolean().optional().catch(undefined),
});
export type BridgeMessage = z.infer<typeof message>;

/** What a bridge says: https://github.com/Lichas/maxclaw/blob/main/bridge/src/server.ts */
const frame = z.discriminatedUnion("type", [
  message,
  z.looseObject({ type: z.literal("status"), status: z.string() }),
  z.looseObject({ type: z.literal("qr"), qr: z.string().min(1).max(4000) }),
  z.looseObject({ type: z.literal("sent"), to: z.string().optional(), messageId: z.string().optional() }),
  z.looseObject({
    type: z.literal("error"),
    error: z.string().catch("").default(""),
    retryAfterMs: z.number().min(0).optional().catch(undefined),
  }),
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
