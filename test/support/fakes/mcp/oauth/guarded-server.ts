import type { IncomingMessage } from "node:http";
import type { Reply } from "./reply.js";
import type { Tokens } from "./tokens.js";

/** An MCP server with one tool: streamable HTTP, plain JSON answers. */
export class GuardedServer {
  /** Somebody was told where to log in. */
  hasRefused = false;
  readonly #origin: string;
  readonly #needs: Readonly<Record<string, string>>;
  readonly #tokens: Tokens;

  /** `needs`: what a method needs: no token (""), or one with this scope. Absent: any token. */
  constructor(origin: string, needs: Readonly<Record<string, string>>, tokens: Tokens) {
    this.#origin = origin;
    this.#needs = needs;
    this.#tokens = tokens;
  }

  answer(request: IncomingMessage, text: string): Reply {
    const { id, method = "", params } = request.method === "POST" ? JSON.parse(text) : {};
    const isUnnamed = method === "" || method.startsWith("notifications/");
    const need = this.#needs[isUnnamed ? "initialize" : method];
    if (need !== "" && !this.#tokens.isAccess(request.headers.authorization))
      return this.#refuse(401, "invalid_token", need);
    if (need !== undefined && !this.#tokens.covers(need)) return this.#refuse(403, "insufficient_scope", need);
    if (request.method !== "POST") return { status: 405, body: {} };
    if (id === undefined) return { status: 202 };
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
    return { status: 200, body: { jsonrpc: "2.0", id, result: results[method] } };
  }

  #refuse(status: number, error: string, need: string | undefined): Reply {
    const wanted = need === undefined ? "" : `, scope="${need}"`;
    const place = `Bearer resource_metadata="${this.#origin}/.well-known/oauth-protected-resource/mcp"`;
    this.hasRefused = true;
    return { status, body: { error }, headers: { "www-authenticate": `${place}, error="${error}"${wanted}` } };
  }
}
