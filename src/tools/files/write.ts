import { lstat, mkdir } from "node:fs/promises";
import path from "node:path";
import { assertUnmoved, isInside, PathChangedError, resolveReal } from "../../policy/paths.js";
import { replaceFile } from "../../util/replace-file.js";

/**
 * Writes a file as a whole or not at all, with its parents. `target` is absolute; when `within` is given the file must
 * truly lie below it.
 *
 * @throws {PathChangedError} when a link would lead the write elsewhere; errors of the file system as they are
 */
export async function writeWhole(
  target: string,
  data: string | Uint8Array,
  options: { readonly within?: string } = {},
): Promise<void> {
  const resolved = await resolveReal(target);
  if (!resolved.ok) throw new PathChangedError(target);
  if (options.within !== undefined) await mkdir(options.within, { recursive: true });
  const root = options.within === undefined ? undefined : await resolveReal(options.within);
  if (root?.ok === false || (root && !isInside(root.path, resolved.path))) throw new PathChangedError(target);
  if (root === undefined && resolved.path !== target) throw new PathChangedError(target);

  const parent = path.dirname(resolved.path);
  await mkdir(parent, { recursive: true });
  await assertUnmoved(parent);
  await assertRegular(resolved.path);
  await replaceFile(resolved.path, data);
  await assertUnmoved(resolved.path);
}

async function assertRegular(target: string): Promise<void> {
  const stats = await lstat(target).catch(() => undefined);
  if (stats === undefined || stats.isFile()) return;
  if (stats.isSymbolicLink()) throw new PathChangedError(target);
  throw Object.assign(new Error(`${target} is not a regular file`), { code: stats.isDirectory() ? "EISDIR" : "ENXIO" });
}
