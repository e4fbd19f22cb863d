import { extractWWWAuthenticateParams, type FetchLike } from "@modelcontextprotocol/client";
import { MoreLoginNeeded } from "./oauth.js";

/** What a server wants before it does what it was asked for. */
export interface Challenge {
  /** `login`: it knows nobody. `more`: who is logged in may not do this, but may with a larger scope. */
  readonly kind: "login" | "more";
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: URL | undefined;
}

/** What an answer says about a login, if it asks for one. */
export function challengeIn(response: Response): Challenge | undefined {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== "insufficient_scope") return undefined;
  return { kind: status === 401 ? "login" : "more", scope, resourceMetadataUrl };
}

/** A fetch that tells about each answer that asks for a login, before it gives it. */
export function challengedFetch(inner: FetchLike, onChallenge: (challenge: Challenge) => void): FetchLike {
  return async (url, init) => {
    const response = await inner(url, init);
    const challenge = challengeIn(response);
    if (challenge !== undefined) onChallenge(challenge);
    return response;
  };
}

/**
 * What a call wants of a person, instead of an answer that asks for a login. `hasLogin`: somebody is logged in, so
 * that an answer which knows nobody is for what renews the login.
 *
 * @throws {MoreLoginNeeded} (the fetch)
 */
export function wantingFetch(
  inner: FetchLike,
  hasLogin: boolean,
  onWants: (scope: string | undefined) => Promise<void>,
): FetchLike {
  return async (url, init) => {
    const response = await inner(url, init);
    const challenge = init?.method === "POST" ? challengeIn(response) : undefined;
    if (challenge === undefined || (challenge.kind === "login" && hasLogin)) return response;
    await response.body?.cancel();
    if (!isProbe(init)) await onWants(challenge.scope);
    const scope = challenge.scope === undefined ? "" : ` (scope ${challenge.scope})`;
    throw new MoreLoginNeeded(
      challenge.kind === "login" ? `it needs a login${scope}` : `it needs more rights than this login has${scope}`,
    );
  };
}

/** The question which revisions it speaks, which an older server refuses like anything that it does not know. */
function isProbe(init: RequestInit | undefined): boolean {
  return new Headers(init?.headers).get("mcp-method") === "server/discover";
}

/** All scopes of both, each once; undefined for none. */
export function joinScopes(...scopes: readonly (string | undefined)[]): string | undefined {
  const all = new Set(scopes.flatMap((scope) => (scope ?? "").split(" ")).filter((one) => one !== ""));
  return all.size === 0 ? undefined : [...all].join(" ");
}
