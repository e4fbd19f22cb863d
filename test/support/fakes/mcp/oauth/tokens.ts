import { randomUUID } from "node:crypto";
import type { Reply } from "./reply.js";

/** What the authorization server has given, and the MCP server takes. */
export class Tokens {
  #access = "";
  #refresh = "";
  #scopes: readonly string[] = [];

  /** The next tokens are for this. */
  allow(scope: string): void {
    this.#scopes = scope.split(" ");
  }

  grant(): object {
    this.#access = `access-${randomUUID()}`;
    this.#refresh = `refresh-${randomUUID()}`;
    const scope = this.#scopes.join(" ");
    return {
      access_token: this.#access,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: this.#refresh,
      ...(scope === "" ? {} : { scope }),
    };
  }

  isAccess(authorization: string | undefined): boolean {
    return this.#access !== "" && authorization === `Bearer ${this.#access}`;
  }

  covers(need: string): boolean {
    return need.split(" ").every((one) => one === "" || this.#scopes.includes(one));
  }

  /** Why a refresh token is not taken, if it is not. */
  refusalOf(refresh: string | null): Reply | undefined {
    if (this.#refresh === "") return { status: 401, body: { error: "invalid_client" } };
    return refresh === this.#refresh ? undefined : { status: 400, body: { error: "invalid_grant" } };
  }

  /** From now on the access tokens given so far are refused. */
  expire(): void {
    this.#access = "";
  }

  /** From now on the refresh token is refused too. */
  forget(): void {
    this.#access = "";
    this.#refresh = `refresh-${randomUUID()}`;
  }

  /** From now on the client is not known any more either. */
  revoke(): void {
    this.#access = "";
    this.#refresh = "";
  }
}
