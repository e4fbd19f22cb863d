import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * The files below a folder whose name or content has the word. What goes away while it looks is not a trace, and what is
 * moved meanwhile is found under one of its names at the next look.
 */
export function tracesOf(word: string, folder: string): readonly string[] {
  const found: string[] = [];
  for (const waiting = [folder]; waiting.length > 0; ) {
    const each = waiting.pop() ?? "";
    for (const entry of present((): Dirent[] => readdirSync(each, { withFileTypes: true })) ?? []) {
      const path = join(each, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      const holds = entry.isFile() && present(() => readFileSync(path).includes(word)) === true;
      if (entry.name.includes(word) || holds) found.push(relative(folder, path));
    }
  }
  return found.sort();
}

/** Undefined where the file or folder is gone by now. */
function present<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
}
