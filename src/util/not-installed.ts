/** An import, or a `require`, that failed because its package, an optional one, is not there. */
export function isNotInstalled(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code));
}
