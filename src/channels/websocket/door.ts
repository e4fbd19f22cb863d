import type { IncomingMessage } from "node:http";
import type { Logger } from "../../log.js";
import { Proxies } from "../../util/network/proxies.js";
import { isSameSecret } from "../../util/same-secret.js";
import { WrongTokens } from "../../util/wrong-tokens.js";
import { chatName } from "./frames.js";

export interface DoorOptions {
  readonly path: string;
  /** Web pages that may connect, by their origin. Programs send none. */
  readonly allowOrigins: readonly string[];
  /** Who connects has to show it. Needed for any other host than loopback. */
  readonly token?: string | undefined;
  /** Proxies that are believed when they name who has connected to them. */
  readonly trustedProxies?: (() => readonly string[]) | undefined;
  /** What the first wait of who shows wrong ones is. */
  readonly firstDelayMs?: number | undefined;
  readonly log: Logger;
}

/** Why a request may not connect; `status` is of HTTP. */
export interface Refusal {
  readonly status: number;
  readonly why: string;
}

/** Says who may connect. */
export class Door {
  readonly #options: DoorOptions;
  readonly #wrong: WrongTokens;
  readonly #proxies: Proxies;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#wrong = new WrongTokens({ firstDelayMs: options.firstDelayMs });
    this.#proxies = new Proxies(options.trustedProxies ?? (() => []));
  }

  /** Undefined: it may. `signal` ends the wait of one who has shown a wrong token. */
  async refusalOf(request: IncomingMessage, signal: AbortSignal): Promise<Refusal | undefined> {
    const { allowOrigins, path } = this.#options;
    const asked = addressOf(request);
    if (asked.path !== path) return { status: 404, why: `only ${path} is served here` };
    const { origin } = request.headers;
    // A web page always says where it is from: without this any page could talk through its visitor's browser.
    if (origin !== undefined && !allowOrigins.includes(origin))
      return { status: 403, why: `channels.websocket.allowOrigins does not name ${origin}` };
    const wrong = await this.#refuseToken(request, asked.query, signal);
    if (wrong !== undefined) return wrong;
    const chat = chatOf(request);
    return chat === undefined || chatName.safeParse(chat).success
      ? undefined
      : { status: 400, why: "chatId has 1 to 128 letters, digits or . _ @ + -" };
  }

  /** A wrong one is answered late, and after some of them from one address for minutes not at all. */
  async #refuseToken(
    request: IncomingMessage,
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<Refusal | undefined> {
    const { token, log } = this.#options;
    if (token === undefined) return undefined;
    const shown = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? query.get("token");
    const missing = { status: 401, why: "the token is missing or wrong" };
    if (shown === null) return missing;
    const { address } = this.#proxies.sourceOf(request);
    if (this.#wrong.mayCompare(address, token) && isSameSecret(shown, token)) return undefined;
    const { lockedMs, isNew } = await this.#wrong.count(address, signal);
    if (isNew) log.warn("many wrong tokens came from one address: it is locked for some minutes", { address });
    return lockedMs === undefined ? missing : { status: 429, why: "too many wrong tokens came from this address" };
  }
}

/** The chat that a request names; undefined where it names none. */
export function chatOf(request: IncomingMessage): string | undefined {
  const { query } = addressOf(request);
  return query.get("chatId") ?? query.get("clientId") ?? undefined;
}

/** Anybody who can connect chooses it: `new URL` would throw at `//`. */
function addressOf({ url = "/" }: IncomingMessage): { readonly path: string; readonly query: URLSearchParams } {
  const [path = "", query] = url.split("?", 2);
  return { path, query: new URLSearchParams(query) };
}
