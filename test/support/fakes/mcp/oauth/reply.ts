import type { ServerResponse } from "node:http";

export interface Reply {
  readonly status: number;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function write(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  response.writeHead(status, { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
