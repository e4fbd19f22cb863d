import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeOAuth extends AsyncDisposable {
  /** Of the MCP server. */
  readonly url: string;
  /** What was asked for, e.g. `register`, `token refresh_token`. */
  readonly seen: readonly string[];
  /** The scopes that logins have asked for. */
  readonly scopes: readonly string[];
  /** From now on the access tokens given so far are refused. */
  expire(): void;
  /** From now on the refresh token is refused too. */
  forget(): void;
  /** From now on the client is not known any more either. */
  revoke(): void;
  /** How the authorization server is out of order when it is asked for tokens: undefined is not at all. */
  fault: "refuses" | "hangs" | undefined;
}

export interface FakeOAuthOptions {
  /** What a method needs: no token (""), or one with this scope. Absent: any token. */
  readonly needs?: Readonly<Record<string, string>>;
  /** No scope that is asked for is ever given. */
  readonly givesNothing?: boolean;
  /** What the authorization server says in its answers of who it is (RFC 9207); its metadata promise that it does. */
  readonly iss?: "right" | "wrong" | "absent";
  /** Who it says that it is, where that is not its address. */
  readonly issuer?: string;
  /** It says nowhere where to log in but when it is asked. */
  readonly isSecretive?: boolean;
}

/** An MCP server (streamable HTTP, plain JSON answers) behind an authorization server that checks PKCE, both on loopback. */
export async function startFakeOAuth(options: FakeOAuthOptions = {}): Promise<FakeOAuth> {
  const { needs = {}, givesNothing = false, iss, issuer, isSecretive = false } = options;
  let scope = "";
  const seen: string[] = [];
  let wasRefused = false;
  const scopes: string[] = [];
  const codes = new Map<string, { challenge: string; redirect: string; scope: string }>();
  const redirects = new Map<string, string>();
  let access = "";
  let refresh = "";
  let origin = "";

  const json = (
    response: ServerResponse,
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): void => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
  const grant = (response: ServerResponse) => {
    access = `access-${randomUUID()}`;
    refresh = `refresh-${randomUUID()}`;
    const given = { access_token: access, token_type: "Bearer", expires_in: 3600, refresh_token: refresh };
    json(response, 200, { ...given, ...(scope === "" ? {} : { scope }) });
  };

  const token = (response: ServerResponse, form: URLSearchParams) => {
    seen.push(`token ${form.get("grant_type")}`);
    if (fake.fault === "hangs") return;
    if (fake.fault === "refuses") return json(response, 503, "out of order");
    if (form.get("grant_type") === "refresh_token") {
      if (refresh === "") return json(response, 401, { error: "invalid_client" });
      if (form.get("refresh_token") !== refresh) return json(response, 400, { error: "invalid_grant" });
      return grant(response);
    }
    const code = codes.get(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight = code?.challenge === challenge && code.redirect === form.get("redirect_uri");
    if (isRight && !givesNothing) scope = code.scope;
    return isRight ? grant(response) : json(response, 400, { error: "invalid_grant" });
  };

  const mcp = (request: IncomingMessage, response: ServerResponse, text: string) => {
    const { id, method = "", params } = request.method === "POST" ? JSON.parse(text) : {};
    const need = method === "" || method.startsWith("notifications/") ? needs.initialize : needs[method];
    const challenge = (status: number, error: string): void => {
      const wanted = need === undefined ? "" : `, scope="${need}"`;
      const place = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      wasRefused = true;
      json(response, status, { error }, { "www-authenticate": `${place}, error="${error}"${wanted}` });
    };
    const isKnown = access !== "" && request.headers.authorization === `Bearer ${access}`;
    if (need !== "" && !isKnown) return challenge(401, "invalid_token");
    if (need !== undefined && !need.split(" ").every((one) => one === "" || scope.split(" ").includes(one)))
      return challenge(403, "insufficient_scope");
    if (request.method !== "POST") return json(response, 405, {});
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "guarded", version: "1" },
      },
      "tools/list": { tools: [{ name: "secret", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "the secret" }] },
      ping: {},
    };
    json(response, 200, { jsonrpc: "2.0", id, result: results[method] });
  };

  const handle = (request: IncomingMessage, response: ServerResponse, text: string) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    if (pathname === "/mcp") return mcp(request, response, text);
    if (isSecretive && !wasRefused && pathname.startsWith("/.well-known/")) return json(response, 404, {});
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname === "/.well-known/oauth-authorization-server")
      return json(response, 200, {
        issuer: issuer ?? origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        ...(iss === undefined ? {} : { authorization_response_iss_parameter_supported: true }),
      });
    if (pathname === "/register") {
      seen.push("register");
      const client = JSON.parse(text);
      const clientId = randomUUID();
      redirects.set(clientId, client.redirect_uris[0]);
      return json(response, 201, { ...client, client_id: clientId });
    }
    if (pathname === "/authorize") {
      const redirect = searchParams.get("redirect_uri") ?? "";
      const client = searchParams.get("client_id") ?? "";
      if (redirects.get(client) !== redirect) return json(response, 400, { error: "invalid_redirect_uri" });
      const code = randomUUID();
      const asked = searchParams.get("scope") ?? "";
      scopes.push(asked);
      codes.set(code, { challenge: searchParams.get("code_challenge") ?? "", redirect, scope: asked });
      const back = new URL(redirect);
      back.searchParams.set("code", code);
      back.searchParams.set("state", searchParams.get("state") ?? "");
      if (iss === "right") back.searchParams.set("iss", origin);
      if (iss === "wrong") back.searchParams.set("iss", "https://other.example");
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    if (pathname === "/token") return token(response, new URLSearchParams(text));
    return json(response, 404, {});
  };

  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => handle(request, response, text));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an object as its address.
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeOAuth = {
    url: `${origin}/mcp`,
    seen,
    scopes,
    fault: undefined,
    expire: () => (access = ""),
    forget() {
      access = "";
      refresh = `refresh-${randomUUID()}`;
    },
    revoke() {
      access = "";
      refresh = "";
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}
