import { DisconnectReason } from "baileys";
import { messageOf } from "../../../../src/errors.js";
import { whyUnreached } from "../../../../src/util/text/why-unreached.js";
import type { LinkEnd } from "../whatsapp.js";

/** WhatsApp does not speak with so old a version of its web page. */
export const outdated = 405;

/** The status of baileys' errors, e.g. 401. */
export function statusOf(error: unknown): number | undefined {
  const { output } = Object(error);
  const { statusCode } = Object(output);
  return typeof statusCode === "number" ? statusCode : undefined;
}

/** What baileys closes a connection for. */
export function endOf(error: unknown): LinkEnd {
  switch (statusOf(error)) {
    case DisconnectReason.loggedOut:
      return { state: "logged-out" };
    case DisconnectReason.connectionReplaced:
      return { state: "replaced" };
    case DisconnectReason.restartRequired:
      return { state: "renewed" };
    case DisconnectReason.forbidden:
      return { state: "refused", why: "the account is blocked; open WhatsApp on the phone, which says why" };
    case DisconnectReason.multideviceMismatch:
      return { state: "refused", why: "the phone's WhatsApp is too old for linked devices; update it" };
    case outdated:
      return { state: "lost", why: "WhatsApp wants a newer version of its web page" };
    default:
      return { state: "lost", why: whyOf(error) };
  }
}

function whyOf(error: unknown): string {
  const said = messageOf(error).replace(/\.$/, "");
  if (/QR refs attempts ended/.test(said)) return "nobody has scanned the code in time";
  return whyUnreached(error) ?? (said === "" ? "nobody says why" : said);
}
