import { z } from "zod";

const sendCommand = z.object({
  type: z.literal("send"),
  to: z.string().regex(/^[^@\s]+@[\w.]+$/),
  text: z.string().max(65_536),
  /** The gateway's name for this delivery. Absent with the Go maxclaw: then each send is a new one. */
  id: z.string().min(1).max(500).optional(),
  file: z
    .object({
      upload: z.uuid(),
      name: z.string().max(255),
      mimeType: z.string().max(200),
      isVoice: z.boolean().optional(),
    })
    .optional(),
  /** The message that it answers. */
  replyTo: z.string().optional(),
  /** This connection is for this command alone. */
  once: z.boolean().optional(),
});
export type SendCommand = z.infer<typeof sendCommand>;

const command = z.discriminatedUnion("type", [
  z.object({ type: z.literal("auth"), token: z.string() }),
  sendCommand,
  /** This client confirms each message: it gets all that wait, and they wait until then. */
  z.object({ type: z.literal("listen") }),
  /** This client only wants to know how the bridge is. */
  z.object({ type: z.literal("look") }),
  /** `read`: people may see that it was read. */
  z.object({ type: z.literal("ack"), seq: z.number(), read: z.boolean().optional() }),
  /** Whether WhatsApp has the message of an earlier `send`, which this repeats. */
  sendCommand
    .omit({ replyTo: true })
    .extend({ type: z.literal("find"), file: z.object({ name: z.string() }).optional() }),
  z.object({ type: z.literal("typing"), to: z.string() }),
]);
export type Command = z.infer<typeof command>;

/** Undefined: not a command of this protocol. */
export function parseCommand(data: Buffer): Command | undefined {
  try {
    return command.safeParse(JSON.parse(data.toString())).data;
  } catch {
    // Not JSON.
    return undefined;
  }
}
