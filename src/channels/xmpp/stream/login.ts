import { ChannelError } from "../../../errors.js";
import { linked } from "../../../util/async/linked.js";
import { domainOf, userOf } from "../jid.js";
import { ns } from "../namespaces.js";
import { loginError, stanzaErrorIn } from "../xmpp-error.js";
import { whereToConnect } from "./address.js";
import { Scram } from "./scram.js";
import { Wire } from "./wire.js";
import { type Xml, xml } from "./xml.js";

export interface Login {
  readonly jid: string;
  readonly password: string;
  readonly service?: string | undefined;
  readonly ca?: string | undefined;
  /** The name of this connection among those of the account; of two with the same name the server ends the older one. */
  readonly resource: string;
  /** Until it is logged in. Default 20,000. */
  readonly loginMs?: number | undefined;
}

/** A connection that is logged in. */
export interface LoggedIn {
  readonly wire: Wire;
  /** With the resource. */
  readonly jid: string;
  /** Both sides count stanzas (XEP-0198). */
  readonly isManaged: boolean;
}

const defaultLoginMs = 20_000;

/** @throws {ChannelError} not `retryable`: the account, its password or the lack of TLS */
export async function logIn(login: Login, signal: AbortSignal): Promise<LoggedIn> {
  using scope = linked(signal, login.loginMs ?? defaultLoginMs);
  const wire = await openFirst(login, scope.signal);
  const onAbort = (): void => wire.destroy(new ChannelError("The XMPP server does not answer.", { retryable: true }));
  scope.signal.addEventListener("abort", onAbort, { once: true });
  if (scope.signal.aborted) onAbort();
  try {
    return await negotiate(wire, login);
  } catch (error) {
    wire.close();
    throw error;
  } finally {
    scope.signal.removeEventListener("abort", onAbort);
  }
}

async function openFirst({ jid, service, ca, loginMs = defaultLoginMs }: Login, signal: AbortSignal): Promise<Wire> {
  const domain = domainOf(jid);
  let failure = new ChannelError(`The server of ${jid} was not found.`, { retryable: true });
  const addresses = await whereToConnect(domain, service);
  for (const address of addresses) {
    // One that does not answer leaves time for the next.
    using turn = linked(signal, loginMs / addresses.length);
    try {
      return await Wire.open(address, { domain, ca }, turn.signal);
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      failure = error;
      if (signal.aborted) break;
    }
  }
  throw failure;
}

async function negotiate(wire: Wire, login: Login): Promise<LoggedIn> {
  let features = await newStream(wire);
  const offer = features.child("starttls", ns.tls);
  if (wire.canSecure && offer !== undefined && (!wire.isLocal || offer.child("required", ns.tls) !== undefined)) {
    wire.send(xml("starttls", ns.tls));
    if (!(await wire.next()).is("proceed", ns.tls))
      throw new ChannelError(`The server of ${login.jid} did not begin TLS.`, { retryable: true });
    await wire.secure();
    features = await newStream(wire);
  }
  if (!wire.isSecure && !wire.isLocal)
    throw new ChannelError(`The server of ${login.jid} offers no TLS. Without it the password is not sent.`);
  await authenticate(wire, features, login);
  features = await newStream(wire);
  const jid = await bind(wire, login.resource);
  const isManaged = features.child("sm", ns.management) !== undefined && (await manage(wire));
  return { wire, jid, isManaged };
}

async function newStream(wire: Wire): Promise<Xml> {
  wire.restart();
  const features = await wire.next();
  if (features.is("features", ns.stream)) return features;
  throw new ChannelError("What answers there is not an XMPP server.", { retryable: true });
}

async function authenticate(wire: Wire, features: Xml, { jid, password }: Login): Promise<void> {
  const offered = features.child("mechanisms", ns.sasl)?.all("mechanism", ns.sasl) ?? [];
  const names = new Set(offered.map(({ text }) => text.trim()));
  const hash = names.has("SCRAM-SHA-256") ? "sha256" : names.has("SCRAM-SHA-1") ? "sha1" : undefined;
  const begin = (mechanism: string, text: string): void => {
    wire.send(xml("auth", ns.sasl, { mechanism }, base64(text)));
  };
  if (hash === undefined) {
    if (!names.has("PLAIN")) throw new ChannelError(`The server of ${jid} offers no way to log in that is known here.`);
    begin("PLAIN", `\0${userOf(jid)}\0${password}`);
    succeeded(await wire.next(), jid);
    return;
  }
  const scram = new Scram(hash, userOf(jid), password);
  begin(hash === "sha1" ? "SCRAM-SHA-1" : "SCRAM-SHA-256", scram.first);
  const challenge = await wire.next();
  const forged = new ChannelError(`What answers for ${jid} does not know the password: it is not the server.`);
  if (!challenge.is("challenge", ns.sasl)) {
    succeeded(challenge, jid);
    throw forged;
  }
  const answer = await scram.answer(fromBase64(challenge.text)).catch((cause: unknown) => {
    throw new ChannelError(`The server of ${jid} asks for a login that makes no sense.`, { cause, retryable: true });
  });
  wire.send(xml("response", ns.sasl, {}, base64(answer)));
  const end = succeeded(await wire.next(), jid);
  if (!scram.proves(fromBase64(end.text))) throw forged;
}

function succeeded(element: Xml, jid: string): Xml {
  if (element.is("success", ns.sasl)) return element;
  throw loginError(element.elements().find(({ name }) => name !== "text")?.name ?? "not-authorized", jid);
}

async function bind(wire: Wire, resource: string): Promise<string> {
  const wish = xml("bind", ns.bind, {}, xml("resource", ns.bind, {}, resource));
  wire.send(xml("iq", ns.client, { type: "set", id: "bind" }, wish));
  const answer = await wire.next();
  const jid = answer.child("bind", ns.bind)?.textOf("jid", ns.bind);
  if (jid !== undefined) return jid;
  throw new ChannelError(`The XMPP server gave no address (${stanzaErrorIn(answer).message}).`, { retryable: true });
}

async function manage(wire: Wire): Promise<boolean> {
  wire.send(xml("enable", ns.management));
  return (await wire.next()).is("enabled", ns.management);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString();
}
