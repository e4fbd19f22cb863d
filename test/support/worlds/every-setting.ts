import { z } from "zod";
import { configOf, type LoadedConfig } from "../../../src/config/load.js";
import { inside } from "../../../src/config/settings/hide.js";
import { schemaAt } from "../../../src/config/shape.js";
import { isObject, type JsonObject } from "../../../src/config/substitute.js";
import { badServer } from "./tools/mcp.js";

const secret = "webhook-secret-0123";
/** Nothing listens there. */
const nowhere = "http://127.0.0.1:9";

/** A config in which every section counts and nothing leaves this machine. */
export function wholeConfig(apiBase: string, home: string): JsonObject {
  const model = { id: "test-model", name: "Test", enabled: true, supportsImageInput: false, thinking: "low" };
  const day = { tokens: 1e9, usd: 1e6, turns: 1e6 };
  return {
    agents: { defaults: { model: "openai/test-model", quietMs: 0, timezone: "UTC" }, spawn: {} },
    providers: {
      openai: { apiKey: "sk-test-key", apiBase, headers: { a: "b" }, timeouts: {}, models: [model] },
    },
    gateway: { port: 0, token: "0123456789abcdef0123" },
    channels: {
      telegram: { enabled: true, token: "4242:every-key", apiRoot: nowhere, webhook: { secret } },
      discord: { enabled: true, token: "discord-every-key", apiRoot: nowhere },
      slack: { enabled: true, botToken: "xoxb-every-key", appToken: "xapp-every-key", apiRoot: nowhere },
      matrix: {
        enabled: true,
        homeserver: nowhere,
        accessToken: "syt-every-key",
        userId: "@a:example.org",
        password: "secret-0123",
      },
      feishu: {
        enabled: true,
        appId: "cli_a1b2c3d4e5f60718",
        appSecret: "secret-0123",
        verificationToken: "token-0123",
        apiRoot: nowhere,
      },
      qq: { enabled: true, appId: "102000001", appSecret: "secret-0123", apiRoot: nowhere, tokenRoot: nowhere },
      whatsapp: { enabled: true, bridgeUrl: "ws://127.0.0.1:9" },
      "whatsapp-business": {
        enabled: true,
        phoneNumberId: "1",
        accessToken: "secret-0123",
        appSecret: "secret-0123",
        verifyToken: "secret-0123",
        apiRoot: nowhere,
      },
      xmpp: { enabled: true, jid: "a@example.org", password: "secret-0123", service: "xmpp://127.0.0.1:9" },
      websocket: { enabled: true, port: 0 },
      email: {
        enabled: true,
        consentGranted: true,
        imapHost: "127.0.0.1",
        imapPort: 9,
        imapUsername: "a@example.org",
        imapPassword: "secret-0123",
        smtpHost: "127.0.0.1",
        smtpPort: 9,
      },
    },
    owners: ["telegram:42"],
    tools: {
      mcpServers: {
        here: { ...badServer(), env: {}, cwd: home },
        there: { url: `${nowhere}/mcp`, type: "http", headers: {}, oauth: {} },
      },
    },
    extensions: [{ module: "./nothing.mjs", options: { a: 1 } }],
    prices: { "gpt-4.1": { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } },
    budgets: { day },
    heartbeat: { enabled: false, budget: { turns: 5 } },
    memory: { titles: "first", dailySummary: "off" },
    policy: {
      rules: [{ tool: "exec", argument: "x", channel: "a", sender: "a:b", role: "owner", chat: "dm", verdict: "ask" }],
    },
    reactors: { live: false },
    telemetry: { otlpEndpoint: nowhere, headers: {} },
    storage: { driver: "file", options: {} },
  };
}

export interface ChangedSetting {
  readonly config: JsonObject;
  /** The key with its names in the place of `*` and without the part in a list, as people are told it. */
  readonly name: string;
  /** No other value of it is right by itself. */
  readonly isWrong: boolean;
}

/** The config with another value of this key of the schema, one that is right if there is one; undefined: no other counts. */
export async function withOther(
  key: string,
  base: JsonObject,
  around: { readonly home: string; readonly env: Record<string, string> },
): Promise<ChangedSetting | undefined> {
  const before = await configOf(base, around);
  let wrong: ChangedSetting | undefined;
  for (const path of pathsOf(key.replaceAll("[]", ".0").split("."), base))
    for (const value of candidatesFor(path)) {
      const config = changed(base, path, value);
      if (!isObject(config)) continue;
      const after = await configOf(config, around);
      const isSame = JSON.stringify(after.config) === JSON.stringify(before.config);
      const name = path.slice(0, path.includes("0") ? path.indexOf("0") : path.length).join(".");
      if (!isSame && addedProblems(after, before).length === 0) return { config, name, isWrong: false };
      if (addedProblems(after, before).length > 0) wrong ??= { config, name, isWrong: true };
    }
  return wrong;
}

function addedProblems(after: LoadedConfig, before: LoadedConfig): readonly string[] {
  return after.problems.filter((problem) => !before.problems.includes(problem));
}

/** One path for each name that the config has in the place of a `*`. */
function pathsOf([part, ...rest]: readonly string[], there: unknown): readonly (readonly string[])[] {
  if (part === undefined) return [[]];
  const names = part === "*" && isObject(there) ? Object.keys(there) : [part];
  return names.flatMap((name) => pathsOf(rest, at(there, name)).map((path) => [name, ...path]));
}

function at(value: unknown, key: string): unknown {
  return Array.isArray(value) ? value[Number(key)] : inside(value, key);
}

function changed(root: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(root)) return root.map((entry, n) => (n === Number(key) ? changed(entry, rest, value) : entry));
  return { ...(isObject(root) ? root : {}), [key]: changed(at(root, key), rest, value) };
}

/** Something of each kind that a setting can be; what does not fit is not chosen. */
function candidatesFor(path: readonly string[]): readonly unknown[] {
  const schema = schemaAt(path.map((part) => (part === "0" ? 0 : part)));
  const named = schema instanceof z.ZodEnum ? schema.options : [];
  return [
    ...named,
    true,
    false,
    "changed",
    "/srv/changed",
    `${nowhere}/changed`,
    "https://127.0.0.1/changed",
    "ws://127.0.0.1:9/changed",
    "postgresql://127.0.0.1:9/changed",
    "Asia/Tokyo",
    "08:00-09:00",
    "telegram:43",
    "b@example.org",
    "localhost",
    2,
    1,
    0.5,
    150,
    3000,
    ["changed"],
    ["127.0.0.2"],
    ["telegram:43"],
    { changed: "changed" },
    { tokens: 5 },
    "medium",
  ];
}
