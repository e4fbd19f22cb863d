const pairs = 50;

/**
 * Browsers give a cookie to every port of a host: without the port in its name, two gateways on one machine would sign each
 * other's devices out. One for TLS only has a name that nobody can give to a cookie without TLS.
 */
export function cookieNameOf(host: string, isSecure: boolean): string {
  const port = /:(\d+)$/.exec(host)?.[1];
  return `${isSecure ? "__Secure-" : ""}maxclaw${port === undefined ? "" : `-${port}`}`;
}

/** The values of all cookies of this name: one of a path above may be beside it. */
export function cookiesNamed(header: string | undefined, name: string): readonly string[] {
  if (header === undefined) return [];
  return header
    .split(";", pairs)
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

export interface CookieOptions {
  readonly path: string;
  /** 0: it goes. */
  readonly days: number;
  /** For TLS only. */
  readonly isSecure: boolean;
}

/** No script of a page reads it, and no other site sends it along. */
export function cookieText(name: string, value: string, { path, days, isSecure }: CookieOptions): string {
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Path=${path}; Max-Age=${days * 86_400}; HttpOnly; SameSite=Strict${secure}`;
}
