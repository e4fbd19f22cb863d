import {
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { wantingFetch } from "../auth/challenge.js";
import { ownIssuerCheck, renewingFetch } from "../auth/renewing-fetch.js";
import { withoutLargeTools } from "../connection/large-tools.js";
import type { McpLimits, McpServerSettings } from "../settings.js";
import { boundedFetch } from "./bounded-fetch.js";
import { createFloodGuard } from "./flood.js";
import { StdioTransport } from "./stdio-transport.js";

export type TransportKind = "stdio" | "http" | "sse";

export interface TransportOptions {
  readonly limits: McpLimits;
  /** Where a server that is started here begins; made empty for it. */
  readonly folder: string;
  /** Others may write there: no program is looked up in them. */
  readonly closed: readonly string[];
  /** Takes secrets out of what a server says about itself. */
  readonly mask: (text: string) => string;
  readonly auth?: OAuthClientProvider | undefined;
  /** A call needs a login, or one with a larger scope. */
  readonly onWants?: ((scope: string | undefined) => Promise<void>) | undefined;
}

/** The ways in which a server may be reached, in the order in which to try them. */
export function kindsOf({ command, type }: McpServerSettings): readonly [TransportKind, TransportKind?] {
  if (command !== undefined) return ["stdio"];
  return type === undefined ? ["http", "sse"] : [type];
}

export function createTransport(
  kind: TransportKind,
  { command = "", args, env, cwd, url = "", headers }: McpServerSettings,
  { limits, folder, closed, mask, auth, onWants = async () => {} }: TransportOptions,
): Transport {
  if (kind === "stdio") return new StdioTransport({ command, args, env, cwd, folder, closed, mask }, limits);
  const bounded = boundedFetch(limits.maxFrameBytes);
  const renewed = auth === undefined ? bounded : renewingFetch(bounded, auth, url, limits.initialiseMs);
  const options = {
    fetch: wantingFetch(renewed, auth !== undefined, onWants),
    requestInit: { headers },
    // Nobody is here to log in again.
    onInsufficientScope: "throw" as const,
    ...(auth === undefined ? {} : { authProvider: auth, ...ownIssuerCheck }),
  };
  const address = new URL(url);
  return guarded(
    kind === "http" ? new StreamableHTTPClientTransport(address, options) : new SSEClientTransport(address, options),
    limits,
  );
}

/** A server that says too much unasked is left. Must be called before the client hangs itself in. */
function guarded(transport: Transport, limits: McpLimits): Transport {
  const flood = createFloodGuard(limits.maxUnasked, limits.floodMs);
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    flood.asked(message);
    await send(message, options);
  };
  let listener: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    get: () => listener,
    set(inner: Transport["onmessage"]) {
      if (inner === undefined) {
        listener = undefined;
        return;
      }
      listener = (message, extra) => {
        if (!flood.isExpected(message)) {
          transport.onerror?.(new Error("it flooded the gateway with messages that nobody asked for"));
          void transport.close();
          return;
        }
        inner(withoutLargeTools(message), extra);
      };
    },
  });
  return transport;
}
