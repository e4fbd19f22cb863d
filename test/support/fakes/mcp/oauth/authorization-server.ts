import { createHash, randomUUID } from "node:crypto";
import type { Reply } from "./reply.js";
import type { Tokens } from "./tokens.js";

export interface AuthorizationOptions {
  /** No scope that is asked for is ever given. */
  readonly givesNothing?: boolean;
  /** What the authorization server says in its answers of who it is (RFC 9207); its metadata promise that it does. */
  readonly iss?: "right" | "wrong" | "absent";
  /** Who it says that it is, where that is not its address. */
  readonly issuer?: string;
}

interface Login {
  readonly challenge: string;
  readonly redirect: string;
  readonly scope: string;
}

/** Registers clients, lets everybody in who asks, and checks PKCE when it gives tokens. */
export class AuthorizationServer {
  readonly seen: string[] = [];
  readonly scopes: string[] = [];
  fault: "refuses" | "hangs" | undefined;
  readonly #origin: string;
  readonly #options: AuthorizationOptions;
  readonly #tokens: Tokens;
  readonly #logins = new Map<string, Login>();
  readonly #redirects = new Map<string, string>();

  constructor(origin: string, options: AuthorizationOptions, tokens: Tokens) {
    this.#origin = origin;
    this.#options = options;
    this.#tokens = tokens;
  }

  /** Undefined: it never answers. */
  answer({ pathname, searchParams }: URL, text: string): Reply | undefined {
    switch (pathname) {
      case "/.well-known/oauth-authorization-server":
        return { status: 200, body: this.#metadata() };
      case "/register":
        return this.#register(text);
      case "/authorize":
        return this.#authorize(searchParams);
      case "/token":
        return this.#token(new URLSearchParams(text));
      default:
        return { status: 404, body: {} };
    }
  }

  #metadata(): object {
    const { issuer = this.#origin, iss } = this.#options;
    return {
      issuer,
      authorization_endpoint: `${this.#origin}/authorize`,
      token_endpoint: `${this.#origin}/token`,
      registration_endpoint: `${this.#origin}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      ...(iss === undefined ? {} : { authorization_response_iss_parameter_supported: true }),
    };
  }

  #register(text: string): Reply {
    this.seen.push("register");
    const client = JSON.parse(text);
    const clientId = randomUUID();
    this.#redirects.set(clientId, client.redirect_uris[0]);
    return { status: 201, body: { ...client, client_id: clientId } };
  }

  #authorize(asked: URLSearchParams): Reply {
    const redirect = asked.get("redirect_uri") ?? "";
    if (this.#redirects.get(asked.get("client_id") ?? "") !== redirect)
      return { status: 400, body: { error: "invalid_redirect_uri" } };
    const code = randomUUID();
    const scope = asked.get("scope") ?? "";
    this.scopes.push(scope);
    this.#logins.set(code, { challenge: asked.get("code_challenge") ?? "", redirect, scope });
    const back = new URL(redirect);
    back.searchParams.set("code", code);
    back.searchParams.set("state", asked.get("state") ?? "");
    if (this.#options.iss === "right") back.searchParams.set("iss", this.#origin);
    if (this.#options.iss === "wrong") back.searchParams.set("iss", "https://other.example");
    return { status: 302, headers: { location: back.href } };
  }

  #token(form: URLSearchParams): Reply | undefined {
    this.seen.push(`token ${form.get("grant_type")}`);
    if (this.fault === "hangs") return undefined;
    if (this.fault === "refuses") return { status: 503, body: "out of order" };
    if (form.get("grant_type") === "refresh_token") {
      const refusal = this.#tokens.refusalOf(form.get("refresh_token"));
      return refusal ?? { status: 200, body: this.#tokens.grant() };
    }
    const login = this.#logins.get(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (login?.challenge !== challenge || login.redirect !== form.get("redirect_uri"))
      return { status: 400, body: { error: "invalid_grant" } };
    if (this.#options.givesNothing !== true) this.#tokens.allow(login.scope);
    return { status: 200, body: this.#tokens.grant() };
  }
}
