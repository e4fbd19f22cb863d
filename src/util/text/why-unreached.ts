import { statusSentence } from "../../util/words/status-sentences.js";

/** What the codes of Node, OpenSSL and undici come down to. */
const words: readonly (readonly [sign: RegExp, say: (where: string | undefined, code: string) => string])[] = [
  [
    /^ECONNREFUSED$/,
    (where, code) =>
      where === undefined
        ? statusSentence("nothing_there", { code })
        : statusSentence("nothing_at", { address: where, code }),
  ],
  [
    /^(ENOTFOUND|EAI_\w+)$/,
    (where, code) =>
      where === undefined
        ? statusSentence("its_name", { code })
        : statusSentence("name_unknown", { name: where, code }),
  ],
  [/^bad port$/, (_, code) => statusSentence("closed_port", { code })],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EHOSTDOWN)$/, (_, code) => statusSentence("no_way", { code })],
  [/TIMEDOUT|TIMEOUT/, (_, code) => statusSentence("no_reply", { code })],
  [/WRONG_VERSION_NUMBER|^EPROTO$|PACKET_LENGTH|UNKNOWN_PROTOCOL/, (_, code) => statusSentence("no_tls", { code })],
  [/CERT|SIGNED|UNABLE_TO_|ISSUER|^ERR_TLS/, (_, code) => statusSentence("bad_certificate", { code })],
  [
    /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|EConnectionClosed)$/,
    (_, code) => statusSentence("was_cut", { code }),
  ],
];

/**
 * Why no connection came about, as the end of a sentence, e.g. `nothing listens at 127.0.0.1:25 (ECONNREFUSED)`. Undefined: the failure is
 * not one of the network.
 */
export function whyUnreached(error: unknown): string | undefined {
  const found = deepestCode(error);
  if (found === undefined) return undefined;
  const say = words.find(([sign]) => sign.test(found.code))?.[1];
  const where = /\b(?:connect|getaddrinfo) [A-Z_]+ (\S+)/.exec(found.message)?.[1];
  return say?.(where, found.code);
}

const before =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EHOSTDOWN|UND_ERR_CONNECT\w*|bad port)$|CERT|TLS|SSL|EPROTO/;

/** Whether nothing can have left this machine: name, connection, port or TLS failed. False also where that is not known. */
export function neverLeft(error: unknown): boolean {
  const found = deepestCode(error);
  return found !== undefined && (before.test(found.code) || /^connect ETIMEDOUT\b/.test(found.message));
}

interface Coded {
  readonly code: string;
  readonly message: string;
}

/** Libraries put what happened into errors of their own, one or more deep; where several addresses were tried, each has one. */
function deepestCode(error: unknown): Coded | undefined {
  let found: Coded | undefined;
  for (let at = error, depth = 0; at instanceof Error && depth < 6; depth += 1) {
    const { message } = at;
    // `fetch` opens no ports of other protocols, and gives no code: https://fetch.spec.whatwg.org/#port-blocking
    if (message === "bad port") return { code: message, message };
    if ("code" in at && typeof at.code === "string") found = { code: at.code, message };
    at = at instanceof AggregateError && at.errors.length > 0 ? at.errors[0] : (at.cause ?? Reflect.get(at, "error"));
  }
  return found;
}
