import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Regular files below a folder, as paths in it with `/`; of a file itself the empty path. `left`: what is not a file. */
export async function filesBelow(
  root: string,
): Promise<{ readonly files: readonly string[]; readonly left: readonly string[] }> {
  const files: string[] = [];
  const left: string[] = [];
  const visit = async (path: string, inRoot: string): Promise<void> => {
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) return;
    if (stats.isFile()) files.push(inRoot);
    else if (!stats.isDirectory()) left.push(path);
    else
      for (const name of (await readdir(path)).sort())
        if (name !== ".git" && name !== "node_modules")
          await visit(join(path, name), inRoot === "" ? name : `${inRoot}/${name}`);
  };
  await visit(root, "");
  return { files, left };
}

/** True when both files are there and hold the same. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => readFile(path).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.equals(b);
}
