import { ChannelError } from "../../errors.js";
import { type CallAnswer, statusError } from "../wire/call.js";

export const title = "QQ";

// https://bot.q.qq.com/wiki/develop/api-v2/dev-prepare/error-trace/openapi.html, and those that it leaves out, as bots
// have met them.
const repeats: ReadonlySet<number> = new Set([40_054_005]);
const endedReplies: ReadonlySet<number> = new Set([
  304_026, 304_027, 304_028, 304_103, 40_034_005, 40_034_024, 40_034_025, 40_034_026, 40_034_128,
]);
const noBeginning: ReadonlySet<number> = new Set([
  304_022, 304_045, 304_046, 304_047, 304_048, 304_049, 304_050, 40_034_100, 40_034_102, 40_034_105,
]);
const markup: ReadonlySet<number> = new Set([
  50_037, 50_041, 50_042, 50_054, 50_055, 50_056, 50_057, 304_036, 304_037, 304_038, 304_039, 304_040, 304_041, 304_061,
  40_034_008, 40_034_009, 40_034_010, 40_034_011, 40_034_012, 40_034_029, 40_034_124, 40_034_127,
]);
const addresses: ReadonlySet<number> = new Set([304_003, 40_054_010]);
const tooMany: ReadonlySet<number> = new Set([22_009, 20_028, 1_100_100, 1_100_308]);
const closedChats: ReadonlySet<number> = new Set([10_003, 10_004, 304_031, 304_032, 304_034, 40_034_101, 1_100_104]);
const wrongLogin: ReadonlySet<number> = new Set([100_007, 100_016]);
const passing: ReadonlySet<number> = new Set([11_242, 11_252, 11_263, 11_281, 304_018, 1_100_300]);
const foreignAddress = 11_298;
const missingRights: ReadonlySet<number> = new Set([11_253, 11_264]);
const banned = 11_265;
const waitMs = 5000;

/** QQ has answered, and it was no. */
export class QqRefusal extends ChannelError {
  readonly code: number;

  constructor(code: number, said: string, what: string) {
    const hint = hintFor(code);
    super(`QQ refused ${what} (code ${code}: ${said}).${hint === undefined ? "" : ` ${hint}`}`, {
      retryable: tooMany.has(code) || passing.has(code),
      retryAfterMs: tooMany.has(code) ? waitMs : undefined,
      isChatClosed: closedChats.has(code),
    });
    this.code = code;
  }

  /** The same reply to the same message was shown before. */
  get isRepeat(): boolean {
    return repeats.has(this.code);
  }

  /** The message that is answered takes no reply any more. */
  get isTooLate(): boolean {
    return endedReplies.has(this.code);
  }

  /** The bot may not write here unless it answers. */
  get mayNotBegin(): boolean {
    return noBeginning.has(this.code);
  }

  get isTooMany(): boolean {
    return tooMany.has(this.code);
  }

  /** The bot itself, and not a message: it passes when somebody has acted. */
  get isAboutBot(): boolean {
    const { code } = this;
    return wrongLogin.has(code) || missingRights.has(code) || code === foreignAddress || code === banned;
  }

  /** Not Markdown or buttons, or not these. */
  get isAboutMarkup(): boolean {
    return markup.has(this.code);
  }

  /** A text with web addresses that are not registered for the bot. */
  get isAboutAddresses(): boolean {
    return addresses.has(this.code) || /不允许(?:发送|包含)\s*url|url not allowed/i.test(this.message);
  }
}

function hintFor(code: number): string | undefined {
  if (wrongLogin.has(code))
    return "Put the AppID and the AppSecret that q.qq.com shows into channels.qq.appId and channels.qq.appSecret.";
  if (code === foreignAddress)
    return "Add the address of this machine to the bot's IP whitelist at q.qq.com (Development settings).";
  if (missingRights.has(code)) return "Give the bot this right at q.qq.com (Development, Interfaces).";
  if (code === banned) return "QQ has banned this bot.";
  return undefined;
}

/** QQ's own code and words in an answer; undefined: there are none. */
export function saidIn({ body }: CallAnswer): { readonly code: number; readonly said: string } | undefined {
  try {
    const said: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof said !== "object" || said === null) return undefined;
    const code: unknown = Reflect.get(said, "code") ?? Reflect.get(said, "err_code");
    const message: unknown = Reflect.get(said, "message");
    if (typeof code !== "number" || code === 0) return undefined;
    return { code, said: typeof message === "string" ? message.slice(0, 200) : "" };
  } catch {
    // A proxy answers with a page of its own.
    return undefined;
  }
}

/** What an answer means that is not a success. */
export function refusalOf(answer: CallAnswer, what: string): ChannelError {
  const said = saidIn(answer);
  const { status } = answer;
  if (said === undefined) return statusError(title, answer);
  const isKnown = [repeats, endedReplies, noBeginning, markup, addresses, tooMany, closedChats, wrongLogin, passing];
  // QQ uses 500 for its own refusals too; with a code that is not known the message may have been taken.
  if (said.code === foreignAddress || isKnown.some((codes) => codes.has(said.code)))
    return new QqRefusal(said.code, said.said, what);
  if (status === 401 || status === 429 || status >= 500)
    return statusError(title, answer, `code ${said.code}: ${said.said}`);
  return new QqRefusal(said.code, said.said, what);
}

/**
 * Why the gateway closed the connection, where a new one does not simply go on: `again` says how to log in then.
 * https://bot.q.qq.com/wiki/develop/api-v2/dev-prepare/error-trace/websocket.html
 */
export function closeReason(
  code: number,
):
  | { readonly again: "resume" | "identify" | "fewer-rights" }
  | { readonly again: "never"; readonly error: ChannelError } {
  if (code === 4013 || code === 4014) return { again: "fewer-rights" };
  if (code === 4008 || code === 4009) return { again: "resume" };
  const forGood = finalCloses[code];
  if (forGood !== undefined) return { again: "never", error: new ChannelError(`${forGood} (${code}).`) };
  return { again: code >= 4000 && code < 5000 ? "identify" : "resume" };
}

const finalCloses: Readonly<Record<number, string>> = {
  4010: "QQ closed the connection for good: it does not take this shard",
  4011: "QQ closed the connection for good: the bot is in too many guilds for one connection",
  4012: "QQ closed the connection for good: it does not take this version of the protocol",
  4914: "QQ has taken this bot off line. Publish it at q.qq.com, or set channels.qq.apiRoot to the sandbox",
  4915: "QQ has banned this bot. Ask QQ to lift the ban, and start it again",
};

export function noRight(): ChannelError {
  return new ChannelError(
    "QQ lets this bot receive nothing (4014). At q.qq.com give it one of these: private chats and groups (1<<25), guild messages (1<<30), direct messages of guilds (1<<12).",
  );
}
