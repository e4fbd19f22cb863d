/** An import that failed because its package, an optional one, is not there. */
export function isNotInstalled(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
