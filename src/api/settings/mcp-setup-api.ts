import type { McpTest } from "../mcp-api.js";

/** How far a login at a server is. */
export interface McpLogin {
  /** `none`: nobody has begun one. */
  readonly state: "none" | "waiting" | "done" | "failed";
  /** Where the person logs in, while it waits. */
  readonly url?: string | undefined;
  /** Where the browser comes back to: on the gateway's machine. */
  readonly comesBackTo?: string | undefined;
  /** What the server wants more than the login of just before. */
  readonly scope?: string | undefined;
  /** Once it is done: whether the server wants a login at all. */
  readonly wasNeeded?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** Servers that offer tools, before they are in the config, and logins at them. */
export interface McpSetupApi {
  /**
   * Connects once to a server as somebody is about to set it up: its section over that of the config. Nothing is written.
   *
   * @throws {RequestError} 400 for what is not a section, 403 where the config may not be changed that way
   */
  tryServer(name: string, section: { readonly [key: string]: unknown }, signal: AbortSignal): Promise<McpTest>;
  /**
   * Ends an earlier login at this server. Resolves once there is an address to show, or none is needed.
   *
   * @throws {RequestError} 404; 403 without a `gateway.token`
   */
  beginLogin(name: string): Promise<McpLogin>;
  loginState(name: string): McpLogin;
  /**
   * For a browser on another machine, which could not come back: the address that it was sent to.
   *
   * @throws {RequestError} 409 when no login waits, 400 for another address
   */
  finishLogin(name: string, address: string): Promise<McpLogin>;
  endLogin(name: string): void;
  /** The login of a server that was removed. */
  forgetLogin(name: string): Promise<void>;
}
