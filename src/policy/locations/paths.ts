import { realpathSync } from "node:fs";
import path from "node:path";

/** True for `root` itself and everything below it. Both absolute and resolved; names that only begin alike are outside. */
export function isInside(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return relative === "" || (relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

/** Where a folder of the configuration truly is, at start-up. */
export function resolveFolderSync(absolute: string): string {
  const full = path.resolve(absolute);
  try {
    return realpathSync.native(full);
  } catch {
    const parent = path.dirname(full);
    return parent === full ? full : path.join(resolveFolderSync(parent), path.basename(full));
  }
}
