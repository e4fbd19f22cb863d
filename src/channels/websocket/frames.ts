import { z } from "zod";

/** Also part of session keys and file names. */
export const chatName = z.string().regex(/^[\w.@+-]{1,128}$/, "1 to 128 letters, digits or . _ @ + -");
const messageId = z.string().regex(/^[\w.:@+-]{1,128}$/, "1 to 128 letters, digits or . : _ @ + -");

const file = z.object({
  filename: z.string().min(1).max(300),
  mimeType: z.string().max(200).default("application/octet-stream"),
  /** The content in base64. */
  data: z.base64(),
  isVoice: z.boolean().optional(),
});

const place = { chatId: chatName.optional(), thread: chatName.optional(), sender: chatName.optional() };

/** What programs send. Without a `type` it is a message, as the Go maxclaw had it. */
export const clientFrame = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("message"),
      ...place,
      id: messageId.optional(),
      content: z.string().max(1_000_000).default(""),
      senderName: z.string().max(200).optional(),
      files: z.array(file).max(20).optional(),
      /** The message that it answers. */
      quoted: z.object({ text: z.string().max(4000), by: z.enum(["assistant", "sender", "other"]) }).optional(),
    }),
    z.object({ type: z.literal("edit"), ...place, id: messageId, content: z.string().max(1_000_000) }),
    z.object({ type: z.literal("delete"), ...place, id: messageId }),
  ],
  {
    error: (issue) => (issue.code === "invalid_union" ? "must be message, edit or delete" : undefined),
  },
);
export type ClientFrame = z.output<typeof clientFrame>;

/** What programs get. */
export type ServerFrame =
  | { readonly type: "hello"; readonly chatId: string }
  /** The message with this id is durable. */
  | { readonly type: "accepted"; readonly id: string; readonly chatId: string }
  /** It was not taken; `error` says why, if anything is to be said. */
  | { readonly type: "refused"; readonly id?: string; readonly chatId: string; readonly error: string }
  | {
      readonly type: "message";
      /** The same when it is sent again after a cut. */
      readonly id: string;
      readonly chatId: string;
      readonly thread?: string;
      readonly sender: "assistant";
      /** Markdown. */
      readonly content: string;
      readonly replyTo?: string;
      readonly files?: readonly { readonly filename: string; readonly mimeType: string; readonly data: string }[];
    }
  /** The earlier message with this id reads like this now. */
  | { readonly type: "edit"; readonly id: string; readonly chatId: string; readonly content: string }
  | { readonly type: "typing"; readonly chatId: string; readonly thread?: string }
  | { readonly type: "error"; readonly error: string };

/** The frame, or a sentence about what is wrong with it. */
export function parseFrame(text: string): ClientFrame | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "A frame must be a JSON object.";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "A frame must be a JSON object.";
  const typed = "type" in value && value.type !== "" ? value : { ...value, type: "message" };
  const parsed = clientFrame.safeParse(typed);
  return parsed.success ? parsed.data : `The frame is not as documented: ${z.prettifyError(parsed.error)}`;
}
