import { ns } from "../namespaces.js";
import { StanzaError } from "../xmpp-error.js";
import type { Session } from "./session.js";
import { xml } from "./xml.js";

/** What an address can do; nothing where it does not say. @throws {ChannelError} there is no answer */
export async function featuresOf(session: Session, jid: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  try {
    const answer = await session.ask("get", jid, xml("query", ns.info), signal);
    const found = answer.child("query", ns.info)?.all("feature", ns.info) ?? [];
    return new Set(found.map((feature) => feature.attribute("var") ?? ""));
  } catch (error) {
    if (error instanceof StanzaError) return new Set();
    throw error;
  }
}

/** The services of a server. @throws {ChannelError} */
export async function servicesOf(session: Session, domain: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const answer = await session.ask("get", domain, xml("query", ns.items), signal);
    const found = answer.child("query", ns.items)?.all("item", ns.items) ?? [];
    return found.map((item) => item.attribute("jid") ?? "").filter((jid) => jid !== "");
  } catch (error) {
    if (error instanceof StanzaError) return [];
    throw error;
  }
}
