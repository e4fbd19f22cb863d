import { isSameSecret } from "../../../util/same-secret.js";
import type { TakeWebhook, WebhookAnswer, WebhookRequest } from "../../wire/webhook.js";
import { challengeIn, eventIn, type FeishuEvent, openBody, signatureOf } from "./envelope.js";

export interface WebhookParts {
  readonly appId: string;
  readonly encryptKey: string | undefined;
  readonly verificationToken: string | undefined;
  /** Takes one event. Undefined: it could not be taken, and must come again. Never rejects. */
  readonly onEvent: (event: FeishuEvent) => Promise<object | undefined>;
  readonly now?: (() => number) | undefined;
}

/** What is older is an old request that somebody has kept. Feishu brings an event again for some hours, each time with a signature of its own. */
const longestAgeMs = 3_600_000;
const refused: WebhookAnswer = { status: 401 };

/**
 * Answers what comes to the address. With an Encrypt Key, what is not signed with it is refused; with a Verification Token,
 * what does not carry it. Without any of both nothing is taken.
 */
export function takeEvents(parts: WebhookParts): TakeWebhook {
  const { appId, encryptKey, verificationToken } = parts;
  return async (request) => {
    if (request.method !== "POST") return { status: 405 };
    const said = openBody(request.body, encryptKey);
    const tried = challengeIn(said);
    if (tried !== undefined) return answerChallenge(tried, parts);
    if (encryptKey === undefined && verificationToken === undefined) return refused;
    if (encryptKey !== undefined && !isSigned(request, encryptKey, parts.now?.() ?? Date.now())) return refused;
    const event = eventIn(said);
    // Signed, or without any secret: of an older version, or about nothing.
    if (event === undefined) return encryptKey === undefined ? refused : { status: 200, body: {} };
    if (verificationToken !== undefined && !isSameSecret(event.token, verificationToken)) return refused;
    if (event.appId !== undefined && event.appId !== appId) return { status: 403 };
    const answer = await parts.onEvent(event);
    return answer === undefined ? { status: 503 } : { status: 200, body: answer };
  };
}

function isSigned({ headers, body }: WebhookRequest, encryptKey: string, now: number): boolean {
  const timestamp = textOf(headers["x-lark-request-timestamp"]);
  const nonce = textOf(headers["x-lark-request-nonce"]);
  const signature = textOf(headers["x-lark-signature"]);
  const isFresh = timestamp !== "" && Math.abs(now - Number(timestamp) * 1000) <= longestAgeMs;
  return isFresh && isSameSecret(signature, signatureOf(timestamp, nonce, encryptKey, body));
}

/** Feishu does not sign this one. Only a short word is said back, and to nobody who lacks the token. */
function answerChallenge(
  { challenge, token }: { readonly challenge: string; readonly token: string },
  { verificationToken }: WebhookParts,
): WebhookAnswer {
  if (verificationToken !== undefined && !isSameSecret(token, verificationToken)) return refused;
  return { status: 200, body: { challenge } };
}

function textOf(header: string | readonly string[] | undefined): string {
  return typeof header === "string" ? header : "";
}
