import { ChannelError } from "../../errors.js";
import { withoutMessage } from "../wire/call.js";

/** Slack has answered, and it was no. `code`: its own word, e.g. `channel_not_found`. */
export class SlackRefusal extends ChannelError {
  readonly code: string;

  constructor(method: string, { error: code, needed }: SlackRefusalBody, key: TokenKey) {
    super(`Slack refused ${method} (${code}).${hintFor(code, needed, key)}`, {
      outcome: mayBeDone.has(code) ? "unknown" : "refused",
      retryable: tokenTroubles.has(code) || waits.has(code) || mayBeDone.has(code),
      isChatClosed: closedChat.has(code),
    });
    this.code = code;
  }
}

/** Which of the two tokens a call was made with. */
export type TokenKey = "botToken" | "appToken";

export interface SlackRefusalBody {
  readonly error: string;
  /** Of `missing_scope`: the rights that the call needs. */
  readonly needed?: string | undefined;
}

const lostLogins: ReadonlySet<string> = new Set([
  ...["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type"],
]);
/** About the token and not about the message, which waits for the time when it is taken again. */
const tokenTroubles: ReadonlySet<string> = new Set([...lostLogins, "missing_scope", "no_permission"]);
/** It may pass. */
const waits: ReadonlySet<string> = new Set([
  ...["ratelimited", "rate_limited", "message_limit_exceeded", "service_unavailable", "request_timeout"],
  ...["team_added_to_org", "accesslimited"],
]);
/** Slack says that a part of it may have been done. */
const mayBeDone: ReadonlySet<string> = new Set(["fatal_error", "internal_error"]);
/** The bot may not write here any more. */
const closedChat: ReadonlySet<string> = new Set([
  ...["channel_not_found", "is_archived", "not_in_channel", "user_not_found", "user_disabled", "cannot_dm_bot"],
  ...["restricted_action", "restricted_action_read_only_channel", "messages_tab_disabled", "user_is_restricted"],
]);

export function codeOf(error: unknown): string | undefined {
  return error instanceof SlackRefusal ? error.code : undefined;
}

/** The token, or a right of it: trying again does not help until somebody acts. */
export function isTokenTrouble(error: unknown): boolean {
  return tokenTroubles.has(codeOf(error) ?? "");
}

/** Slack does not take the token at all. */
export function isLoginLost(error: unknown): boolean {
  return lostLogins.has(codeOf(error) ?? "");
}

/** As the error that ends a run: one about a token is for good. */
export function forRun(error: unknown): unknown {
  return isTokenTrouble(error) && error instanceof SlackRefusal
    ? new ChannelError(error.message)
    : withoutMessage(error);
}

function hintFor(code: string, needed: string | undefined, key: TokenKey): string {
  if (code === "missing_scope")
    return ` The app lacks the right ${needed ?? "that docs/slack.md names"}. Add it on the page OAuth & Permissions, install the app again, and start again.`;
  if (code === "messages_tab_disabled")
    return " Allow messages to the app: its page App Home, Messages Tab, “Allow users to send messages”.";
  if (code === "not_in_channel") return " Invite the bot to the channel.";
  if (!lostLogins.has(code)) return "";
  const where = key === "botToken" ? "OAuth & Permissions shows (xoxb-…)" : "Basic Information shows (xapp-…)";
  return ` Put the token that the app's page ${where} into channels.slack.${key}.`;
}
