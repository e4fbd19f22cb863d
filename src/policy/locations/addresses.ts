import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

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

/** https://www.iana.org/assignments/iana-ipv4-special-registry, what is not globally reachable, and multicast. */
const closedIPv4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;

/** Of 2000::/3, outside of which nothing is public: protocol assignments with Teredo, documentation, 6to4. */
const closedIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"] as const;

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
    problems: entries
      .filter(({ entry }) => entry === undefined)
      .map(({ text }) => `tools.web.fetch.allow: ${text} is not a host, address or network, with or without a port.`),
  };
}

/** The same where the address is in the URL itself. Names are looked up when they are opened. */
export function literalRefusal({ refusalOf }: AddressPolicy, { hostname, port, protocol }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, "");
  const address = hostname === "localhost" || hostname.endsWith(".localhost") ? "127.0.0.1" : bare;
  if (!isIPv4(address) && !isIPv6(address)) return undefined;
  return refusalOf({ host: hostname, address, port: Number(port) || (protocol === "https:" ? 443 : 80) });
}

/** True for what anybody on the internet can reach. Anything that is not an address is not. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !lists.ipv4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  const groups = groupsOf(address);
  const [first = 0, second = 0] = groups;
  // NAT64: networks without IPv4 reach all of it through these.
  if (first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0))
    return isPublic(lastAsIPv4(groups));
  // Written as IPv6, spoken as IPv4.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return isPublic(lastAsIPv4(groups));
  return (first & 0xe000) === 0x2000 && !lists.ipv6.check(address, "ipv6");
}

const lists = { ipv4: blockList(closedIPv4, "ipv4"), ipv6: blockList(closedIPv6, "ipv6") };

function blockList(networks: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [net = "", bits] = network.split("/");
    list.addSubnet(net, Number(bits), family);
  }
  return list;
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // The URL parser writes a dotted end as two groups.
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}

function lastAsIPv4(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
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
