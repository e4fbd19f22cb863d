import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { ConfigError, messageOf } from "../../errors.js";
import { InOrder } from "../../util/async/in-order.js";
import { isMissing } from "../../util/error-code.js";
import { replaceFile } from "../../util/files/replace-file.js";
import type { McpServerSettings } from "../settings.js";

/** A person has to log in before the server can be used. */
export class LoginNeeded extends Error {
  override readonly name = "LoginNeeded";
}

/** The server can be used, but not for this: a person has to log in, or again with a larger scope. */
export class MoreLoginNeeded extends Error {
  override readonly name = "MoreLoginNeeded";
}

const text = z.string();
// The SDK checks its own objects; here it only matters that they are objects.
const stored = z.object({
  /** The address that the login is for: it is never used for another. */
  url: text,
  client: z.looseObject({ client_id: text }).optional(),
  tokens: z
    .looseObject({ access_token: text, token_type: text, refresh_token: text.optional(), scope: text.optional() })
    .optional(),
  /** A call wanted a login, or a larger one: the scope that the next login asks for, "" where the server names none. */
  wants: text.optional(),
});
const file = z.record(z.string(), stored);
type Stored = z.infer<typeof stored>;

/** The logins at servers, in `<home>/mcp-auth.json`, which only its owner can read. */
export interface LoginStore {
  read(server: McpServerSettings): Promise<Stored | undefined>;
  /** What is undefined is taken away. */
  write(server: McpServerSettings, change: Partial<Omit<Stored, "url">>): Promise<void>;
  remove(name: string): Promise<boolean>;
}

export function createLoginStore(home: string): LoginStore {
  const path = join(home, "mcp-auth.json");
  const changes = new InOrder();
  const change = <T>(work: (all: z.infer<typeof file>) => T): Promise<T> =>
    changes.run(async () => {
      const all = await readAll(path);
      const result = work(all);
      await replaceFile(path, `${JSON.stringify(all, undefined, 2)}\n`, { mode: 0o600 });
      return result;
    });
  return {
    async read({ name, url }) {
      const found = (await readAll(path))[name];
      return found?.url === url ? found : undefined;
    },
    write: ({ name, url = "" }, values) =>
      change((all) => {
        const known = all[name]?.url === url ? all[name] : undefined;
        all[name] = { ...known, ...values, url };
      }),
    remove: (name) => change((all) => Reflect.has(all, name) && Reflect.deleteProperty(all, name)),
  };
}

async function readAll(path: string): Promise<z.infer<typeof file>> {
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return {};
    throw new ConfigError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return file.parse(JSON.parse(content));
  } catch {
    throw new ConfigError(`${path} is damaged. Remove it and log in again with maxclaw mcp login.`);
  }
}

export interface Browser {
  /** Where the person's browser comes back to. */
  readonly redirectUrl: string;
  readonly state: string;
  open(url: URL): void;
}

/** Tokens from the store, renewed as they expire. Without a `browser` nobody is there to log in: {@link LoginNeeded}. */
export function createAuth(
  server: McpServerSettings,
  store: LoginStore,
  hide: (secrets: readonly string[]) => void,
  browser?: Browser,
): OAuthClientProvider {
  const { oauth } = server;
  let verifier = "";
  let discovery: OAuthDiscoveryState | undefined;
  return {
    redirectUrl: browser?.redirectUrl ?? "http://127.0.0.1/callback",
    clientMetadata: {
      client_name: "maxclaw",
      redirect_uris: [browser?.redirectUrl ?? "http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: oauth?.clientSecret === undefined ? "none" : "client_secret_post",
      ...(oauth?.scope === undefined ? {} : { scope: oauth.scope }),
    },
    state: () => browser?.state ?? "",
    async clientInformation(context) {
      // Of the config, so it stays there: it belongs to whichever login server the address leads to.
      if (oauth?.clientId !== undefined)
        return {
          ...(context === undefined ? {} : { issuer: context.issuer }),
          client_id: oauth.clientId,
          ...(oauth.clientSecret === undefined ? {} : { client_secret: oauth.clientSecret }),
        };
      const known = bound((await store.read(server))?.client, context);
      // Without a person nothing is registered: that would leave a client behind at each try.
      if (known === undefined && browser === undefined) throw new LoginNeeded("it needs a login");
      return known as StoredOAuthClientInformation | undefined;
    },
    saveClientInformation: (client) => store.write(server, { client: { ...client } }),
    async tokens(context) {
      const tokens = bound((await store.read(server))?.tokens, context);
      if (tokens !== undefined) hide(secretsOf(tokens));
      return tokens as StoredOAuthTokens | undefined;
    },
    async saveTokens(tokens) {
      hide(secretsOf(tokens));
      await store.write(server, { tokens: { ...tokens } });
    },
    async redirectToAuthorization(url) {
      if (browser !== undefined) return browser.open(url);
      // A login that is over has been taken away before. With one still there, only the way to renew it is blocked.
      const isOver = (await store.read(server))?.tokens?.refresh_token === undefined;
      throw isOver ? new LoginNeeded("its login has expired") : new Error("its login cannot be renewed for now");
    },
    saveCodeVerifier(code) {
      verifier = code;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(state) {
      checkIssuer(state);
      discovery = state;
    },
    discoveryState: () => discovery,
    async invalidateCredentials(scope) {
      if (scope === "discovery" || scope === "all") discovery = undefined;
      if (scope === "tokens" || scope === "all") await store.write(server, { tokens: undefined });
      if (scope === "client" || scope === "all") await store.write(server, { client: undefined });
    },
  };
}

/** What an older version has stored says not which login server it is from: it belongs to the first one that is met. */
function bound<T extends object>(
  stored: T | undefined,
  context: { readonly issuer: string } | undefined,
): T | undefined {
  return stored === undefined || context === undefined ? stored : { issuer: context.issuer, ...stored };
}

/**
 * A login server may not go by the name of another one, or it would get the answers that are for that one (RFC 8414,
 * 3.3). Its own host is enough: many that serve several customers name the host alone.
 *
 * @throws {ConfigError}
 */
function checkIssuer({ authorizationServerUrl, authorizationServerMetadata }: OAuthDiscoveryState): void {
  const issuer = authorizationServerMetadata?.issuer;
  if (issuer === undefined || originOf(issuer) === originOf(authorizationServerUrl)) return;
  throw new ConfigError(
    `The login server at ${authorizationServerUrl.slice(0, 200)} says that it is ${issuer.slice(0, 200)}. It is not used, because it may only pretend to be that one.`,
  );
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function secretsOf(tokens: { readonly access_token: string; readonly refresh_token?: string | undefined }): string[] {
  return [tokens.access_token, tokens.refresh_token ?? ""].filter((secret) => secret.length >= 8);
}
