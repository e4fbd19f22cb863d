import type { Stats } from "node:fs";
import { lstat, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, parse, resolve, sep } from "node:path";

const mostLinks = 40;

/**
 * The real file of a module that will run with the gateway's own rights. The whole way to it, over links as well, has to
 * be out of the assistant's reach, and belong to the gateway's user or the system alone.
 *
 * @throws {Error} that says which part of the way is open to whom
 */
export async function findTrustedFile(path: string, workspace: string): Promise<string> {
  const reach = await realpath(workspace).catch(() => resolve(workspace));
  const { root } = parse(path);
  const ahead = path.slice(root.length).split(sep);
  let here = root;
  let links = 0;
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    const next = join(here, part);
    if (next === reach || next.startsWith(reach + sep))
      throw new Error("it is in the workspace, where the assistant can write. Move it");
    const stats = await lstat(next);
    mustBeOurs(next, stats);
    if (!stats.isSymbolicLink()) {
      here = next;
      continue;
    }
    if (++links > mostLinks) throw new Error(`${next}: too many links`);
    const target = await readlink(next);
    if (isAbsolute(target)) here = root;
    ahead.unshift(...target.split(sep));
  }
  return here;
}

/** In a folder with the sticky bit, as `/tmp` has it, others cannot touch what is ours. */
function mustBeOurs(path: string, stats: Stats): void {
  const own = process.getuid?.();
  if (own === undefined) return;
  if (stats.uid !== own && stats.uid !== 0)
    throw new Error(`${path} belongs to another user, who could change what runs here. Change its owner, or move it`);
  const isSticky = stats.isDirectory() && (stats.mode & 0o1000) !== 0;
  if (!stats.isSymbolicLink() && (stats.mode & 0o022) !== 0 && !isSticky)
    throw new Error(`${path} can be changed by others on this machine. Run: chmod go-w '${path}'`);
}
