import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../errors.js";
import { createAuth, createLoginStore, LoginNeeded } from "./auth/oauth.js";
import { openSession } from "./connection/session.js";
import { serverMask } from "./server-mask.js";
import { defaultLimits, type McpServerSettings } from "./settings.js";

export type TryOutcome =
  | { readonly ok: true; readonly transport: string; readonly ms: number; readonly tools: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Connects to a server once, lists its tools and leaves it. Never throws, except for an abort. */
export async function tryServer(
  server: McpServerSettings,
  gateway: {
    readonly home: string;
    readonly workspace: string;
    readonly version: string;
    readonly secrets: readonly string[];
  },
  signal: AbortSignal,
): Promise<TryOutcome> {
  const from = performance.now();
  const mask = serverMask(server, gateway.secrets);
  // The gateway may be running the same server in the folder that it has there.
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-mcp-test-"));
  try {
    const store = createLoginStore(gateway.home);
    const isLoggedIn = server.url !== undefined && (await store.read(server))?.tokens !== undefined;
    const auth = isLoggedIn ? createAuth(server, store, () => {}) : undefined;
    const closed = [gateway.home, gateway.workspace];
    const options = { version: gateway.version, folder, closed, mask, auth, limits: defaultLimits, onChanged() {} };
    const session = await openSession(server, options, signal);
    const ms = Math.round(performance.now() - from);
    await session.close();
    return { ok: true, transport: session.kind, ms, tools: session.catalog.tools.map(({ name }) => name) };
  } catch (error) {
    signal.throwIfAborted();
    const hint = error instanceof LoginNeeded ? `: log in with "maxclaw mcp login ${server.name}"` : "";
    return { ok: false, reason: mask(messageOf(error)) + hint };
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
