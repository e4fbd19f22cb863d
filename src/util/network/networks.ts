import { isIP, isIPv6 } from "node:net";

export interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: "ipv4" | "ipv6";
}

/** Undefined for what is not a network, and for one of everybody. */
export function networkIn(text: string): Network | undefined {
  const [address = "", length, more] = text.split("/");
  const most = isIPv6(address) ? 128 : 32;
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : 0;
  if (more !== undefined || isIP(address) === 0 || bits < 1 || bits > most) return undefined;
  return { address, bits, family: most === 128 ? "ipv6" : "ipv4" };
}
