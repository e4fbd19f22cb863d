import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:http";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { OAuthError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ConfigError } from "../errors.js";
import { linked } from "../util/linked.js";
import { untilAborted } from "../util/until-aborted.js";
import { boundedFetch } from "./bounded-fetch.js";
import { createAuth, type LoginStore } from "./oauth.js";
import { causeOf, clauseOf } from "./session.js";
import { defaultLimits, type McpServerSettings } from "./settings.js";

export interface LoginOptions {
  readonly version: string;
  readonly store: LoginStore;
  /** For a client that was registered with a fixed address; 0: any. */
  readonly port: number;
  /** Shows the person where to go. */
  readonly open: (url: URL) => void;
  readonly timeoutMs: number;
}

/**
 * Logs a person in at a server: authorization code with PKCE, the browser coming back to this machine's loopback. False
 * when the server wants no login. The tokens are in the store when it resolves.
 *
 * @throws {ConfigError} with a sentence for the person
 */
export async function logIn(server: McpServerSettings, options: LoginOptions, signal: AbortSignal): Promise<boolean> {
  const { url } = server;
  if (url === undefined) throw new ConfigError(`${server.name} is started here and wants no login.`);
  using limit = linked(signal, options.timeoutMs);
  const state = randomBytes(24).toString("base64url");
  const callback = await listen(options.port, state);
  try {
    // A registration holds the address to come back to, and that one is new. The login of before counts until this one is.
    const fresh = createFreshStore(url);
    const browser = { redirectUrl: callback.url, state, open: options.open };
    const authProvider = createAuth(server, fresh, () => {}, browser);
    const settings = {
      authProvider,
      fetch: boundedFetch(defaultLimits.maxFrameBytes),
      requestInit: { headers: server.headers },
    };
    const transport =
      server.type === "sse"
        ? new SSEClientTransport(new URL(url), settings)
        : new StreamableHTTPClientTransport(new URL(url), settings);
    const client = new Client({ name: "maxclaw", version: options.version });
    try {
      // The SDK declares what may be absent in two ways that TypeScript does not take for the same.
      await client.connect(transport as Transport, { timeout: defaultLimits.initialiseMs });
      return false;
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
    } finally {
      await client.close().catch(() => undefined);
    }
    await transport.finishAuth(await untilAborted(callback.code, limit.signal));
    const { client: registered, tokens } = (await fresh.read(server)) ?? {};
    await options.store.write(server, { client: registered, tokens });
    return true;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (limit.signal.aborted && !signal.aborted) throw new ConfigError("Nobody has logged in within the time.");
    throw new ConfigError(`The login at ${server.name} failed: ${reasonOf(error)}`, { cause: error });
  } finally {
    callback.server.close();
    callback.server.closeAllConnections();
  }
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
  const more = error instanceof OAuthError ? error.errorCode : "";
  return [more, causeOf(error) ?? clauseOf(error)].filter((part) => part !== "").join(": ");
}

interface Callback {
  readonly server: Server;
  readonly url: string;
  readonly code: Promise<string>;
}

/** Only takes an answer that holds the state which this login began with. */
async function listen(port: number, state: string): Promise<Callback> {
  let resolve: (code: string) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const code = new Promise<string>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // It may fail before anybody waits for it.
  code.catch(() => {});
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const say = (status: number, text: string): void => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
      response.end(text);
    };
    if (pathname !== "/callback") return say(404, "There is nothing here.");
    if (!isEqual(searchParams.get("state") ?? "", state))
      return say(400, "This does not belong to a login of maxclaw.");
    const given = searchParams.get("code");
    if (given === null) {
      say(400, "The login was refused. You can close this page.");
      reject(new ConfigError(`The login was refused: ${(searchParams.get("error") ?? "no code").slice(0, 200)}`));
      return;
    }
    say(200, "maxclaw is logged in. You can close this page.");
    resolve(given);
  });
  await new Promise<void>((yes, no) => {
    server.once("error", no);
    server.listen(port, "127.0.0.1", yes);
  });
  const address = server.address();
  const chosen = typeof address === "object" && address !== null ? address.port : port;
  return { server, url: `http://127.0.0.1:${chosen}/callback`, code };
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
