import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({ dev: z.boolean().optional(), optional: z.boolean().optional(), devOptional: z.boolean().optional() }),
  ),
});

/** What `npm ci --omit=dev --omit=optional` leaves on disk, without Node itself. */
export async function installSize(root: string): Promise<{ readonly packages: number; readonly megabytes: number }> {
  const lock = lockfile.parse(JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")));
  const folders = Object.entries(lock.packages)
    .filter(([path, { dev, optional, devOptional }]) => path !== "" && !dev && !optional && !devOptional)
    .map(([path]) => path);
  let bytes = 0;
  for (const folder of [...folders, "dist/src", "dist/web", "skills", "bin"])
    bytes += await sizeOf(join(root, folder), true);
  return { packages: folders.length, megabytes: bytes / 1e6 };
}

async function sizeOf(path: string, isTop: boolean): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.blocks * 512;
  let bytes = stats.blocks * 512;
  for (const name of await readdir(path)) {
    // Nested packages have their own line in the lockfile.
    if (isTop && name === "node_modules") continue;
    bytes += await sizeOf(join(path, name), false);
  }
  return bytes;
}
