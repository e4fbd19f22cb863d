import { createHash } from "node:crypto";

/** SQL tables of unstorage hold 255 characters. */
const maxLength = 250;
const digestLength = 16;

const plainKey = /^[a-z0-9_-][a-z0-9_.-]*(?::[a-z0-9_-][a-z0-9_.-]*)*$/;

/**
 * The id under which other storages keep a record: the key, with everything written as `=xx` that some storage takes for
 * something else: upper case, wildcards, slashes, empty and dotted parts between colons, and colons beyond those that
 * every key of the kind has, because a file cannot be a folder as well. Ids of different keys differ.
 */
export function toStoreId(key: string): string {
  const colons = key.startsWith("idx:") ? 5 : 2;
  if (key.length <= maxLength && plainKey.test(key) && key.split(":").length <= colons + 1) return key;
  const bytes = Buffer.from(key);
  let id = "";
  let parts = 0;
  for (const [index, byte] of bytes.entries()) {
    const character = String.fromCharCode(byte);
    const isPartStart = id === "" || id.endsWith(":");
    const isPlain =
      /[a-z0-9_-]/.test(character) ||
      (character === "." && !isPartStart) ||
      (character === ":" && !isPartStart && parts < colons && index < bytes.length - 1);
    if (isPlain && character === ":") parts += 1;
    id += isPlain ? character : `=${byte.toString(16).padStart(2, "0")}`;
  }
  if (id.length <= maxLength) return id;
  const digest = createHash("sha256").update(key).digest("hex").slice(0, digestLength);
  return `${id.slice(0, maxLength - digestLength - 1)}~${digest}`;
}

/** The key of an id; undefined for one that was cut, and for what we did not write. */
export function fromStoreId(id: string): string | undefined {
  if (!/^(?:[a-z0-9_.:-]|=[0-9a-f]{2})+$/.test(id)) return undefined;
  const bytes = id.replaceAll(/=([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const key = Buffer.from(bytes, "latin1").toString("utf8");
  return toStoreId(key) === id ? key : undefined;
}

/** True for an id that was cut: its key is beside the stored value. */
export function isCut(id: string): boolean {
  return id.includes("~");
}
