import { ChannelError } from "../../errors.js";
import { cutText } from "../../util/text/cut-text.js";
import { ns } from "./namespaces.js";
import type { Xml } from "./stream/xml.js";

/** What a server, room or person answers a stanza with that they do not take (RFC 6120, 8.3). */
export class StanzaError extends Error {
  override readonly name = "StanzaError";
  readonly condition: string;
  /** `auth`, `cancel`, `continue`, `modify` or `wait`. */
  readonly type: string;

  constructor(condition: string, type: string, text: string) {
    super(text === "" ? condition : `${condition}: ${cutText(text, 200)}`);
    this.condition = condition;
    this.type = type;
  }
}

export function stanzaErrorIn(stanza: Xml): StanzaError {
  const error = stanza.elements().find(({ name }) => name === "error");
  const condition = error?.elements().find((child) => child.ns === ns.stanzas && child.name !== "text");
  const text = error?.textOf("text", ns.stanzas) ?? "";
  return new StanzaError(condition?.name ?? "undefined-condition", error?.attribute("type") ?? "cancel", text);
}

/** These pass, whatever type the server gives them. */
const passing = new Set([
  "internal-server-error",
  "remote-server-not-found",
  "remote-server-timeout",
  "resource-constraint",
  "recipient-unavailable",
]);
/** In a room: the bot may not be in it, or it is not there any more. */
const closing = new Set(["forbidden", "gone", "item-not-found", "not-allowed", "registration-required"]);
/** In a room: the bot is not in it, as after a restart of its server. It can come back. */
export const notInRoom = "not-acceptable";
/** XMPP names no span. */
const waitMs = 1000;

/** Nothing was shown: what refuses a stanza has not passed it on. */
export function toChannelError(error: StanzaError, what: string, isRoom = false): ChannelError {
  const { condition, type } = error;
  const isBusy = type === "wait";
  return new ChannelError(`${what} was refused (${error.message}).`, {
    outcome: "refused",
    retryable: isBusy || passing.has(condition) || (isRoom && condition === notInRoom),
    ...(isBusy ? { retryAfterMs: waitMs } : {}),
    isChatClosed: condition === "gone" || (isRoom && closing.has(condition)),
  });
}

/** Why a login was refused (RFC 6120, 6.5). */
export function loginError(condition: string, jid: string): ChannelError {
  if (condition === "temporary-auth-failure")
    return new ChannelError(`The server of ${jid} cannot check the password now.`, { retryable: true });
  const words: Readonly<Record<string, string>> = {
    "not-authorized": "Check channels.xmpp.jid and channels.xmpp.password",
    "account-disabled": "The account is switched off there",
    "credentials-expired": "The password has run out",
    "encryption-required": "It wants an encrypted connection: use an address with xmpps://",
  };
  const todo = words[condition] ?? "Check channels.xmpp.jid and channels.xmpp.password";
  return new ChannelError(`The server refused the login of ${jid} (${condition}). ${todo}.`);
}

/** What ends a stream. */
export function streamError(error: Xml): ChannelError {
  const [condition] = error.elements().filter((child) => child.ns === ns.streams && child.name !== "text");
  const name = condition?.name ?? "undefined-condition";
  const text = error.textOf("text", ns.streams) ?? "";
  if (name === "conflict")
    return new ChannelError(
      "The XMPP server ended the connection: another program has logged in with the same resource (conflict). Does a copy of this gateway run?",
      { retryable: true },
    );
  const isForGood = name === "host-unknown" || name === "not-authorized";
  const said = text === "" ? name : `${name}: ${cutText(text, 200)}`;
  return new ChannelError(`The XMPP server ended the connection (${said}).`, { retryable: !isForGood });
}
