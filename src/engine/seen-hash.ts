import { hash } from "node:crypto";

/** How much of a hash is kept. */
export const hashBytes = 16;

/** By what an accepted id (`w:<work id>` or `d:<dedup id>`) is known once it is no longer kept itself. */
export function hashOf(id: string): Buffer {
  // In one call: thousands of hash objects to collect would make others wait.
  return hash("sha256", id, "buffer").subarray(0, hashBytes);
}
