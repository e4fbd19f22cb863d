import { chmod, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { newId } from "./ids.js";

const maxDepth = 16;
const maxRounds = 1000;

/**
 * Removes a folder that programs of others could write: also what they have locked, and what lies deeper than a path can
 * name. Nobody may change it meanwhile.
 *
 * @throws when something of it is not ours
 */
export async function removeTree(root: string): Promise<void> {
  for (let round = 1; ; round += 1) {
    try {
      return await rm(root, { recursive: true, force: true });
    } catch (error) {
      if (round === maxRounds) throw error;
      await flatten(root, root, 0);
    }
  }
}

/** Opens what is locked, and moves to the top what lies deep. */
async function flatten(root: string, folder: string, depth: number): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const full = path.join(folder, entry.name);
    if (depth < maxDepth) await flatten(root, full, depth + 1);
    else await rename(full, path.join(root, newId("deep")));
  }
}
