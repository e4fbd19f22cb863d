import { createDecipheriv, createHash } from "node:crypto";
import { z } from "zod";

/** Something that Feishu tells, as it is wrapped in the second version of its events. */
export interface FeishuEvent {
  readonly id: string;
  readonly type: string;
  /** The Verification Token of the app. */
  readonly token: string;
  readonly appId: string | undefined;
  readonly event: unknown;
}

const encrypted = z.looseObject({ encrypt: z.string().min(1) });
/** https://open.feishu.cn/document/server-docs/event-subscription-guide/event-subscription-configure-/encrypt-key-encryption-configuration-case */
const envelope = z.looseObject({
  header: z.looseObject({
    event_id: z.string().catch(""),
    event_type: z.string(),
    token: z.string().catch(""),
    app_id: z.string().optional().catch(undefined),
  }),
  event: z.unknown(),
});
const challenge = z.looseObject({
  type: z.literal("url_verification"),
  challenge: z.string().regex(/^[\w-]{1,200}$/),
  token: z.string().catch(""),
});

/** The JSON that Feishu has sent, opened with the Encrypt Key where it is encrypted; undefined: it cannot be read. */
export function openBody(body: Uint8Array, encryptKey: string | undefined): unknown {
  const outer = jsonIn(Buffer.from(body));
  const { data } = encrypted.safeParse(outer);
  if (data === undefined) return outer;
  const opened = encryptKey === undefined ? undefined : decrypt(data.encrypt, encryptKey);
  return opened === undefined ? undefined : jsonIn(opened);
}

/** Undefined for what is not an event of that version. */
export function eventIn(said: unknown): FeishuEvent | undefined {
  const { data } = envelope.safeParse(said);
  if (data === undefined) return undefined;
  const { event_id: id, event_type: type, token, app_id: appId } = data.header;
  return { id, type, token, appId, event: data.event };
}

/** Feishu tries an address with a word to be said back. */
export function challengeIn(said: unknown): { readonly challenge: string; readonly token: string } | undefined {
  return challenge.safeParse(said).data;
}

/** As the header X-Lark-Signature has it. */
export function signatureOf(timestamp: string, nonce: string, encryptKey: string, body: Uint8Array): string {
  return createHash("sha256")
    .update(timestamp + nonce + encryptKey)
    .update(body)
    .digest("hex");
}

const blockBytes = 16;

/** Undefined: it was encrypted with another key, or is not whole. */
export function decrypt(text: string, encryptKey: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  const key = createHash("sha256").update(encryptKey).digest();
  try {
    const cipher = createDecipheriv("aes-256-cbc", key, bytes.subarray(0, blockBytes));
    return Buffer.concat([cipher.update(bytes.subarray(blockBytes)), cipher.final()]);
  } catch {
    // Too short, or its end makes no sense.
    return undefined;
  }
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // Not from Feishu.
    return undefined;
  }
}
