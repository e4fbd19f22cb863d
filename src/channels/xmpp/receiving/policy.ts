import { bareOf, jidIn } from "../jid.js";
import { ns } from "../namespaces.js";
import type { Xml } from "../stream/xml.js";

/** Who was let in by name; `*` names nobody. */
export function isNamed(allowFrom: readonly string[], jid: string): boolean {
  return allowFrom.includes(bareOf(jid));
}

export interface Invitation {
  readonly room: string;
  readonly by: string;
  readonly password: string | undefined;
}

/** An invitation into a room, by the person themselves (XEP-0249): what a room says about who invites is its own word. */
export function invitationIn(message: Xml): Invitation | undefined {
  const direct = message.child("x", ns.invitation);
  const room = jidIn(direct?.attribute("jid") ?? "");
  const by = message.attribute("from");
  if (room === undefined || by === undefined || message.attribute("type") === "error") return undefined;
  return { room, by: bareOf(by), password: direct?.attribute("password") };
}
