import { isIP, isIPv6 } from "node:net";
import { z } from "zod";

/** First parts of paths that are the gateway's own: a base with one of them could not be told from it. */
const ownPaths = ["api", "v1", "ws", "metrics", "health", "ready", "assets"];

/** Begins with a slash and ends without one; empty: everything is at the top. */
export const basePath = z
  .string()
  .trim()
  .transform((value) => withoutEndSlashes(value.replace(/^\/*(?=[^/])/, "/")))
  .refine((value) => /^(\/[\w~-][\w.~-]*)*$/.test(value), "a path such as /assistant")
  .refine((value) => !ownPaths.includes(value.split("/")[1] ?? ""), "a path that the gateway does not have itself")
  .default("");

/** An address, or a network that is not the whole internet. */
export const proxyAddress = z
  .string()
  .trim()
  .refine((value) => networkIn(value) !== undefined, "an address or a network such as 10.0.0.0/8");

/** Of a page, without what comes after the path. */
export const webAddress = z
  .string()
  .trim()
  .refine((value) => value === "" || isWebAddress(value), "an address such as https://chat.example.org/assistant/")
  .transform((value) => (value === "" ? undefined : `${withoutEndSlashes(value)}/`))
  .optional();

function withoutEndSlashes(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === "/") end -= 1;
  return text.slice(0, end);
}

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

function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^/?#@\s]+[^?#\s]*$/i.test(text)) return false;
  return URL.canParse(text);
}
