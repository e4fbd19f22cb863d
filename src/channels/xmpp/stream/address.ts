import { resolveSrv } from "node:dns/promises";
import { ChannelError } from "../../../errors.js";
import { isLoopback } from "../../../util/loopback.js";

/** Where a server is, and how it is spoken to. */
export interface ServerAddress {
  /** `starttls`: TLS is asked for once it answers. */
  readonly by: "tls" | "starttls" | "websocket";
  readonly host: string;
  readonly port: number;
  /** Of a WebSocket. */
  readonly url?: string;
}

/** `xmpp:`, `xmpps:`, `wss:` or `ws:` (to this machine alone); undefined: it cannot be read. */
export function addressIn(service: string): ServerAddress | undefined {
  const [, scheme = "", rest = ""] = /^(xmpps?|wss?):\/\/(\S+)$/i.exec(service.trim()) ?? [];
  // The URL class knows ports and brackets of the schemes of the web alone.
  const url = URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : undefined;
  if (url === undefined || url.username !== "") return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const protocol = scheme.toLowerCase();
  if (protocol === "ws" && !isLoopback(host)) return undefined;
  if (protocol.startsWith("ws")) return { by: "websocket", host, port: Number(url.port) || 443, url: service.trim() };
  const port = /:\d+\/?$/.test(rest) ? Number(/:(\d+)\/?$/.exec(rest)?.[1]) : protocol === "xmpps" ? 5223 : 5222;
  return { by: protocol === "xmpps" ? "tls" : "starttls", host, port };
}

/** Where the server of a domain says that it is, best first (RFC 6120, 3.2; XEP-0368). */
export async function addressesOf(domain: string): Promise<readonly ServerAddress[]> {
  const look = async (service: string, by: ServerAddress["by"]) => {
    const found = await resolveSrv(`_${service}._tcp.${domain}`).catch(() => []);
    return found
      .filter(({ name }) => name !== "" && name !== ".")
      .map(({ name, port, priority, weight }) => ({ by, host: name, port, priority, weight }));
  };
  const found = [...(await look("xmpps-client", "tls")), ...(await look("xmpp-client", "starttls"))];
  const sorted = found.toSorted((a, b) => a.priority - b.priority || b.weight - a.weight);
  return sorted.length > 0 ? sorted : [{ by: "starttls", host: domain, port: 5222 }];
}

/** @throws {ChannelError} the setting cannot be read */
export async function whereToConnect(domain: string, service: string | undefined): Promise<readonly ServerAddress[]> {
  if (service === undefined) return await addressesOf(domain);
  const address = addressIn(service);
  if (address === undefined)
    throw new ChannelError(
      "channels.xmpp.service is not an address that can be used. Write xmpp://host:5222, xmpps://host:5223 or wss://host/path.",
    );
  return [address];
}
