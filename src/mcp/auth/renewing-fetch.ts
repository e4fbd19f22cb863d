import {
  auth,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientProvider,
} from "@modelcontextprotocol/client";

/** Whom a login server may call itself is checked by the provider, see `createAuth`. */
export const ownIssuerCheck = { skipIssuerMetadataValidation: true } as const;

/**
 * A fetch that renews an access token which the server refuses, and asks once more. All requests that find out at the same
 * time share one renewal, because most refresh tokens may be used only once: the SDK by itself would spend it for each.
 */
export function renewingFetch(
  inner: FetchLike,
  provider: OAuthClientProvider,
  serverUrl: string,
  limitMs: number,
): FetchLike {
  // All calls wait for it, so that a login server may not hang.
  const fetchFn: FetchLike = (url, init) => inner(url, { ...init, signal: AbortSignal.timeout(limitMs) });
  let renewal: Promise<unknown> | undefined;
  const tokenNow = async (): Promise<string | undefined> => (await provider.tokens())?.access_token;
  return async (url, init) => {
    const response = await inner(url, init);
    const headers = new Headers(init?.headers);
    const used = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "")?.[1];
    if (response.status !== 401 || used === undefined) return response;
    if ((await tokenNow()) === used) {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      const authOptions = {
        ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
        ...(scope === undefined ? {} : { scope }),
      };
      renewal ??= auth(provider, { serverUrl, ...authOptions, ...ownIssuerCheck, fetchFn }).finally(() => {
        renewal = undefined;
      });
      await renewal;
    }
    const renewed = await tokenNow();
    if (renewed === undefined || renewed === used) return response;
    await response.body?.cancel();
    headers.set("authorization", `Bearer ${renewed}`);
    return await inner(url, { ...init, headers });
  };
}
