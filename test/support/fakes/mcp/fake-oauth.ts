import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type AuthorizationOptions, AuthorizationServer } from "./oauth/authorization-server.js";
import { GuardedServer } from "./oauth/guarded-server.js";
import { type Reply, write } from "./oauth/reply.js";
import { Tokens } from "./oauth/tokens.js";

export interface FakeOAuthOptions extends AuthorizationOptions {
  /** What a method needs: no token (""), or one with this scope. Absent: any token. */
  readonly needs?: Readonly<Record<string, string>>;
  /** It says nowhere where to log in but when it is asked. */
  readonly isSecretive?: boolean;
}

/** An MCP server (streamable HTTP, plain JSON answers) behind an authorization server that checks PKCE, both on loopback. */
export async function startFakeOAuth(options: FakeOAuthOptions = {}): Promise<FakeOAuth> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return new FakeOAuth(server, options);
}

export class FakeOAuth implements AsyncDisposable {
  /** Of the MCP server. */
  readonly url: string;
  readonly #server: Server;
  readonly #origin: string;
  readonly #isSecretive: boolean;
  readonly #tokens = new Tokens();
  readonly #authorization: AuthorizationServer;
  readonly #mcp: GuardedServer;

  constructor(server: Server, { needs = {}, isSecretive = false, ...options }: FakeOAuthOptions) {
    // A server that listens on TCP has an object as its address.
    this.#origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.url = `${this.#origin}/mcp`;
    this.#server = server;
    this.#isSecretive = isSecretive;
    this.#authorization = new AuthorizationServer(this.#origin, options, this.#tokens);
    this.#mcp = new GuardedServer(this.#origin, needs, this.#tokens);
    server.on("request", (request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      request.on("end", () => {
        const reply = this.#answer(request, text);
        if (reply !== undefined) write(response, reply);
      });
    });
  }

  /** What was asked for, e.g. `register`, `token refresh_token`. */
  get seen(): readonly string[] {
    return this.#authorization.seen;
  }

  /** The scopes that logins have asked for. */
  get scopes(): readonly string[] {
    return this.#authorization.scopes;
  }

  /** How the authorization server is out of order when it is asked for tokens: undefined is not at all. */
  get fault(): "refuses" | "hangs" | undefined {
    return this.#authorization.fault;
  }

  set fault(fault) {
    this.#authorization.fault = fault;
  }

  /** From now on the access tokens given so far are refused. */
  expire(): void {
    this.#tokens.expire();
  }

  /** From now on the refresh token is refused too. */
  forget(): void {
    this.#tokens.forget();
  }

  /** From now on the client is not known any more either. */
  revoke(): void {
    this.#tokens.revoke();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, text: string): Reply | undefined {
    const address = new URL(request.url ?? "/", this.#origin);
    const { pathname } = address;
    if (pathname === "/mcp") return this.#mcp.answer(request, text);
    const isHidden = this.#isSecretive && !this.#mcp.hasRefused;
    if (isHidden && pathname.startsWith("/.well-known/")) return { status: 404, body: {} };
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return { status: 200, body: { resource: this.url, authorization_servers: [this.#origin] } };
    return this.#authorization.answer(address, text);
  }
}
