import { createHash, randomUUID } from "node:crypto";

/** A new id: `<prefix>_` and 20 hex digits. Prefixes in use: evt, msg, turn, agent, gw, out, call, exe, art. */
export function newId(prefix: string): string {
  // Node keeps random bytes for UUIDs ready, which makes this ten times cheaper than asking for ten bytes.
  const random = randomUUID();
  // What is joined is one piece. A template would be a chain of strings that takes three times the memory, and ids are kept in many places.
  return [prefix, "_", random.slice(0, 8), random.slice(9, 13), random.slice(14, 18), random.slice(19, 23)].join("");
}

/** The id that always comes from these parts: what is done again after a crash is known by it. Never looks like a new one. */
export function derivedId(prefix: string, ...parts: readonly (string | number)[]): string {
  const id = `${prefix}_${createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 20)}`;
  const version = prefix.length + 13;
  return isNewId(id) ? `${id.slice(0, version)}5${id.slice(version + 1)}` : id;
}

/** True for what `newId` makes, by the marks of a random UUID in it: such an id was made for one use. */
export function isNewId(id: string): boolean {
  return /^[a-z]+_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{3}$/.test(id);
}
