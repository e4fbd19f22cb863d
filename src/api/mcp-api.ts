/** A server that offers tools, as far as it is known. Nothing of it that may be secret. */
export interface McpServerView {
  readonly name: string;
  readonly type: "stdio" | "http" | "sse";
  /** The command without its arguments, or the address without its query. */
  readonly endpoint: string;
  /** `idle`: stopped until it is needed. `off`: a person has to do something, which `reason` says. */
  readonly state: "connecting" | "connected" | "reconnecting" | "idle" | "off";
  /** Since when it is so; a server that is away is so since it was lost, or since the first try. ISO 8601. */
  readonly since?: string;
  readonly reason?: string;
  /** What a person can do so that all of its tools can be used. */
  readonly wants?: string;
  /** As the server calls them. */
  readonly tools: readonly string[];
}

/** The result of connecting to a server once. */
export type McpTest =
  | { readonly ok: true; readonly tools: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** What clients can see of the configured MCP servers, and do with them. */
export interface McpApi {
  list(): readonly McpServerView[];
  /** Connects once more, beside the connection that turns use. @throws {RequestError} 404 */
  test(name: string, signal: AbortSignal): Promise<McpTest>;
  /** Connects again at once, e.g. after a login. @throws {RequestError} 404 */
  reconnect(name: string): void;
}
