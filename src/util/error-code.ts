/** The `code` of a system error, e.g. `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The file that a system error names. */
export function pathOf(error: unknown): string | undefined {
  return error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : undefined;
}

/** The error of the system for a folder, a pipe or a device where a file should be. */
export function notPlain(path: string, found: { isDirectory(): boolean }): Error {
  const code = found.isDirectory() ? "EISDIR" : "ENXIO";
  return Object.assign(new Error(`${code}: not a file, open '${path}'`), { code, syscall: "open", path });
}

/** True when there is no such file. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT";
}

/** True when there is no such file, or something in its path is not a folder any more. */
export function isGone(error: unknown): boolean {
  return isMissing(error) || codeOf(error) === "ENOTDIR";
}

/**
 * Uses an open file. Node's errors of an open file do not say which one it is: they get this path. For work that
 * returns a promise too.
 */
export function withPath<T>(path: string, work: () => T): T {
  try {
    const result = work();
    if (!(result instanceof Promise)) return result;
    // The same promise but for its error, so of the same type.
    return result.catch((error: unknown) => {
      throw named(error, path);
    }) as T;
  } catch (error) {
    throw named(error, path);
  }
}

function named(error: unknown, path: string): unknown {
  const isNameless = error instanceof Error && "syscall" in error && !("path" in error);
  return isNameless ? Object.assign(error, { path }) : error;
}
