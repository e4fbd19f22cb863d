/** A server that offers tools, as far as it is known. */
export interface McpServerView {
  readonly name: string;
  readonly transport: "stdio" | "http" | "sse";
  /** `idle`: stopped until it is needed. `off`: a person has to do something, which `reason` says. */
  readonly state: "connecting" | "connected" | "reconnecting" | "idle" | "off";
  readonly reason?: string;
  /** As the server calls them. */
  readonly tools: readonly string[];
}

/** What clients can see of the configured MCP servers, and do with them. */
export interface McpApi {
  list(): readonly McpServerView[];
  /** Connects again at once, e.g. after a login. @throws {RequestError} 404 */
  reconnect(name: string): void;
}
