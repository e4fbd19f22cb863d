import type { GrammyError, HttpError } from "grammy";
import { ChannelError, messageOf } from "../../errors.js";
import { codeOf } from "../../util/error-code.js";
import { whyUnreached } from "../../util/text/why-unreached.js";
import { statusSentence } from "../../util/words/status-sentences.js";

// By name: grammy is imported only where the channel is on. Its own errors must not become a `cause`, because the
// address inside them holds the token.
export function isRefusal(error: unknown): error is GrammyError {
  return error instanceof Error && error.name === "GrammyError";
}

function isNetworkFailure(error: unknown): error is HttpError {
  return error instanceof Error && error.name === "HttpError";
}

/** Telegram could not read our HTML; the plain text will do. */
export function isParseError(error: unknown): boolean {
  return isRefusal(error) && error.error_code === 400 && error.description.includes("can't parse entities");
}

const title = "Telegram";

/** What a failed poll means for the channel. */
export function pollError(error: unknown, timedOut: boolean): ChannelError {
  if (error instanceof ChannelError) return error;
  if (timedOut) {
    return new ChannelError(statusSentence("late_poll", { title }), {
      retryable: true,
    });
  }
  if (!isRefusal(error)) {
    return new ChannelError(statusSentence("unreachable", { title, reason: networkReason(error) }), {
      retryable: true,
    });
  }
  const { error_code: code, description, parameters } = error;
  switch (code) {
    case 401:
    case 404:
      return new ChannelError(
        statusSentence("bot_unknown", {
          title,
          code,
          where: statusSentence("where_botfather"),
          key: "channels.telegram.token",
        }),
      );
    case 409:
      return new ChannelError(statusSentence("two_polls", { title, code }), { retryable: true });
    default:
      return new ChannelError(
        statusSentence("call_refused", { title, call: error.method, reason: `${code}: ${description}` }),
        {
          retryable: true,
          retryAfterMs: waitOf(parameters.retry_after),
        },
      );
  }
}

/** What it means that a file cannot be had. */
export function fileError(error: unknown, timedOut: boolean): ChannelError {
  const { message, retryAfterMs } = pollError(error, timedOut);
  const isGone = isRefusal(error) && error.error_code === 400;
  return new ChannelError(message, { retryable: !isGone, retryAfterMs });
}

/** What a failed send means for the message. `cutOff`: we gave up waiting ourselves. */
export function sendError(error: unknown, cutOff: "timeout" | "abort" | undefined): ChannelError {
  if (error instanceof ChannelError) return error;
  if (isRefusal(error)) {
    const { error_code: code, description, parameters } = error;
    return new ChannelError(statusSentence("message_refused", { title, reason: `${code}: ${description}` }), {
      outcome: "refused",
      retryable: !isForGood(code, description),
      isChatClosed: isForGood(code, description) && (code === 403 || closedChat.test(description)),
      retryAfterMs: waitOf(parameters.retry_after),
    });
  }
  if (cutOff !== undefined) {
    const why = cutOff === "timeout" ? statusSentence("late_send", { title }) : statusSentence("cut_send");
    return new ChannelError(why, { outcome: "unknown", retryable: true });
  }
  const reason = networkReason(error);
  return hadLeft(error)
    ? new ChannelError(statusSentence("broke_send", { title, reason }), {
        outcome: "unknown",
        retryable: true,
      })
    : new ChannelError(statusSentence("unreachable", { title, reason }), { outcome: "refused", retryable: true });
}

const closedChat = /chat not found|user is deactivated|PEER_ID_INVALID|CHAT_WRITE_FORBIDDEN|not enough rights/i;

/**
 * Whether it is the message or its chat that Telegram refuses. A 401 or 404 is about the token, as it also comes for a
 * moment from a server in trouble: the message waits for the time when it is taken again.
 */
function isForGood(code: number, description: string): boolean {
  return code === 400 || code === 413 || (code === 403 && description.startsWith("Forbidden: "));
}

function waitOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Of an upload, the part behind "reason:" names host and code, without the address that holds the token. */
function networkReason(error: unknown): string {
  const why = whyUnreached(error);
  if (why !== undefined) return why;
  const inner = isNetworkFailure(error) ? error.error : error;
  if (inner instanceof Error && "type" in inner && inner.type === "invalid-json")
    return "what answers there is not Telegram: check channels.telegram.apiRoot and proxy";
  return reasonOf(error) || codeOf(inner) || "the request failed";
}

const connectCodes = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN"];

/** Whether the request can have reached Telegram: not when name, connection, proxy or TLS failed. */
function hadLeft(error: unknown): boolean {
  const inner = isNetworkFailure(error) ? error.error : error;
  const code = codeOf(inner) ?? "";
  if (connectCodes.includes(code) || /CERT|TLS|SSL/.test(code)) return false;
  const reason = reasonOf(error) ?? "";
  if (code === "ETIMEDOUT") return /^(read|write)/.test(reason);
  return !/^(connect |getaddrinfo |proxy: )|before secure TLS connection/.test(reason);
}

/** What Node says. */
function reasonOf(error: unknown): string | undefined {
  return isNetworkFailure(error) ? / reason: (.+)$/s.exec(messageOf(error.error))?.[1] : messageOf(error);
}
