import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { openServers, type Servers, type ServersOptions } from "../../../../src/mcp/servers.js";
import { defaultLimits, type McpLimits, type McpServerSettings } from "../../../../src/mcp/settings.js";
import { until } from "../../engine/engine-kit.js";
import { freePort } from "../../fakes/network/free-port.js";
import { keepLog } from "../../log.js";
import { compiledFile } from "../../project.js";

const require = createRequire(import.meta.url);

/** A config section that starts one of the official reference servers. */
export function referenceServer(name: "everything" | "filesystem" | "memory", ...args: string[]) {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return { command: process.execPath, args: [join(dirname(manifest), "dist", "index.js"), ...args] };
}

/** A config section that starts our own server, which misbehaves as it is told. */
export function badServer(...args: string[]) {
  return { command: process.execPath, args: [compiledFile("test/support/fakes/mcp/mcp-bad-server.js"), ...args] };
}

export function settingsOf(name: string, section: Partial<McpServerSettings>): McpServerSettings {
  return { name, args: [], env: {}, headers: {}, trusted: false, callMs: 5000, ...section };
}

export interface OpenedServers extends AsyncDisposable {
  readonly servers: Servers;
  readonly log: ReturnType<typeof keepLog>;
  /** `name to` with the reason, in the order in which it was told. */
  readonly states: readonly string[];
  /** Resolves once a server was so often in this state. */
  waitFor(name: string, state: string, times?: number): Promise<void>;
}

export async function openTestServers(
  settings: readonly McpServerSettings[],
  home: string,
  options: Partial<Omit<ServersOptions, "limits">> & { readonly limits?: Partial<McpLimits> } = {},
): Promise<OpenedServers> {
  const states: string[] = [];
  const log = keepLog();
  const servers = openServers(settings, {
    version: "0.0.0-test",
    home,
    workspace: home,
    declareBytes: 1_000_000,
    idleMs: 0,
    log,
    onState: (name, to, { reason }) => states.push(reason === undefined ? `${name} ${to}` : `${name} ${to}: ${reason}`),
    ...options,
    get secrets() {
      return options.secrets ?? [];
    },
    limits: { ...defaultLimits, minDelayMs: 20, maxDelayMs: 200, ...options.limits },
  });
  return {
    servers,
    log,
    states,
    waitFor: (name, state, times = 1) =>
      until(
        `${name} is ${state}`,
        () => states.filter((one) => one === `${name} ${state}` || one.startsWith(`${name} ${state}:`)).length >= times,
        20_000,
      ),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

export interface HttpServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
}

/** The everything server over HTTP. It takes no address, so it is given a free port. */
export async function startEverything(kind: "streamableHttp" | "sse", port?: number): Promise<HttpServerProcess> {
  const chosen = port ?? (await freePort());
  const { command, args } = referenceServer("everything", kind);
  const child = spawn(command, args, {
    env: { ...process.env, PORT: String(chosen) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The everything server did not start")), 20_000);
    child.stderr.on("data", (chunk: Buffer) => {
      if (!/listening|running/i.test(chunk.toString())) return;
      clearTimeout(timer);
      resolve();
    });
    child.once("exit", (code) => reject(new Error(`The everything server ended with ${code}`)));
  });
  return {
    url: `http://127.0.0.1:${chosen}/${kind === "sse" ? "sse" : "mcp"}`,
    port: chosen,
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Whether a process of this id is there; a zombie is not. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const { readFile } = await import("node:fs/promises");
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/^\d+ \(.*\) Z/s.test(stat);
}
