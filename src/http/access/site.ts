/** How the gateway is reached from elsewhere. It may change while the server runs. */
export interface Site {
  /** `/assistant`; empty: everything is at the top. */
  readonly basePath: string;
  /** Addresses and networks of the proxies whose headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Ends with a slash. */
  readonly publicUrl?: string | undefined;
  /** How long a device stays signed in without a visit. */
  readonly sessionDays: number;
}

export const plainSite: Site = { basePath: "", trustedProxies: [], sessionDays: 90 };

/** A request's address as the gateway has it. */
export interface InnerAddress {
  /** Below the base, with the query. */
  readonly url: string;
  /** It came with the base in front: a proxy that is there has not taken it away. */
  readonly hasBase: boolean;
}

/** Takes the base away, once, where it is the whole first part of the path as it was sent. */
export function innerAddress(url: string, basePath: string): InnerAddress {
  const hasBase = basePath !== "" && url.startsWith(`${basePath}/`);
  return { url: hasBase ? url.slice(basePath.length) : url, hasBase };
}

/** The address with a slash at its end, for who has asked for the base without one: links of the page need it. */
export function withSlash(url: string, basePath: string): string | undefined {
  const [path, ...query] = url.split("?");
  if (basePath === "" || path !== basePath) return undefined;
  return [`${basePath}/`, ...query].join("?");
}
