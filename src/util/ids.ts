import { createHash, randomUUID } from "node:crypto";

/** A new id: `<prefix>_` and 20 hex digits. Prefixes in use: evt, msg, turn, agent, gw, out, call, exe, art. */
export function newId(prefix: string): string {
  // Node keeps random bytes for UUIDs ready, which makes this ten times cheaper than asking for ten bytes.
  return `${prefix}_${randomUUID().replaceAll("-", "").slice(0, 20)}`;
}

/** The id that always comes of these parts: what is done again after a crash is known by it. */
export function derivedId(prefix: string, ...parts: readonly (string | number)[]): string {
  return `${prefix}_${createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 20)}`;
}
