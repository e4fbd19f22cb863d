import { z } from "zod";
import { ChannelError } from "../../errors.js";
import { type CallAnswer, retryAfterMs, statusError, withoutMessage } from "../wire/call.js";

export const title = "Matrix";

const refusal = z.looseObject({
  errcode: z.string(),
  error: z.string().catch(""),
  retry_after_ms: z.number().nonnegative().optional().catch(undefined),
  consent_uri: z.string().optional().catch(undefined),
});

/** The homeserver has answered, and it was no. `code`: its own word, e.g. `M_FORBIDDEN`. */
export class MatrixRefusal extends ChannelError {
  readonly code: string;
  readonly session: string | undefined;

  constructor(code: string, message: string, options: ConstructorParameters<typeof ChannelError>[1], session?: string) {
    super(message, options);
    this.code = code;
    this.session = session;
  }
}

/** Ours: the homeserver wants to know who it is before it does this. */
const authAsked = "AUTH_ASKED";
const authentication = z.looseObject({ flows: z.array(z.unknown()), session: z.string() });

/** By this the homeserver knows the call again when it comes with a password; undefined: it has not asked for one. */
export function authSessionOf(error: unknown): string | undefined {
  return error instanceof MatrixRefusal && error.code === authAsked ? error.session : undefined;
}

/** Ours, for a login that was refused. */
export const noLogin = "NO_LOGIN";
const lostLogins: ReadonlySet<string> = new Set(["M_UNKNOWN_TOKEN", "M_MISSING_TOKEN"]);
/** About the account and not about the message, which waits for the time when it is taken again. */
const accountTroubles: ReadonlySet<string> = new Set([
  ...lostLogins,
  noLogin,
  ...["M_USER_DEACTIVATED", "M_USER_LOCKED", "M_USER_SUSPENDED", "M_CONSENT_NOT_GIVEN"],
]);
/** It may pass. */
const waits: ReadonlySet<string> = new Set(["M_LIMIT_EXCEEDED", "M_RESOURCE_LIMIT_EXCEEDED"]);
/** Of a call in a room: the bot may not write there any more. */
const closedRoom: ReadonlySet<string> = new Set(["M_FORBIDDEN", "M_NOT_FOUND", "M_GUEST_ACCESS_FORBIDDEN"]);

/** What an answer means that is not a success. `what`: what was asked for, `isInRoom`: in a room that may be closed. */
export function refusalOf(answer: CallAnswer, what: string, isInRoom = false): ChannelError {
  const { status, headers } = answer;
  const { data: asked } = authentication.safeParse(status === 401 ? jsonIn(answer.body) : undefined);
  if (asked !== undefined) {
    const why = `Matrix asks for a password before it takes ${what}. Set channels.matrix.userId and password.`;
    return new MatrixRefusal(authAsked, why, { outcome: "refused" }, asked.session);
  }
  const { data } = refusal.safeParse(jsonIn(answer.body));
  if (data === undefined) return statusError(title, answer);
  const { errcode: code, retry_after_ms: waitMs } = data;
  const mayPass = waits.has(code) || accountTroubles.has(code) || status === 429 || status >= 500;
  return new MatrixRefusal(code, `Matrix refused ${what} (${code}).${hintFor(code, data.consent_uri)}`, {
    outcome: status >= 500 && status !== 503 ? "unknown" : "refused",
    retryable: mayPass,
    retryAfterMs: waitMs ?? retryAfterMs(headers.get("retry-after")),
    isChatClosed: isInRoom && closedRoom.has(code),
  });
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof MatrixRefusal ? error.code : undefined;
}

/** The homeserver does not take the token. */
export function isLoginLost(error: unknown): boolean {
  return lostLogins.has(codeOf(error) ?? "");
}

/** The token or the account: trying again does not help until somebody acts. */
export function isAccountTrouble(error: unknown): boolean {
  return accountTroubles.has(codeOf(error) ?? "");
}

/** As the error that ends a run: one about the account is for good. */
export function forRun(error: unknown): unknown {
  return isAccountTrouble(error) && error instanceof MatrixRefusal
    ? new ChannelError(error.message)
    : withoutMessage(error);
}

function jsonIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // A proxy's page.
    return undefined;
  }
}

function hintFor(code: string, consentUri: string | undefined): string {
  if (lostLogins.has(code))
    return " The access token is not valid any more: put a new one into channels.matrix.accessToken.";
  if (code === "M_CONSENT_NOT_GIVEN")
    return ` Log in as the bot, for example in Element, and accept the terms${isWeb(consentUri) ? ` at ${consentUri}` : ""}.`;
  if (code === "M_USER_DEACTIVATED" || code === "M_USER_LOCKED" || code === "M_USER_SUSPENDED")
    return " Ask the people who run the homeserver what is wrong with the bot's account.";
  if (code === "M_TOO_LARGE") return " It is larger than the homeserver allows.";
  return "";
}

function isWeb(address: string | undefined): address is string {
  return address !== undefined && /^https:\/\/[^\s?#]+$/.test(address);
}
