import { createHash, randomFillSync } from "node:crypto";

const idBytes = 10;
/** Asking for random bytes costs the same for one id as for hundreds. */
const pool = { bytes: Buffer.alloc(idBytes * 256), used: idBytes * 256 };

/** A new id: `<prefix>_` and 20 hex digits. Prefixes in use: evt, msg, turn, agent, gw, out, call, exe, art. */
export function newId(prefix: string): string {
  const { bytes } = pool;
  if (pool.used === bytes.length) {
    randomFillSync(bytes);
    pool.used = 0;
  }
  const start = pool.used;
  pool.used += idBytes;
  // The marks of a random UUID, by which `isNewId` knows it.
  bytes.writeUInt8((bytes.readUInt8(start + 6) & 0x0f) | 0x40, start + 6);
  bytes.writeUInt8((bytes.readUInt8(start + 8) & 0x3f) | 0x80, start + 8);
  // What is joined is one piece. A template would be a chain of strings that takes three times the memory, and ids are kept in many places.
  return [prefix, "_", bytes.toString("hex", start, pool.used)].join("");
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
