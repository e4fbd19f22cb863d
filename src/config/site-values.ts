import { z } from "zod";
import { networkIn } from "../util/network/networks.js";

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

function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^/?#@\s]+[^?#\s]*$/i.test(text)) return false;
  return URL.canParse(text);
}
