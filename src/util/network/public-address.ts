import { BlockList, isIPv4, isIPv6 } from "node:net";

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
