import { Readable } from "node:stream";
import { ChannelError, messageOf } from "../../../errors.js";
import { linked } from "../../../util/async/linked.js";
import { within } from "../../../util/async/within.js";
import { codeOf } from "../../../util/error-code.js";
import { whyUnreached } from "../../../util/text/why-unreached.js";
import { readAccess } from "../auth/access.js";
import type { EmailOptions } from "../options.js";

export interface Envelope {
  readonly from: string;
  readonly to: string;
}

const connectMs = 20_000;

/**
 * Hands a whole mail to the SMTP server. Resolves once the server has taken it.
 *
 * @throws {ChannelError} `unknown` when the connection ended after the text had begun to leave, `refused` otherwise
 */
export async function submit(
  { smtp, access }: Pick<EmailOptions, "smtp" | "access">,
  envelope: Envelope,
  raw: Buffer,
  limitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const { accessToken, tls } = await within(readAccess(access), { signal }).catch((error: unknown) => {
    // As with a password that is refused: the mail waits until somebody has put it right.
    throw new ChannelError(messageOf(error), { cause: error, retryable: true });
  });
  const { host, port, useSSL: secure, useTLS, username, password } = smtp;
  const connection = new SMTPConnection({
    host,
    port,
    secure,
    requireTLS: !secure && useTLS,
    ignoreTLS: !secure && !useTLS,
    tls: { ...tls, minVersion: "TLSv1.2" },
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: connectMs + limitMs,
  });
  const progress = { hasLeft: false };
  const step = async (begin: (done: (error?: Error | null) => void) => void, ms: number = connectMs): Promise<void> => {
    using limit = linked(signal, ms);
    await new Promise<void>((resolve, reject) => {
      connection.on("error", reject);
      connection.once("end", () => reject(new Error("the server closed the connection")));
      limit.signal.addEventListener("abort", () => reject(new Error(signal.aborted ? "stopped" : "no answer in time")));
      begin((error) => (error === undefined || error === null ? resolve() : reject(error)));
    });
  };
  try {
    await step((done) => connection.connect(done));
    if (username !== undefined) {
      const credentials = { user: username, pass: password ?? "" };
      const auth =
        accessToken === undefined
          ? { type: "login" as const, credentials }
          : { type: "oauth2" as const, user: username, oauth2: fixedToken(username, accessToken) };
      await step((done) => connection.login(auth as Parameters<typeof connection.login>[0], done));
    }
    const text = Readable.from(chunksOf(raw, progress), { objectMode: false });
    await step((done) => connection.send({ from: envelope.from, to: [envelope.to] }, text, done), limitMs);
    connection.quit();
  } catch (error) {
    connection.close();
    if (isLoginRefused(error)) access.tokens?.forget(accessToken);
    throw toChannelError(error, host, progress.hasLeft);
  }
}

const chunkBytes = 64 * 1024;

/** nodemailer reads nothing of the text before the server has asked for it. */
function* chunksOf(raw: Buffer, progress: { hasLeft: boolean }): Generator<Buffer> {
  progress.hasLeft = true;
  for (let at = 0; at < raw.length; at += chunkBytes) yield raw.subarray(at, at + chunkBytes);
}

/** What nodemailer takes for a source of tokens: this one never renews. */
function fixedToken(user: string, accessToken: string) {
  return {
    getToken: (_renew: boolean, done: (error: Error | null, token?: string) => void) => done(null, accessToken),
    buildXOAuth2Token: (token: string) =>
      Buffer.from(`user=${user}\u0001auth=Bearer ${token}\u0001\u0001`, "utf8").toString("base64"),
  };
}

function isLoginRefused(error: unknown): boolean {
  return codeOf(error) === "EAUTH";
}

function toChannelError(error: unknown, host: string, hasLeft: boolean): ChannelError {
  if (error instanceof ChannelError) return error;
  const { responseCode, code, response } = (error ?? {}) as {
    readonly responseCode?: number;
    readonly code?: string;
    readonly response?: string;
  };
  const said = typeof response === "string" && response !== "" ? response.slice(0, 300) : messageOf(error);
  // An answer of the server to the text itself is a clear no.
  if (typeof responseCode === "number" && responseCode >= 400 && code !== "ECONNECTION") {
    const isForGood = responseCode >= 500 && !isLoginRefused(error);
    return new ChannelError(`The SMTP server ${host} refused the mail: ${said}`, {
      retryable: !isForGood,
      isChatClosed: isForGood && [550, 551, 553].includes(responseCode),
      retryAfterMs: isForGood ? undefined : waitIn(said),
    });
  }
  const why = whyUnreached(error);
  return new ChannelError(`The SMTP server ${host}${why === undefined ? `: ${said}` : ` failed: ${why}.`}`, {
    retryable: true,
    outcome: hasLeft ? "unknown" : "refused",
  });
}

const longestWaitMs = 3600 * 1000;

/** Servers that want a mail to come again later write so in words. */
function waitIn(response: string): number | undefined {
  const [, count, unit = ""] = /\b(\d{1,5})\s*(s|sec|seconds?|min|minutes?)\b/i.exec(response) ?? [];
  if (count === undefined) return undefined;
  return Math.min(Number(count) * (unit.toLowerCase().startsWith("m") ? 60_000 : 1000), longestWaitMs);
}
