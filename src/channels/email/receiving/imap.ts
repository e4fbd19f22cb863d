import type { ImapFlow, ImapFlowOptions } from "imapflow";
import { ChannelError, messageOf } from "../../../errors.js";
import { linked } from "../../../util/async/linked.js";
import { within } from "../../../util/async/within.js";
import { whyUnreached } from "../../../util/text/why-unreached.js";
import { statusSentence } from "../../../util/words/status-sentences.js";
import { type Access, readAccess } from "../auth/access.js";
import type { EmailOptions } from "../options.js";

/** A connection to the mailbox's server. Disposing it closes the socket. */
export interface ImapConnection extends Disposable {
  readonly client: ImapFlow;
  /** One command with a time limit; when it passes, the connection is closed. @throws {ChannelError} */
  command<T>(work: (client: ImapFlow) => Promise<T>, limitMs?: number): Promise<T>;
  /** Rejects when the connection is lost. Never resolves. */
  readonly lost: Promise<never>;
}

const connectMs = 20_000;
const commandMs = 30_000;

/** Logs in. @throws {ChannelError} `retryable` is false only for a login that is refused for good */
export async function openImap(
  { imap, access: given }: Pick<EmailOptions, "imap" | "access">,
  signal: AbortSignal,
): Promise<ImapConnection> {
  const { ImapFlow } = await import("imapflow");
  const access = await within(readAccess(given), { signal });
  const { accessToken, tls } = access;
  const { host, port, username: user, password: pass, useSSL: secure } = imap;
  const settings: ImapFlowOptions = {
    host,
    port,
    secure,
    auth: accessToken === undefined ? { user, pass: pass ?? "" } : { user, accessToken },
    tls: { ...tls, minVersion: "TLSv1.2" },
    logger: false,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    autoIdleDelay: 50,
    // The commands have limits of their own, and a silent IDLE is asked now and then.
    socketTimeout: 10 * 60_000,
    ...(secure ? {} : { doSTARTTLS: imap.useTLS }),
  };
  if (signal.aborted) throw new ChannelError("The connection was given up before it began.", { retryable: true });
  const client = new ImapFlow(settings);
  const state: { fault?: Error } = {};
  const fail = (error: unknown): ChannelError => {
    const fault = toChannelError(state.fault ?? error, host, access);
    if (fault instanceof LoginRefused) given.tokens?.forget(accessToken);
    return fault;
  };
  const lost = new Promise<never>((_, reject) => {
    client.on("error", (error: Error) => {
      state.fault = error;
    });
    client.on("close", () => reject(fail(new Error("the server closed the connection"))));
  });
  lost.catch(() => undefined);
  const close = (): void => client.close();
  signal.addEventListener("abort", close, { once: true });
  const command = async <T>(work: (client: ImapFlow) => Promise<T>, limitMs = commandMs): Promise<T> => {
    using limit = linked(signal, limitMs);
    limit.signal.addEventListener("abort", close, { once: true });
    try {
      return await Promise.race([work(client), lost]);
    } catch (error) {
      throw fail(error);
    }
  };
  try {
    await command((each) => each.connect(), connectMs * 2);
  } catch (error) {
    signal.removeEventListener("abort", close);
    close();
    throw error;
  }
  return {
    client,
    command,
    lost,
    [Symbol.dispose]() {
      signal.removeEventListener("abort", close);
      close();
    },
  };
}

class LoginRefused extends ChannelError {}

/** Codes of a refused login that pass by themselves (RFC 5530). */
const passing: ReadonlySet<unknown> = new Set(["UNAVAILABLE", "INUSE", "LIMIT", "SERVERBUG", "CONTACTADMIN"]);

function toChannelError(error: unknown, host: string, { accessToken, isRenewed }: Access): ChannelError {
  if (error instanceof ChannelError) return error;
  const { authenticationFailed, serverResponseCode, responseText } = (error ?? {}) as {
    readonly authenticationFailed?: boolean;
    readonly serverResponseCode?: unknown;
    readonly responseText?: unknown;
  };
  if (authenticationFailed === true) {
    const said = typeof responseText === "string" ? ` (${responseText})` : "";
    const check =
      accessToken === undefined
        ? "check channels.email.imapUsername and imapPassword"
        : "its access token has run out or is not for this mailbox";
    return new LoginRefused(`The IMAP server ${host} refused the login${said}: ${check}.`, {
      retryable: isRenewed || passing.has(serverResponseCode),
    });
  }
  const why = whyUnreached(error);
  if (why !== undefined)
    return new ChannelError(statusSentence("server_unreachable", { kind: "IMAP", host, reason: why }), {
      retryable: true,
    });
  const said = typeof responseText === "string" ? `: ${responseText}` : "";
  return new ChannelError(`The IMAP server ${host}: ${messageOf(error)}${said}`, { retryable: true });
}
