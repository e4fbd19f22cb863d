import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv6 } from "node:net";
import { networkIn } from "./networks.js";

/** Who asks, and for which address. */
export interface Source {
  /** Of the person's device where a trusted proxy names it, else of the connection. */
  readonly address: string;
  /** Of the page; undefined where nobody who is trusted says so. */
  readonly protocol: "http" | "https" | undefined;
  /** `host[:port]`, in small letters. */
  readonly host: string;
  /** A trusted proxy has passed it on. */
  readonly isProxied: boolean;
}

/** One proxy's account of the request that it has passed on. */
interface Hop {
  readonly address: string | undefined;
  readonly protocol?: string | undefined;
  readonly host?: string | undefined;
}

/** Reads who asks. Headers of proxies count only from an address that is trusted; else they are anybody's words. */
export class Proxies {
  readonly #trusted: () => readonly string[];
  #known: { readonly names: readonly string[]; readonly list: BlockList } = { names: [], list: new BlockList() };

  constructor(trusted: () => readonly string[]) {
    this.#trusted = trusted;
  }

  sourceOf(request: IncomingMessage): Source {
    const peer = plainAddress(request.socket.remoteAddress ?? "unknown");
    const host = request.headers.host?.toLowerCase() ?? "";
    const direct: Source = { address: peer, protocol: undefined, host, isProxied: false };
    if (!this.#isTrusted(peer)) return direct;
    const proxied: Source = { ...direct, isProxied: true };
    const hops = hopsOf(request);
    if (hops === undefined) return proxied;
    // Each proxy adds its account at the end: the last one who is not a proxy of ours is who asks.
    let seen: Hop | undefined;
    for (const hop of hops.toReversed()) {
      if (hop.address === undefined) break;
      seen = hop;
      if (!this.#isTrusted(hop.address)) break;
    }
    const named = seen ?? hops.at(-1);
    const protocol = named?.protocol?.toLowerCase();
    return {
      address: seen?.address ?? peer,
      protocol: protocol === "https" || protocol === "http" ? protocol : undefined,
      host: hostIn(named?.host) ?? host,
      isProxied: true,
    };
  }

  #isTrusted(address: string): boolean {
    const names = this.#trusted();
    if (names.length === 0 || isIP(address) === 0) return false;
    if (names !== this.#known.names) this.#known = { names, list: listOf(names) };
    return this.#known.list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  }
}

function listOf(names: readonly string[]): BlockList {
  const list = new BlockList();
  for (const name of names) {
    const network = networkIn(name);
    if (network !== undefined) list.addSubnet(network.address, network.bits, network.family);
  }
  return list;
}

/**
 * What proxies say, the nearest last. Undefined where there is nothing, and where both forms are there and name another
 * address: a proxy that writes one of them lets the other through as its client has sent it.
 */
function hopsOf({ headers }: IncomingMessage): readonly Hop[] | undefined {
  const forwarded = textOf(headers.forwarded);
  const plain = plainHops(headers);
  if (forwarded === undefined) return plain;
  const standard = forwarded.split(",").map(standardHop);
  if (plain === undefined) return standard;
  return plain.at(-1)?.address === standard.at(-1)?.address ? plain : undefined;
}

function plainHops(headers: IncomingMessage["headers"]): readonly Hop[] | undefined {
  const addresses = textOf(headers["x-forwarded-for"]);
  const protocol = last(textOf(headers["x-forwarded-proto"]));
  const host = last(textOf(headers["x-forwarded-host"]));
  if (addresses === undefined && protocol === undefined && host === undefined) return undefined;
  const hops = addresses?.split(",").map((each) => addressIn(each)) ?? [undefined];
  return hops.map((address) => ({ address, protocol, host }));
}

/** One element of `Forwarded` (RFC 7239). */
function standardHop(text: string): Hop {
  const pairs = new Map<string, string>();
  for (const part of text.split(";")) {
    const at = part.indexOf("=");
    if (at < 1) continue;
    const value = part.slice(at + 1).trim();
    pairs.set(part.slice(0, at).trim().toLowerCase(), /^"[^"]*"$/.test(value) ? value.slice(1, -1) : value);
  }
  return { address: addressIn(pairs.get("for") ?? ""), protocol: pairs.get("proto"), host: pairs.get("host") };
}

/** `1.2.3.4`, `1.2.3.4:5678`, `2001:db8::1` or `[2001:db8::1]:5678`. */
function addressIn(text: string): string | undefined {
  const [, address = ""] = /^\[([^\]]*)\](?::\d+)?$/.exec(text.trim()) ?? /^([^:]*):\d+$/.exec(text.trim()) ?? [];
  const found = address === "" ? text.trim() : address;
  return isIP(found) === 0 ? undefined : plainAddress(found);
}

/** An IPv4 address that came over IPv6 as what it is. */
function plainAddress(address: string): string {
  return address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
}

function hostIn(text: string | undefined): string | undefined {
  const host = text?.trim().toLowerCase() ?? "";
  return /^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/.test(host) ? host : undefined;
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === "string" ? header : header?.join(",");
  return text === undefined || text.trim() === "" ? undefined : text;
}

/** What the nearest proxy says. */
function last(list: string | undefined): string | undefined {
  return list?.split(",").at(-1)?.trim();
}
