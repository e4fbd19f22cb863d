import type { LookupAddress } from "node:dns";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { messageOf } from "../errors.js";
import { backoffMs, jittered } from "../util/async/backoff.js";
import { linked } from "../util/async/linked.js";
import { sleep } from "../util/async/sleep.js";
import { within } from "../util/async/within.js";
import { encryptPush } from "./encrypt.js";
import type { SenderKey } from "./sender-key.js";
import type { Subscription } from "./subscriptions.js";

export interface SendPorts {
  /** The addresses of a host that may be dialled, see {@link Egress}. @throws when there are none */
  readonly resolve: (host: string, port: number) => Promise<readonly LookupAddress[]>;
  readonly isPublic: (address: string) => boolean;
  readonly key: SenderKey;
  /** Whom the people of a push service can write to. */
  readonly contact: () => string;
  readonly now: () => number;
  /** Before the second attempt; each further one waits longer. */
  readonly firstRetryMs: number;
}

export interface PushContent {
  readonly plain: Buffer;
  /** It is of no use after this. */
  readonly ttlSeconds: number;
  readonly isUrgent: boolean;
}

/** `gone`: the browser does not want it any more, or is not there any more. */
export type PushOutcome = { readonly status: "sent" | "gone" } | { readonly status: "failed"; readonly why: string };

const timeoutMs = 10_000;
const attempts = 4;
const longestWaitMs = 60_000;

/** Brings it to the push service of one browser, with some patience. Never rejects, except with the signal's reason. */
export async function sendPush(
  to: Subscription,
  content: PushContent,
  ports: SendPorts,
  signal: AbortSignal,
): Promise<PushOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(to, content, ports, signal).catch((error: unknown): Answer => {
      signal.throwIfAborted();
      return { status: 0, why: messageOf(error), retryAfterMs: undefined };
    });
    const { status, why, retryAfterMs = 0 } = outcome;
    if (status >= 200 && status < 300) return { status: "sent" };
    if (status === 404 || status === 410) return { status: "gone" };
    const isLasting = status !== 0 && status !== 429 && status < 500;
    if (isLasting || attempt === attempts) return { status: "failed", why };
    const waitMs = Math.max(retryAfterMs, jittered(backoffMs(attempt, { firstMs: ports.firstRetryMs, growth: 4 })));
    if (waitMs > longestWaitMs) return { status: "failed", why };
    await sleep(waitMs, signal);
  }
}

interface Answer {
  /** 0: there was none. */
  readonly status: number;
  readonly why: string;
  readonly retryAfterMs: number | undefined;
}

async function tryOnce(
  { endpoint, p256dh, auth }: Subscription,
  { plain, ttlSeconds, isUrgent }: PushContent,
  { resolve, isPublic, key, contact, now }: SendPorts,
  signal: AbortSignal,
): Promise<Answer> {
  using scope = linked(signal, timeoutMs);
  const url = new URL(endpoint);
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const addresses = await within(resolve(url.hostname, port), { signal: scope.signal });
  if (!isSecure && addresses.some(({ address }) => isPublic(address)))
    throw new Error(`${url.hostname} can only be reached by https`);
  const keys = { p256dh: Buffer.from(p256dh, "base64url"), auth: Buffer.from(auth, "base64url") };
  const body = encryptPush(plain, keys);
  const headers = {
    authorization: key.authorization(url, contact(), now()),
    "content-encoding": "aes128gcm",
    "content-type": "application/octet-stream",
    "content-length": body.length,
    ttl: ttlSeconds,
    urgency: isUrgent ? "high" : "normal",
  };
  return await post(url, headers, body, addresses, scope.signal);
}

function post(
  url: URL,
  headers: Readonly<Record<string, string | number>>,
  body: Buffer,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
): Promise<Answer> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: "POST",
      headers,
      signal,
      // Just what was judged is dialled, and a connection of another request may lead elsewhere.
      agent: false,
      lookup(_host, options, callback) {
        if (options.all) callback(null, [...addresses]);
        else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
      },
      maxHeaderSize: 32_768,
    });
    request.once("response", (response) => {
      const { statusCode = 0, headers: answered } = response;
      // What it says besides is of no use here, and may be long.
      response.destroy();
      const seconds = Number(answered["retry-after"]);
      const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
      resolve({ status: statusCode, why: `${url.hostname} answered with ${statusCode}`, retryAfterMs });
    });
    request.on("error", reject);
    request.once("close", () => reject(new Error(`${url.hostname} gave no answer`)));
    request.end(body);
  });
}
