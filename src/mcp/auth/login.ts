import { randomBytes } from "node:crypto";
import {
  auth,
  Client,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  type OAuthClientProvider,
  OAuthError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { ConfigError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import { within } from "../../util/async/within.js";
import { causeOf, clauseOf } from "../connection/explain.js";
import { type Agreement, negotiationOf } from "../connection/revision.js";
import { defaultLimits, type McpServerSettings } from "../settings.js";
import { boundedFetch } from "../transport/bounded-fetch.js";
import { type Challenge, challengedFetch, joinScopes } from "./challenge.js";
import { issuerProblem, type LoginCallback, openLoginCallback } from "./login-callback.js";
import { createAuth, type LoginStore } from "./oauth.js";
import { ownIssuerCheck } from "./renewing-fetch.js";

export interface LoginOptions {
  readonly version: string;
  readonly store: LoginStore;
  /** For a client that was registered with a fixed address; 0: any. */
  readonly port: number;
  /** Shows the person where to go. `scope`: what the server wants more than the login of just before. */
  readonly open: (url: URL, scope?: string) => void;
  readonly timeoutMs: number;
}

/** A server that wants more after each login is given up. */
const maxLogins = 3;

/**
 * Logs a person in at a server: authorization code with PKCE, the browser coming back to this machine's loopback, and once
 * more with a larger scope where listing the tools needs one. False when the server asks for no login and tells about none.
 * The tokens are in the store when it resolves.
 *
 * @throws {ConfigError} with a sentence for the person
 */
export async function logIn(server: McpServerSettings, options: LoginOptions, signal: AbortSignal): Promise<boolean> {
  const { url } = server;
  if (url === undefined) throw new ConfigError(`${server.name} is started here and needs no login.`);
  using limit = linked(signal, options.timeoutMs);
  await using callback = await openLoginCallback(options.port);
  try {
    return await new Login(server, url, options, callback).run(limit.signal);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (limit.signal.aborted && !signal.aborted) throw new ConfigError("Nobody has logged in within the time.");
    throw new ConfigError(`The login at ${server.name} failed: ${reasonOf(error)}`, { cause: error });
  }
}

/** One run of the command. The login of before counts until this one is made. */
class Login {
  readonly #server: McpServerSettings;
  readonly #url: string;
  readonly #options: LoginOptions;
  readonly #callback: LoginCallback;
  readonly #fetch: FetchLike = boundedFetch(defaultLimits.maxFrameBytes);
  readonly #fresh: LoginStore;
  /** Asked for by the last login. */
  #scope: string | undefined;

  constructor(server: McpServerSettings, url: string, options: LoginOptions, callback: LoginCallback) {
    this.#server = server;
    this.#url = url;
    this.#options = options;
    this.#callback = callback;
    this.#fresh = createFreshStore(url);
  }

  async run(signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options;
    const wants = (await store.read(this.#server))?.wants;
    let challenge = (await this.#meet(undefined)) ?? (await this.#offered(wants));
    if (challenge === undefined) return false;
    for (let logins = 1; challenge !== undefined; logins++) {
      const scope = joinScopes(this.#scope, challenge.scope, wants);
      const isMore = logins > 1;
      if (isMore && (logins > maxLogins || scope === this.#scope)) {
        await this.#keepIfFirst();
        throw new ConfigError(
          `${this.#server.name} needs more rights than this login has${scope === undefined ? "" : ` (scope ${scope})`}. Ask the people who run it for those rights, or log in as somebody else.`,
        );
      }
      this.#scope = scope;
      try {
        await this.#authorize(challenge, isMore, signal);
      } catch (error) {
        if (isMore) await this.#keepIfFirst();
        throw error;
      }
      // What fails here for another reason was not a fault of the login.
      challenge = await this.#meet((await this.#fresh.read(this.#server))?.tokens?.access_token).catch(() => undefined);
    }
    await this.#keep();
    return true;
  }

  /**
   * Connects and lists the tools; what it wants before, if anything. The older revisions come first: their servers may
   * refuse what they do not know as if it wanted a login.
   *
   * @throws when it fails for another reason
   */
  async #meet(token: string | undefined): Promise<Challenge | undefined> {
    try {
      return await this.#meetBy("older", token);
    } catch (error) {
      return await this.#meetBy("newest", token).catch(() => {
        throw error;
      });
    }
  }

  async #meetBy(agreement: Agreement, token: string | undefined): Promise<Challenge | undefined> {
    const seen: { last: Challenge | undefined } = { last: undefined };
    const headers = new Headers(this.#server.headers);
    if (token !== undefined && !headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
    const settings = {
      fetch: challengedFetch(this.#fetch, (challenge) => {
        seen.last = challenge;
      }),
      requestInit: { headers },
    };
    const transport =
      this.#server.type === "sse"
        ? new SSEClientTransport(new URL(this.#url), settings)
        : new StreamableHTTPClientTransport(new URL(this.#url), settings);
    const client = new Client(
      { name: "maxclaw", version: this.#options.version },
      { versionNegotiation: negotiationOf(agreement, defaultLimits) },
    );
    try {
      await client.connect(transport, { timeout: defaultLimits.initialiseMs });
      if (client.getServerCapabilities()?.tools !== undefined)
        await client.request({ method: "tools/list" }, { timeout: defaultLimits.listMs });
      return undefined;
    } catch (error) {
      if (seen.last === undefined) throw error;
      return seen.last;
    } finally {
      await client.close().catch(() => undefined);
    }
  }

  /** A call once wanted a login, or the server says where one is made: some want it for their calls alone. */
  async #offered(wants: string | undefined): Promise<Challenge | undefined> {
    if (wants !== undefined) return { kind: "login" };
    const found = await discoverOAuthProtectedResourceMetadata(this.#url, {}, this.#fetch).catch(() => undefined);
    return found === undefined ? undefined : { kind: "login" };
  }

  async #authorize({ resourceMetadataUrl }: Challenge, isMore: boolean, signal: AbortSignal): Promise<void> {
    const state = randomBytes(24).toString("base64url");
    const open = (url: URL): void => this.#options.open(url, isMore ? this.#scope : undefined);
    // A new login, not a renewal of the one of just before, which would give the same rights again.
    await this.#fresh.write(this.#server, { tokens: undefined });
    const provider = createAuth(this.#server, this.#fresh, () => {}, { redirectUrl: this.#callback.url, state, open });
    const authOptions = {
      serverUrl: this.#url,
      fetchFn: this.#fetch,
      ...ownIssuerCheck,
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      ...(this.#scope === undefined ? {} : { scope: this.#scope }),
    };
    const answer = this.#callback.next({
      state,
      whyNot: (issuer) => issuerProblem(issuer, expectedIssuer(provider)),
    });
    // The login may fail before anybody waits for it.
    answer.catch(() => {});
    if ((await auth(provider, authOptions)) === "AUTHORIZED") return;
    const { code, issuer } = await within(answer, { signal });
    await auth(provider, { ...authOptions, authorizationCode: code, ...(issuer === undefined ? {} : { iss: issuer }) });
  }

  async #keep(): Promise<void> {
    const { client, tokens } = (await this.#fresh.read(this.#server)) ?? {};
    await this.#options.store.write(this.#server, { client, tokens, wants: undefined });
  }

  /** A login that may do less than the server wants is better than none, and no better than one of before. */
  async #keepIfFirst(): Promise<void> {
    const fresh = await this.#fresh.read(this.#server);
    const before = await this.#options.store.read(this.#server);
    if (fresh?.tokens !== undefined && before?.tokens === undefined) await this.#keep();
  }
}

function expectedIssuer(provider: OAuthClientProvider): { issuer: string | undefined; promised: boolean } {
  // Ours is not a promise, and has just been saved.
  const found = provider.discoveryState?.();
  const metadata = found === undefined || found instanceof Promise ? undefined : found.authorizationServerMetadata;
  return {
    issuer: metadata?.issuer,
    promised:
      metadata !== undefined && Reflect.get(metadata, "authorization_response_iss_parameter_supported") === true,
  };
}

/** Holds one login while it is made. */
function createFreshStore(url: string): LoginStore {
  const held: { now: Awaited<ReturnType<LoginStore["read"]>> } = { now: undefined };
  return {
    read: async () => held.now,
    async write(_, change) {
      held.now = { ...held.now, ...change, url };
    },
    async remove() {
      held.now = undefined;
      return true;
    },
  };
}

/** An authorization server need not give more than the name of an error. */
function reasonOf(error: unknown): string {
  const more = error instanceof OAuthError ? error.code : "";
  return [more, causeOf(error) ?? clauseOf(error)].filter((part) => part !== "").join(": ");
}
