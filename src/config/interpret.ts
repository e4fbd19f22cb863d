import { resolve } from "node:path";
import { unsharedOf, whatLacks } from "../channels/platforms.js";
import { isLoopback } from "../util/loopback.js";
import { problemSentence } from "../util/words/problem-sentences.js";
import { isSecretKey } from "./faults/wording.js";
import { expandTilde } from "./home.js";
import type { Config, McpServerConfig } from "./schema.js";
import { type OffSection, type Settled, settle } from "./settle.js";
import { isObject, type JsonObject, substitute } from "./substitute.js";

export interface Surroundings {
  readonly home: string;
  readonly homedir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `<home>/secrets.json` holds. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface Interpreted {
  readonly config: Config;
  readonly problems: readonly string[];
  readonly off: readonly OffSection[];
  /** Every secret value of the config, to be masked wherever text leaves the gateway. */
  readonly secrets: readonly string[];
}

/** Turns the parsed file into a config: variables filled in, mistakes set aside and told, paths made absolute. */
export function interpret(raw: JsonObject, around: Surroundings): Interpreted {
  // A key may be where nothing else says so, e.g. in the arguments of a command.
  const named = new Set(Object.values(around.secrets));
  const filled = substitute(raw, (name) => {
    const value = around.env[name] ?? around.secrets[name];
    if (value !== undefined && isSecretKey(name)) named.add(value);
    return value;
  });
  const settled = settle(withMcpServers(isObject(filled) ? filled : {}));
  const problems = [...settled.problems];
  const off = [...settled.off];
  const { agents, gateway, channels, tools, providers, engine } = settled.config;

  const token = around.env.MAXCLAW_TOKEN?.trim() || gateway.token;
  const hostProblem = openHostProblem(gateway.host, token);
  if (hostProblem !== undefined) problems.push(hostProblem);

  if (gateway.trustedProxies.length > 0 && token === undefined) problems.push(problemSentence("proxies_closed"));

  const taken = new Map<string, string>();
  const runnable = Object.entries(channels).filter(([name, channel]) => {
    const missing =
      channel?.enabled === true ? (whatLacks(name, channels) ?? sharing(name, channels, taken)) : undefined;
    if (missing !== undefined) {
      problems.push(problemSentence("part_off", { reason: missing, part: `channels.${name}` }));
      off.push({ section: `channels.${name}`, reason: missing });
    }
    return channel?.enabled === true && missing === undefined;
  });

  if (engine.kind === "postgres" && engine.url === undefined && !off.some(({ section }) => section === "engine")) {
    const reason = problemSentence("engine_lacks");
    problems.push(problemSentence("not_started", { reason }));
    off.push({ section: "engine", reason });
  }

  const mcpServers = startable(tools.mcpServers, problems, off);

  const workspace = expandTilde(agents.defaults.workspace ?? "workspace", around.homedir);
  const config: Config = {
    ...settled.config,
    agents: { ...agents, defaults: { ...agents.defaults, workspace: resolve(around.home, workspace) } },
    gateway: { ...gateway, token },
    // The same values under the same names, only fewer.
    channels: Object.fromEntries(runnable) as Config["channels"],
    providers: onlyKeyed(providers),
    tools: { ...tools, mcpServers },
  };
  return { config, problems, off, secrets: secretsOf(config, named) };
}

/** Why a channel cannot run beside those before it, which have `taken` what only one can have. */
function sharing(name: string, channels: Config["channels"], taken: Map<string, string>): string | undefined {
  const own = unsharedOf(name, channels);
  for (const { key, value } of own) {
    const other = taken.get(value);
    if (other !== undefined) return problemSentence("account_shared", { name, key, other });
  }
  for (const { value } of own) taken.set(value, name);
  return undefined;
}

/** Random ones have 64 bits and more then. */
const shortestToken = 16;

/** The sentence for an address that others can reach while nothing tells them from strangers. */
function openHostProblem(host: string, token: string | undefined): string | undefined {
  if (isLoopback(host)) return undefined;
  if (token !== undefined && token.length < shortestToken)
    return problemSentence("token_short", { least: shortestToken, host });
  if (token !== undefined) return undefined;
  return problemSentence("host_closed", { host });
}

/** Where to listen: the configured address, or loopback as long as no token guards another one. */
export function listenHost({ host, token }: Pick<Config["gateway"], "host" | "token">): string {
  return token === undefined && !isLoopback(host) ? "127.0.0.1" : host;
}

/** The config files of other programs hold `mcpServers` at the top: merged, and `tools.mcpServers` wins. */
function withMcpServers(raw: JsonObject): JsonObject {
  const { mcpServers = {}, ...rest } = raw;
  const tools = raw.tools ?? {};
  if (!isObject(tools)) return rest;
  const own = tools.mcpServers ?? {};
  const merged = isObject(mcpServers) && isObject(own) ? { ...mcpServers, ...own } : isObject(own) ? mcpServers : own;
  return { ...rest, tools: { ...tools, mcpServers: withoutDisabled(merged) } };
}

/** `disabled: true` is how other programs switch a server off. */
function withoutDisabled(servers: unknown): unknown {
  if (!isObject(servers)) return servers;
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      if (!isObject(server) || typeof server.disabled !== "boolean") return [name, server];
      const { disabled, ...rest } = server;
      return [name, { enabled: !disabled, ...rest }];
    }),
  );
}

function startable(
  servers: Config["tools"]["mcpServers"],
  problems: string[],
  off: OffSection[],
): Config["tools"]["mcpServers"] {
  const usable: Record<string, McpServerConfig> = {};
  for (const [name, server] of Object.entries(servers)) {
    const section = `tools.mcpServers.${name}`;
    if (!server.enabled) continue;
    if ((server.command === undefined) === (server.url === undefined)) {
      const reason = problemSentence("server_lacks", { part: section });
      problems.push(problemSentence("part_off", { reason, part: section }));
      off.push({ section, reason });
      continue;
    }
    // `"command": "npx -y server"` without args is what people paste.
    const [command, ...args] =
      server.args.length === 0 ? (server.command?.split(/\s+/) ?? []) : [server.command, ...server.args];
    usable[name] = { ...server, command, args: args.filter((arg) => arg !== undefined) };
  }
  return usable;
}

/** The Go maxclaw wrote all providers that it knows; those without key and address count as absent. */
function onlyKeyed(providers: Config["providers"]): Config["providers"] {
  return Object.fromEntries(
    Object.entries(providers).filter(([, { apiKey, apiBase }]) => apiKey !== undefined || apiBase !== undefined),
  );
}

/** The passwords of an address such as `redis://user:password@host`, as they are written and as they are meant. */
function passwordsIn(address: string): readonly string[] {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/i.exec(address) ?? [];
  const [, named] = /^[a-z][a-z0-9+.-]*:\/\/[^?\s]*\?(?:[^#\s]*&)?(?:ssl)?password=([^&#\s]+)/i.exec(address) ?? [];
  return [password, named].flatMap((found) => {
    if (found === undefined) return [];
    try {
      return [found, decodeURIComponent(found)];
    } catch {
      return [found];
    }
  });
}

function secretsOf(config: Settled["config"], named: ReadonlySet<string>): readonly string[] {
  const found = new Set(named);
  const walk = (value: unknown, isSecret: boolean): void => {
    if (typeof value === "string" && isSecret) found.add(value);
    if (typeof value === "string") for (const secret of passwordsIn(value)) found.add(secret);
    if (Array.isArray(value)) for (const entry of value) walk(entry, isSecret);
    if (!isObject(value)) return;
    for (const [key, entry] of Object.entries(value))
      walk(entry, isSecret || isSecretKey(key) || key === "headers" || key === "env");
  };
  walk(config, false);
  // Masking shorter ones would tear holes into ordinary text.
  return [...found].filter((secret) => secret.length >= 8);
}
