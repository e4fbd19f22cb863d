import { z } from "zod";
import { openWebhook, type TakeWebhook, type WebhookAnswer, type WebhookOptions } from "../../wire/webhook.js";
import type { Signatures } from "./signature.js";

export interface WebhookParts {
  readonly appId: string;
  readonly signatures: Signatures;
  /** Resolves with true once the event is settled. Never rejects. */
  readonly onEvent: (event: { readonly type: string; readonly data: unknown }) => Promise<boolean>;
  readonly onAlive: () => void;
  readonly options: WebhookOptions;
  readonly now?: (() => number) | undefined;
}

const payload = z.looseObject({ op: z.number(), d: z.unknown().optional(), t: z.string().nullish() });

/**
 * QQ tries an address before it uses it: the bot signs what it is sent. Only what can never be an event is signed, else
 * anybody could have their own events signed.
 */
const challenge = z.looseObject({
  plain_token: z.string().regex(/^[\w-]{1,128}$/),
  event_ts: z.string().regex(/^\d{1,16}$/),
});

const ops = { dispatch: 0, ack: 12, validation: 13 } as const;
const acknowledged: WebhookAnswer = { status: 200, body: { op: ops.ack, d: 0 } };
/** What is older could not be answered any more. */
const longestAgeMs = 3_600_000;

/** Takes what QQ brings until `signal` aborts. @throws {ChannelError} when the address cannot be listened on */
export async function listenByWebhook(parts: WebhookParts, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await using _webhook = await openWebhook(parts.options, takeEvents(parts));
  parts.onAlive();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function takeEvents({ appId, signatures, onEvent, onAlive, now = Date.now }: WebhookParts): TakeWebhook {
  return async ({ method, headers, body }) => {
    if (method !== "POST") return { status: 405 };
    const said = payload.safeParse(jsonIn(body)).data;
    if (said?.op === ops.validation) return answerChallenge(said.d, signatures);
    const signature = textOf(headers["x-signature-ed25519"]);
    const timestamp = textOf(headers["x-signature-timestamp"]);
    const isFresh = Math.abs(now() - Number(timestamp) * 1000) <= longestAgeMs;
    if (!isFresh || !signatures.isOf(signature, timestamp, body)) return { status: 401 };
    const forWhom = textOf(headers["x-bot-appid"]);
    if (forWhom !== "" && forWhom !== appId) return { status: 403 };
    onAlive();
    if (said?.op !== ops.dispatch) return acknowledged;
    return (await onEvent({ type: said.t ?? "", data: said.d })) ? acknowledged : { status: 503 };
  };
}

function answerChallenge(data: unknown, signatures: Signatures): WebhookAnswer {
  const asked = challenge.safeParse(data).data;
  if (asked === undefined) return { status: 400 };
  const { plain_token, event_ts } = asked;
  return { status: 200, body: { plain_token, signature: signatures.sign(event_ts, plain_token) } };
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    // Not from QQ; the signature says so.
    return undefined;
  }
}

function textOf(header: string | readonly string[] | undefined): string {
  return typeof header === "string" ? header : "";
}
