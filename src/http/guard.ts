import type { IncomingMessage } from "node:http";
import { RequestError } from "../errors.js";
import { isSameSecret } from "../util/same-secret.js";
import { WrongTokens } from "../util/wrong-tokens.js";
import type { HttpSettings } from "./options.js";
import type { Target } from "./target.js";

/** Begins the name of a WebSocket protocol that is the token, in base64url: browsers can set no other header there. */
export const tokenProtocol = "maxclaw.token.";

/** Decides who may call. Without a token only this machine may, which browsers are kept from abusing. */
export interface Guard {
  /**
   * A link of another site may open the page, and nothing else.
   *
   * @throws {RequestError} 403 when the name in Host is not ours (a foreign name that was pointed at this machine) or
   *   a page from elsewhere calls
   */
  checkSource(request: IncomingMessage, options: { readonly isPage: boolean }): void;
  /**
   * A wrong token is answered late, and after some of them from one address for minutes not at all. Only the address of
   * the connection counts: `X-Forwarded-For` is anybody's words. `?token=` counts only where a browser cannot send headers
   * of its own.
   *
   * @throws {RequestError} 401, or 429 while the address is locked
   */
  checkToken(
    request: IncomingMessage,
    target: Target,
    options: { readonly inQuery: boolean; readonly inProtocol?: boolean; readonly signal: AbortSignal },
  ): Promise<void>;
  /** The calling page's origin if it is one of the allowed ones. */
  allowedOriginOf(request: IncomingMessage): string | undefined;
}

export function createGuard(settings: HttpSettings, port: () => number): Guard {
  const { token, log } = settings;
  const wrong = new WrongTokens({ firstDelayMs: settings.timings.wrongTokenDelayMs });
  const allowed = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));

  const allowedOriginOf = (request: IncomingMessage): string | undefined => {
    const origin = request.headers.origin?.toLowerCase();
    return origin !== undefined && allowed.has(origin) ? request.headers.origin : undefined;
  };

  return {
    allowedOriginOf,
    checkSource(request, { isPage }) {
      const host = request.headers.host?.toLowerCase() ?? "";
      if (token === undefined && !isOurLoopbackName(host, port()))
        throw forbidden(`This gateway is not called "${host}". Use http://127.0.0.1:${port()}.`);
      const origin = request.headers.origin?.toLowerCase();
      if (origin === undefined) {
        // Browsers name the relation also where they leave Origin out. Following a link to the page is harmless.
        const { "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination } = request.headers;
        const isWindow = mode === "navigate" && (destination === undefined || destination === "document");
        const isLink = isPage && isWindow && request.method === "GET";
        if ((site === "cross-site" || site === "same-site") && !isLink)
          throw forbidden("Pages from elsewhere may not call this gateway.");
      } else if (
        origin !== `http://${host}` &&
        !(token !== undefined && origin === `https://${host}`) &&
        !allowed.has(origin)
      ) {
        throw forbidden(`Pages from ${origin} may not call this gateway. Add it to the allowed origins if it should.`);
      }
    },
    async checkToken(request, target, { inQuery, inProtocol = false, signal }) {
      if (token === undefined) return;
      const bearer = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1]?.trim();
      const named = inProtocol ? tokenAmong(request.headers["sec-websocket-protocol"]) : undefined;
      const given = bearer ?? named ?? (inQuery ? (target.query.get("token") ?? undefined) : undefined);
      if (given === undefined) throw unauthorized("A token is needed: send it as Authorization: Bearer <token>.");
      const { remoteAddress } = request.socket;
      if (wrong.mayCompare(remoteAddress, token) && isSameSecret(given, token)) return;
      const { lockedMs, isNew } = await wrong.count(remoteAddress, signal);
      if (isNew) log.warn("many wrong tokens came from one address: it is locked for some minutes", { remoteAddress });
      if (lockedMs === undefined) throw unauthorized("The token is wrong.");
      throw new RequestError(
        `Too many wrong tokens came from your address. Try again in ${Math.ceil(lockedMs / 60_000)} minutes.`,
        { status: 429, code: "locked_out", retryAfterMs: lockedMs },
      );
    },
  };
}

/** True for an address that only this machine reaches. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

function isOurLoopbackName(hostHeader: string, port: number): boolean {
  const match = /^(.*?)(?::(\d+))?$/.exec(
    hostHeader.startsWith("[") ? hostHeader.replace(/^\[::1\]/, "localhost") : hostHeader,
  );
  return match !== null && isLoopbackHost(match[1] ?? "") && Number(match[2] ?? 80) === port;
}

function tokenAmong(protocols: string | undefined): string | undefined {
  const name = protocols?.split(",").find((each) => each.trim().startsWith(tokenProtocol));
  return name === undefined ? undefined : Buffer.from(name.trim().slice(tokenProtocol.length), "base64url").toString();
}

function unauthorized(message: string): RequestError {
  return new RequestError(message, { status: 401, code: "unauthorized" });
}

function forbidden(message: string): RequestError {
  return new RequestError(message, { status: 403, code: "forbidden" });
}
