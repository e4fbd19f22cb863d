/** One MCP server as the config describes it: `command` starts it here, `url` reaches it elsewhere. */
export interface McpServerSettings {
  readonly name: string;
  readonly command?: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where it begins, absolute. Default: an empty folder of its own. */
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  /** How `url` is spoken to; absent: streamable HTTP, and SSE where the server does not know that. */
  readonly type?: "http" | "sse" | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** What the server says about its own tools (read-only, idempotent) is believed. */
  readonly trusted: boolean;
  readonly callMs: number;
  /** Of its tools, by its own names: those that are not offered. */
  readonly disabledTools?: readonly string[] | undefined;
  /** Of a client that was registered by hand; without `clientId` it registers itself. */
  readonly oauth?: McpClientSettings | undefined;
}

export interface McpClientSettings {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scope?: string | undefined;
}

/** A server's section of the config, as it is when every default is filled in. */
type Section = Omit<McpServerSettings, "name" | "type" | "callMs"> & {
  readonly type?: "stdio" | "http" | "sse" | undefined;
  /** Seconds. */
  readonly timeout: number;
};

export function toServerSettings(sections: Readonly<Record<string, Section>>): readonly McpServerSettings[] {
  return Object.entries(sections).map(([name, { type, timeout, ...section }]) => ({
    ...section,
    name,
    callMs: timeout * 1000,
    type: type === "stdio" ? undefined : type,
  }));
}

/** How a server is called where its secrets must not be seen: they may be in arguments and queries. */
export function endpointOf({ command, url = "" }: McpServerSettings): string {
  if (command !== undefined) return command;
  return URL.canParse(url) ? `${new URL(url).origin}${new URL(url).pathname}` : "";
}

/** What one server may cost, however it behaves. Tests make them smaller. */
export interface McpLimits {
  readonly initialiseMs: number;
  readonly listMs: number;
  /** After a list that the server asked for by saying that its tools have changed. */
  readonly listPauseMs: number;
  /** One message of the server. */
  readonly maxFrameBytes: number;
  /** Messages that nobody asked for, and lines that are none, within `floodMs`. */
  readonly maxUnasked: number;
  readonly floodMs: number;
  /** First pause before it is connected to again, doubled with each failure. */
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** A connection that held this long ends the row of failures. */
  readonly stableMs: number;
  /** A process gets this long after its input was closed, and again after SIGTERM. */
  readonly stopMs: number;
}

export const defaultLimits: McpLimits = {
  initialiseMs: 10_000,
  listMs: 10_000,
  listPauseMs: 1000,
  maxFrameBytes: 16 * 1024 * 1024,
  maxUnasked: 2000,
  floodMs: 10_000,
  minDelayMs: 1000,
  maxDelayMs: 300_000,
  stableMs: 10_000,
  stopMs: 500,
};
