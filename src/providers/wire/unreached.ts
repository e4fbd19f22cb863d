import type { Unreached } from "../../errors.js";

const signs: readonly (readonly [Unreached, RegExp])[] = [
  ["refused", /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ENETDOWN|EHOSTDOWN)$/],
  ["name", /^(ENOTFOUND|EAI_\w+)$/],
  ["certificate", /CERT|^ERR_TLS|^ERR_SSL|^EPROTO$|SIGNED|UNABLE_TO_|ISSUER/],
  ["silent", /TIMEDOUT|TIMEOUT/],
];

/** What the code of a failed connection says, as Node and undici name them. */
export function unreachedBy(code: string): Unreached {
  return signs.find(([, sign]) => sign.test(code))?.[0] ?? "cut";
}
