import { ChannelError, messageOf } from "../../errors.js";
import { neverLeft, whyUnreached } from "../../util/text/why-unreached.js";
import { statusSentence } from "../../util/words/status-sentences.js";

// The library's errors are known by their shape, because it is imported only where the channel is on. They must not become
// a `cause`: they hold the request's body and, for interactions, a token in the address.
interface Refusal {
  readonly status: number;
  /** Discord's own code, 0 where it gives none. */
  readonly code: number;
  readonly message: string;
}

const codes = { unknownChannel: 10_003, unknownMessage: 10_008 } as const;

export function isUnknownChannel(error: unknown): boolean {
  return error instanceof DiscordRefusal && error.code === codes.unknownChannel;
}

export function isUnknownMessage(error: unknown): boolean {
  return error instanceof DiscordRefusal && error.code === codes.unknownMessage;
}

/** Discord has answered, and it was no. */
class DiscordRefusal extends ChannelError {
  readonly code: number;

  constructor({ status, code, message }: Refusal, what: string) {
    super(`Discord refused ${what} (${status}${code === 0 ? "" : `, code ${code}`}: ${message}).${hintFor(code)}`, {
      outcome: "refused",
      retryable: !isForGood(status, code),
      isChatClosed: closedChat.has(code),
    });
    this.code = code;
  }
}

/** Codes that say that the bot may not write here any more. */
const closedChat: ReadonlySet<number> = new Set([codes.unknownChannel, 50_001, 50_007, 50_013]);

/**
 * Whether it is the message or its chat that Discord refuses. A 401, and a 403 or 404 without a code of Discord's own, is
 * about the token or a server in trouble: the message waits for the time when it is taken again.
 */
function isForGood(status: number, code: number): boolean {
  if (status === 401 || status === 429 || status >= 500) return false;
  return (status !== 403 && status !== 404) || code !== 0;
}

function hintFor(code: number): string {
  if (code === 50_007) return " The person does not accept direct messages from this server, or has blocked the bot.";
  if (code === 50_001 || code === 50_013) return " Give the bot the permissions that docs/discord.md names.";
  return "";
}

/** What a failed call means for what is received. */
export function callError(error: unknown, cutOff: "timeout" | "abort" | undefined): ChannelError {
  if (error instanceof ChannelError) return error;
  if (cutOff !== undefined) return new ChannelError("Discord did not answer in time.", { retryable: true });
  const wait = waitIn(error);
  if (wait !== undefined)
    return new ChannelError(statusSentence("asks_to_wait", { title, code: 429 }), {
      retryable: true,
      retryAfterMs: wait,
    });
  const refusal = refusalIn(error);
  if (refusal?.status === 401)
    return new ChannelError(
      statusSentence("bot_unknown", {
        title,
        code: 401,
        where: statusSentence("where_portal"),
        key: "channels.discord.token",
      }),
    );
  if (refusal !== undefined) return new DiscordRefusal(refusal, "a request");
  const status = statusIn(error);
  return new ChannelError(
    status === undefined
      ? statusSentence("unreachable", { title, reason: reasonOf(error) })
      : statusSentence("troubled", { title, code: status }),
    { retryable: true },
  );
}

const title = "Discord";

/** What a failed send means for the message. */
export function sendError(error: unknown, cutOff: "timeout" | "abort" | undefined): ChannelError {
  if (error instanceof ChannelError) return error;
  const wait = waitIn(error);
  if (wait !== undefined)
    return new ChannelError(statusSentence("asks_to_wait", { title, code: 429 }), {
      outcome: "refused",
      retryable: true,
      retryAfterMs: wait,
    });
  const refusal = refusalIn(error);
  if (refusal !== undefined) return new DiscordRefusal(refusal, "the message");
  const unknown = { outcome: "unknown", retryable: true } as const;
  if (cutOff !== undefined) {
    const why = cutOff === "timeout" ? statusSentence("late_send", { title }) : statusSentence("cut_send");
    return new ChannelError(why, unknown);
  }
  const status = statusIn(error);
  if (status !== undefined) return new ChannelError(statusSentence("troubled_send", { title, code: status }), unknown);
  return neverLeft(error)
    ? new ChannelError(statusSentence("unreachable", { title, reason: reasonOf(error) }), {
        outcome: "refused",
        retryable: true,
      })
    : new ChannelError(statusSentence("broke_send", { title, reason: reasonOf(error) }), unknown);
}

/**
 * Why the gateway closed for good, as a sentence; undefined for what a new connection cures.
 * https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
 */
export function fatalClose(code: number): ChannelError | undefined {
  switch (code) {
    case 4004:
      return new ChannelError(
        "Discord does not know this bot token (4004). Put the token that the developer portal shows under Bot into channels.discord.token.",
      );
    case 4014:
      return new ChannelError(
        "Discord does not let this bot read messages (4014). Switch on Message Content Intent on the Bot page of the developer portal, save, and start again.",
      );
    case 4010:
    case 4011:
    case 4012:
    case 4013:
      return new ChannelError(
        `Discord closed the connection for good (${code}).${code === 4011 ? " The bot is in too many servers for one connection." : ""}`,
      );
    default:
      return undefined;
  }
}

/** Something answers, but not as Discord does. */
export function notDiscord(): ChannelError {
  return new ChannelError(
    "Discord cannot be reached: what answers there is not Discord. Check channels.discord.apiRoot.",
    { retryable: true },
  );
}

function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !error.name.startsWith("DiscordAPIError")) return undefined;
  const status = statusIn(error) ?? 400;
  const code = "code" in error && typeof error.code === "number" ? error.code : 0;
  return { status, code, message: error.message.split("\n", 1)[0] ?? "" };
}

function statusIn(error: unknown): number | undefined {
  return error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : undefined;
}

function waitIn(error: unknown): number | undefined {
  if (!(error instanceof Error) || !error.name.startsWith("RateLimitError")) return undefined;
  const numbers = ["retryAfter", "sublimitTimeout"].map((key) => Number(Reflect.get(error, key)));
  return Math.max(0, ...numbers.filter(Number.isFinite));
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? "" : codeOf(error.cause);
}

function reasonOf(error: unknown): string {
  return whyUnreached(error) ?? (codeOf(error) || messageOf(error));
}
