/** The `code` of a system error, e.g. `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True when there is no such file. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT";
}

/** True when there is no such file, or something in its path is not a folder any more. */
export function isGone(error: unknown): boolean {
  return isMissing(error) || codeOf(error) === "ENOTDIR";
}
