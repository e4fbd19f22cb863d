import type { Source } from "../../util/network/proxies.js";
import type { Site } from "./site.js";

/** Where the gateway's own page is, as a browser names it in Origin. */
export function isOwnOrigin(
  origin: string,
  source: Source,
  site: Site,
  { hasToken, isSecure = false }: { readonly hasToken: boolean; readonly isSecure?: boolean },
): boolean {
  const { protocol, host } = source;
  if (hasToken && site.publicUrl !== undefined && origin === originOf(site.publicUrl)) return true;
  // A proxy that nobody trusts does not say whether it has TLS.
  const protocols = protocol === undefined ? (hasToken ? ["http", "https"] : ["http"]) : [protocol];
  return protocols.some((each) => (each === "https" || !isSecure) && origin === originOf(`${each}://${host}`));
}

/** The page's address without path, as a browser names it; what is not an address stays what it is. */
function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}
