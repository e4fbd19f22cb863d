import type { IncomingMessage } from "node:http";
import type { DevicesApi } from "../api/policy/devices-api.js";
import { RequestError } from "../errors.js";
import { isLoopback } from "../util/loopback.js";
import { Proxies, type Source } from "../util/network/proxies.js";
import { isSameSecret } from "../util/same-secret.js";
import { WrongTokens } from "../util/wrong-tokens.js";
import { browserName } from "./access/browser-name.js";
import { cookieNameOf, cookiesNamed } from "./access/cookies.js";
import { isOwnOrigin } from "./access/own-origins.js";
import type { HttpSettings } from "./options.js";
import type { Target } from "./target.js";

/** Begins the name of a WebSocket protocol that is the token, in base64url: browsers can set no other header there. */
export const tokenProtocol = "maxclaw.token.";

/** Who has been let in. */
export interface Caller {
  /** Absent: by the token, or on this machine without one. */
  readonly device?: KnownDevice | undefined;
}

export interface KnownDevice {
  readonly id: string;
  readonly secret: string;
  readonly isSecure: boolean;
  /** Its cookie is to be given again, so that its days count from now. */
  readonly isRenewed: boolean;
}

interface TokenOptions {
  readonly inQuery: boolean;
  /** It opens a WebSocket. */
  readonly isSocket?: boolean;
  readonly signal: AbortSignal;
}

/** Decides who may call. Without a token only this machine may, which browsers are kept from abusing. */
export class Guard {
  readonly #settings: HttpSettings;
  readonly #devices: DevicesApi;
  readonly #port: () => number;
  readonly #proxies: Proxies;
  readonly #wrong: WrongTokens;
  readonly #allowed: ReadonlySet<string>;

  constructor(settings: HttpSettings, devices: DevicesApi, port: () => number) {
    this.#settings = settings;
    this.#devices = devices;
    this.#port = port;
    this.#proxies = new Proxies(() => settings.site().trustedProxies);
    this.#wrong = new WrongTokens({ firstDelayMs: settings.timings.wrongTokenDelayMs });
    this.#allowed = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  }

  /** Who asks, as trusted proxies say it. */
  sourceOf(request: IncomingMessage): Source {
    return this.#proxies.sourceOf(request);
  }

  /** What the owner has to know of those who guess. */
  problem(): string | undefined {
    return this.#wrong.problem();
  }

  /** The calling page's origin if it is one of the allowed ones. */
  allowedOriginOf(request: IncomingMessage): string | undefined {
    const origin = request.headers.origin?.toLowerCase();
    return origin !== undefined && this.#allowed.has(origin) ? request.headers.origin : undefined;
  }

  /**
   * A link of another site may open the page, and nothing else.
   *
   * @throws {RequestError} 403 when the name in Host is not ours (a foreign name that was pointed at this machine) or
   *   a page from elsewhere calls
   */
  checkSource(request: IncomingMessage, { isPage }: { readonly isPage: boolean }): void {
    const source = this.sourceOf(request);
    const { token } = this.#settings;
    if (token === undefined) this.#checkIsHere(source);
    const origin = request.headers.origin?.toLowerCase();
    if (origin === undefined) {
      // Browsers name the relation also where they leave Origin out. Following a link to the page is harmless.
      const { "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination } = request.headers;
      const isWindow = mode === "navigate" && (destination === undefined || destination === "document");
      const isLink = isPage && isWindow && request.method === "GET";
      if ((site === "cross-site" || site === "same-site") && !isLink)
        throw forbidden("Pages from elsewhere may not call this gateway.");
    } else if (
      !isOwnOrigin(origin, source, this.#settings.site(), { hasToken: token !== undefined }) &&
      !this.#allowed.has(origin)
    ) {
      throw forbidden(`Pages from ${origin} may not call this gateway. Add it to the allowed origins if it should.`);
    }
  }

  /**
   * Lets in who has the token, and a browser with the cookie of a device. A wrong token is answered late, and after some
   * of them from one address for minutes not at all. `?token=` counts only where a browser cannot send headers of its own.
   *
   * @throws {RequestError} 401, 403 for a cookie that another page than ours makes the browser send, or 429 while the
   *   address is locked
   */
  async letIn(request: IncomingMessage, target: Target, options: TokenOptions): Promise<Caller> {
    if (this.#settings.token === undefined) return {};
    const { inQuery, isSocket = false, signal } = options;
    const bearer = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1]?.trim();
    const named = isSocket ? tokenAmong(request.headers["sec-websocket-protocol"]) : undefined;
    const given = bearer ?? named ?? (inQuery ? (target.query.get("token") ?? undefined) : undefined);
    if (given !== undefined) {
      await this.checkToken(request, given, signal);
      return {};
    }
    const device = await this.deviceOf(request);
    if (device === undefined && this.#wasSignedOut(request)) throw signedOut();
    if (device === undefined)
      throw unauthorized("A token is needed: send it as Authorization: Bearer <token>, or sign in on the page.");
    this.#checkIsOurPage(request, isSocket, device);
    return { device };
  }

  /** @throws {RequestError} 401 for a wrong one, 429 while the address is locked */
  async checkToken(request: IncomingMessage, given: string, signal: AbortSignal): Promise<void> {
    const { token } = this.#settings;
    if (token === undefined) throw noToken();
    const { address } = this.sourceOf(request);
    if (this.#wrong.mayCompare(address, token) && isSameSecret(given, token)) return;
    throw await this.wrongTry(request, "The token is wrong.", signal);
  }

  /** Counts a try to get in that was wrong, and resolves with what to answer when it may be answered. */
  async wrongTry(request: IncomingMessage, message: string, signal: AbortSignal): Promise<RequestError> {
    const { address } = this.sourceOf(request);
    const { lockedMs, isNew } = await this.#wrong.count(address, signal);
    if (isNew)
      this.#settings.log.warn("many wrong tokens came from one address: it is locked for some minutes", { address });
    if (lockedMs === undefined) return unauthorized(message);
    const minutes = Math.ceil(lockedMs / 60_000);
    return new RequestError(`Too many wrong tokens came from your address. Try again in ${minutes} minutes.`, {
      status: 429,
      code: "locked_out",
      retryAfterMs: lockedMs,
    });
  }

  /** The device whose cookie came along. */
  async deviceOf(request: IncomingMessage): Promise<KnownDevice | undefined> {
    if (this.#settings.token === undefined) return undefined;
    const source = this.sourceOf(request);
    const browser = browserName(request.headers["user-agent"]);
    const visit = { address: source.address, browser, isSecure: source.protocol === "https" };
    for (const { secret, isSecure } of secretsIn(request, source)) {
      const found = await this.#devices.find(secret, visit);
      if (found === undefined || found.device.isSecure !== isSecure) continue;
      return { id: found.device.id, secret, isSecure, isRenewed: found.isRenewed };
    }
    return undefined;
  }

  /** The page that asks is that of a device that was signed out: what it keeps is to go. */
  #wasSignedOut(request: IncomingMessage): boolean {
    return secretsIn(request, this.sourceOf(request)).some(({ secret }) => this.#devices.wasSignedOut(secret));
  }

  /** Without a token: on this machine, by a name of this machine. */
  #checkIsHere({ host, address, isProxied }: Source): void {
    const port = this.#port();
    if (!isOurLoopbackName(host, port))
      throw forbidden(`This gateway is not called "${host}". Use http://127.0.0.1:${port}.`);
    if (isProxied && !isLoopback(address))
      throw forbidden("This gateway has no token, so it serves only this machine. Set gateway.token first.");
  }

  /** A browser sends its cookie no matter which page asks for it: only our own page may have it change something or connect. */
  #checkIsOurPage(request: IncomingMessage, isSocket: boolean, { isSecure }: KnownDevice): void {
    const { origin, "sec-fetch-site": relation } = request.headers;
    const onlyReads = !isSocket && (request.method === "GET" || request.method === "HEAD");
    const isOurs =
      origin === undefined
        ? onlyReads || relation === "same-origin"
        : isOwnOrigin(origin.toLowerCase(), this.sourceOf(request), this.#settings.site(), {
            hasToken: true,
            isSecure,
          });
    if (!isOurs) throw forbidden("Only the gateway's own page may use its cookie. Programs send the token.");
  }
}

/** What a browser shows as ours. */
function secretsIn(
  { headers }: IncomingMessage,
  { protocol, host }: Source,
): readonly { readonly secret: string; readonly isSecure: boolean }[] {
  return [true, false].flatMap((isSecure) => {
    // A cookie for TLS only does not come without TLS, unless somebody has read it.
    if (isSecure && protocol === "http") return [];
    const secrets = cookiesNamed(headers.cookie, cookieNameOf(host, isSecure));
    return secrets.slice(0, 4).map((secret) => ({ secret, isSecure }));
  });
}

function isOurLoopbackName(hostHeader: string, port: number): boolean {
  const match = /^(.*?)(?::(\d+))?$/.exec(
    hostHeader.startsWith("[") ? hostHeader.replace(/^\[::1\]/, "localhost") : hostHeader,
  );
  return match !== null && isLoopback(match[1] ?? "") && Number(match[2] ?? 80) === port;
}

function tokenAmong(protocols: string | undefined): string | undefined {
  const name = protocols?.split(",").find((each) => each.trim().startsWith(tokenProtocol));
  return name === undefined ? undefined : Buffer.from(name.trim().slice(tokenProtocol.length), "base64url").toString();
}

export function noToken(): RequestError {
  return new RequestError("This gateway has no token, so nobody signs in. Set gateway.token first.", {
    status: 409,
    code: "no_token",
  });
}

function unauthorized(message: string): RequestError {
  return new RequestError(message, { status: 401, code: "unauthorized" });
}

function signedOut(): RequestError {
  const message = "This device was signed out. Sign in on the page again, with the token.";
  return new RequestError(message, { status: 401, code: "signed_out" });
}

function forbidden(message: string): RequestError {
  return new RequestError(message, { status: 403, code: "forbidden" });
}
