import { createHmac } from "node:crypto";
import { z } from "zod";
import { isSameSecret } from "../../util/same-secret.js";
import type { WebhookAnswer, WebhookRequest } from "../wire/webhook.js";

const status = z.looseObject({
  id: z.string(),
  status: z.string(),
  recipient_id: z.string().catch(""),
  biz_opaque_callback_data: z.string().optional().catch(undefined),
  errors: z
    .array(z.looseObject({ code: z.number().catch(0), title: z.string().catch("") }))
    .catch([])
    .default([]),
});
/** What happened to a message of ours. */
export type DeliveryStatus = z.infer<typeof status>;

const contact = z.looseObject({
  wa_id: z.string().catch(""),
  profile: z.looseObject({ name: z.string().optional() }).optional().catch(undefined),
});

const value = z.looseObject({
  metadata: z.looseObject({ phone_number_id: z.string() }),
  contacts: z.array(contact).catch([]).default([]),
  messages: z.array(z.unknown()).catch([]).default([]),
  statuses: z.array(z.unknown()).catch([]).default([]),
});

/** https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components */
const notification = z.looseObject({
  object: z.literal("whatsapp_business_account"),
  entry: z.array(
    z.looseObject({ changes: z.array(z.looseObject({ field: z.string(), value: z.unknown() })).catch([]) }),
  ),
});

/** One part of what Meta has brought. */
export interface News {
  readonly messages: readonly unknown[];
  readonly statuses: readonly DeliveryStatus[];
  /** Names of people by their ids, as they have set them. */
  readonly names: ReadonlyMap<string, string>;
}

/** Signed by the app: nobody else knows its secret. The signature is made of the bytes as they came. */
export function isSigned({ headers, body }: WebhookRequest, appSecret: string): boolean {
  const given = headers["x-hub-signature-256"];
  const expected = `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
  return typeof given === "string" && isSameSecret(given, expected);
}

/** Meta asks once whether the address is ours. */
export function answerChallenge({ query }: WebhookRequest, verifyToken: string): WebhookAnswer {
  const challenge = query.get("hub.challenge") ?? "";
  const isOurs =
    query.get("hub.mode") === "subscribe" && isSameSecret(query.get("hub.verify_token") ?? "", verifyToken);
  return isOurs && /^[\w-]{1,200}$/.test(challenge) ? { status: 200, body: challenge } : { status: 403 };
}

/** What concerns this number, in Meta's order; undefined: it is not JSON, or not from WhatsApp. */
export function newsFor(phoneNumberId: string, body: Buffer): readonly News[] | undefined {
  const parsed = notification.safeParse(jsonIn(body)).data;
  return parsed?.entry
    .flatMap(({ changes }) => changes)
    .flatMap((change) => (change.field === "messages" ? (value.safeParse(change.value).data ?? []) : []))
    .filter(({ metadata }) => metadata.phone_number_id === phoneNumberId)
    .map(({ messages, statuses, contacts }) => ({
      messages,
      statuses: statuses.flatMap((one) => status.safeParse(one).data ?? []),
      names: new Map(
        contacts.flatMap(({ wa_id: id, profile }) => (profile?.name ? [[id, profile.name] as const] : [])),
      ),
    }));
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    // It was signed, and is still not JSON.
    return undefined;
  }
}
