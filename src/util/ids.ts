import { randomUUID } from "node:crypto";

/** A new id: `<prefix>_` and 20 hex digits. Prefixes in use: evt, msg, turn, agent, gw, out, call, exe. */
export function newId(prefix: string): string {
  // Node keeps random bytes for UUIDs ready, which makes this ten times cheaper than asking for ten bytes.
  return `${prefix}_${randomUUID().replaceAll("-", "").slice(0, 20)}`;
}
