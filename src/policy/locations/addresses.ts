import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { isPublic } from "../../util/network/public-address.js";
import { statusSentence } from "../../util/words/status-sentences.js";

/** Which addresses of the network tools may connect to. */
export interface AddressPolicy {
  /**
   * One sentence when tools may not connect to this address, which `host` has been looked up to. `host` is a name or an
   * address as a URL has it, `address` a plain one.
   */
  refusalOf(target: { readonly host: string; readonly port: number; readonly address: string }): string | undefined;
  /** Entries of the allow-list that mean nothing, as sentences for people. */
  readonly problems: readonly string[];
}

/**
 * Public addresses are open, all others closed: this machine, the networks that it is in, the metadata services of
 * clouds, and every way to write those as IPv6. `allow` opens some: `nas.local`, `*.lan`, `192.168.1.5`, `10.0.0.0/24`,
 * `[::1]`, each with `:port` or for every port.
 */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const entries = allow.map((text) => ({ text, entry: parseEntry(text) }));
  const open = entries.flatMap(({ entry }) => entry ?? []);
  return {
    refusalOf({ host, port, address }) {
      if (isPublic(address)) return undefined;
      const name = plainHost(host);
      const isOpen = open.some((one) => (one.port === undefined || one.port === port) && one.covers(name, address));
      if (isOpen) return undefined;
      return `${name} is an address of this machine or of a private network, which tools may not reach (setting tools.web.fetch.allow).`;
    },
    problems: entries.filter(({ entry }) => entry === undefined).map(({ text }) => statusSentence("no_host", { text })),
  };
}

/** The same where the address is in the URL itself. Names are looked up when they are opened. */
export function literalRefusal({ refusalOf }: AddressPolicy, { hostname, port, protocol }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, "");
  const address = hostname === "localhost" || hostname.endsWith(".localhost") ? "127.0.0.1" : bare;
  if (!isIPv4(address) && !isIPv6(address)) return undefined;
  return refusalOf({ host: hostname, address, port: Number(port) || (protocol === "https:" ? 443 : 80) });
}

interface OpenEntry {
  readonly port: number | undefined;
  readonly covers: (name: string, address: string) => boolean;
}

/** A name has 253 characters at most, and a port is short. */
const longestEntry = 300;

function parseEntry(text: string): OpenEntry | undefined {
  if (text.length > longestEntry) return undefined;
  const match = /^(\[[^\]]+\]|[^:\s]+|[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:./]*)(?::(\d{1,5}))?$/i.exec(text.trim());
  if (match === null) return undefined;
  const [, bracketed = "", portText] = match;
  const port = portText === undefined ? undefined : Number(portText);
  const host = plainHost(bracketed);
  const [net = "", bits] = host.split("/");
  if (isIP(net) !== 0) {
    const family = isIPv4(net) ? "ipv4" : "ipv6";
    const size = bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits);
    if (!Number.isInteger(size) || size < 0 || size > (family === "ipv4" ? 32 : 128)) return undefined;
    const list = new BlockList();
    list.addSubnet(net, size, family);
    return {
      port,
      covers: (_name, address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? "ipv4" : "ipv6"),
    };
  }
  if (!/^(\*\.)?[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*$/u.test(host)) return undefined;
  return { port, covers: (name) => (host.startsWith("*.") ? name.endsWith(host.slice(1)) : name === host) };
}

/** Without brackets and the dot that ends a full name. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
