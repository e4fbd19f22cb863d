import { join } from "node:path";
import { importsOf, ownNameOf } from "../../channels/platforms.js";
import { modelLabel, providerName } from "../provider-names.js";
import { at, isFile, objectAt, readObject, textAt } from "../read-files.js";
import { allowedGroups, channelSetting, providerSettings, serverKeys, serverSettings } from "../settings.js";
import type { FoundSetting, Problem } from "../source.js";
import { accountsOf } from "./accounts.js";
import { databaseProfiles, sharedDatabase } from "./database.js";
import { isObject, type JsonObject } from "./json5.js";

/** What its config says about models, keys and channels, with our names. */
export async function readOpenclawSettings(
  folder: string,
  config: JsonObject,
  agents: readonly string[],
  problems: Problem[],
): Promise<readonly FoundSetting[]> {
  const defaults = { ...objectAt(config, "agent"), ...objectAt(config, "agents", "defaults") };
  const settings: FoundSetting[] = [];
  const model = textAt(defaults, "model", "primary") ?? textAt(defaults, "model");
  if (model !== undefined) settings.push({ path: ["agents", "defaults", "model"], value: modelLabel(model) });
  const fallbacks = at(defaults, "model", "fallbacks");
  if (Array.isArray(fallbacks) && fallbacks.length > 0)
    settings.push({
      path: ["agents", "defaults", "fallbacks"],
      value: fallbacks.map((label) => (typeof label === "string" ? modelLabel(label) : label)),
    });
  const timezone = textAt(defaults, "userTimezone");
  if (timezone !== undefined) settings.push({ path: ["agents", "defaults", "timezone"], value: timezone });

  for (const [name, section] of Object.entries(objectAt(config, "channels"))) {
    if (!isObject(section) || name === "defaults" || name === "modelByChannel") continue;
    for (const account of accountsOf(name, section)) {
      const ours = toChannel(name, account.section, problems);
      const whole = { ...ours, ...allowedGroups(name, ours, problems) };
      const found = channelSetting(name, whole, problems, account.name);
      if (found !== undefined) settings.push(found);
    }
  }
  const providers: Record<string, JsonObject> = {};
  for (const [name, section] of Object.entries(objectAt(config, "models", "providers")))
    if (isObject(section)) providers[name] = toProvider(name, section, problems);
  for (const agent of agents) {
    const inner = join(folder, "agents", agent, "agent");
    const path = join(inner, "auth-profiles.json");
    const fromFile = (await isFile(path)) ? objectAt(await readObject(path, problems), "profiles") : {};
    addKeys(path, fromFile, providers, problems);
    const database = join(inner, "openclaw-agent.sqlite");
    addKeys(database, await databaseProfiles(database, problems), providers, problems);
  }
  const shared = sharedDatabase(folder);
  addKeys(shared, await databaseProfiles(shared, problems), providers, problems);
  settings.push(...providerSettings(providers, problems), ...openclawServers(config, problems));

  const env = Object.keys({ ...objectAt(config, "env"), ...objectAt(config, "env", "vars") });
  const variables = env.filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name));
  if (variables.length > 0)
    problems.push({
      what: `env: ${variables.join(", ")}`,
      why: "put these into secrets.json or the environment yourself",
    });
  return settings;
}

/** Its servers with tools, by our keys. What stays behind of one is told by name, never by value. */
function openclawServers(config: JsonObject, problems: Problem[]): readonly FoundSetting[] {
  const servers = { ...objectAt(config, "mcpServers"), ...objectAt(config, "mcp", "servers") };
  const known = new Set(["name", "transport", ...serverKeys]);
  const ours = Object.entries(servers).map(([name, server]) => {
    const { transport, workingDirectory, ...rest } = isObject(server) ? server : {};
    const left = Object.keys(rest).filter((key) => !known.has(key));
    if (left.length > 0)
      problems.push({
        what: `mcp.servers.${name}: ${left.join(", ")}`,
        why: "maxclaw has no such setting of a server",
      });
    return [
      name,
      {
        ...rest,
        ...((rest.type ?? transport) ? { type: rest.type ?? transport } : {}),
        ...((rest.cwd ?? workingDirectory) ? { cwd: rest.cwd ?? workingDirectory } : {}),
      },
    ];
  });
  return serverSettings(Object.fromEntries(ours));
}

function toChannel(name: string, section: JsonObject, problems: Problem[]): JsonObject {
  // There a channel that is written down is on.
  const isOn = section.enabled !== false;
  const imports = importsOf(ownNameOf(name));
  if (imports?.fromOpenclaw === undefined) return { ...section, enabled: isOn };
  let isUnread = false;
  const ours = imports.fromOpenclaw(section, (value) => {
    const secret = toSecret(`channels.${name}`, value, problems);
    isUnread ||= secret === undefined && value !== undefined && value !== "";
    return secret;
  });
  // Not each secret is needed: a password does without a token.
  const lacks = isUnread || (imports.loginKeys ?? ["token"]).every((key) => !ours[key]);
  const own = Array.isArray(section.allowFrom) ? section.allowFrom : [];
  const dm = at(section, "dm", "allowFrom");
  const allowFrom = [...own, ...(Array.isArray(dm) ? dm : [])];
  return { ...section, enabled: isOn && !lacks, ...ours, allowFrom };
}

function toProvider(name: string, section: JsonObject, problems: Problem[]): JsonObject {
  const api = textAt(section, "api");
  const isGemini = providerName(name) === "gemini" && api === "google-generative-ai";
  if (api !== undefined && !/^(openai|anthropic)-/.test(api) && !isGemini)
    problems.push({ what: `models.providers.${name}.api: ${api}`, why: "maxclaw does not speak it; openai is tried" });
  const models = (Array.isArray(section.models) ? section.models : []).flatMap((model) => {
    const id = textAt(model, "id");
    if (id === undefined) return [];
    const input = at(model, "input");
    return [
      {
        id,
        ...numbers(model, "maxTokens", "contextWindow"),
        ...(Array.isArray(input) ? { supportsImageInput: input.includes("image") } : {}),
      },
    ];
  });
  const headers = objectAt(section, "headers");
  return {
    apiKey: toSecret(`models.providers.${name}`, section.apiKey, problems),
    // Ours is reached at its OpenAI-compatible address.
    ...(isGemini ? {} : { apiBase: section.baseUrl }),
    apiFormat: api?.startsWith("anthropic-") ? "anthropic" : "openai",
    ...(models.length === 0 ? {} : { models }),
    ...(Object.values(headers).every((value) => typeof value === "string") ? { extraHeaders: headers } : {}),
  };
}

/** Keys are kept apart from the config, in a file or in a database. */
function addKeys(path: string, profiles: JsonObject, providers: Record<string, JsonObject>, problems: Problem[]): void {
  for (const [name, profile] of Object.entries(profiles)) {
    const provider = textAt(profile, "provider");
    if (provider === undefined) continue;
    if (textAt(profile, "type") !== "api_key") {
      problems.push({ what: `${path}: ${name}`, why: "only API keys are imported: log in again" });
      continue;
    }
    const apiKey = toSecret(`${path}: ${name}`, at(profile, "key") ?? at(profile, "keyRef"), problems);
    const known = providers[provider];
    if (apiKey !== undefined && known?.apiKey === undefined) providers[provider] = { ...known, apiKey };
  }
}

/** A secret, or the variable that it is in: `{source: "env", id}`. */
function toSecret(what: string, value: unknown, problems: Problem[]): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (!isObject(value)) return undefined;
  const id = textAt(value, "id");
  if (value.source === "env" && id !== undefined) return `\${${id}}`;
  problems.push({
    what,
    why: "its secret is kept in a way that maxclaw does not know: write it into the config yourself",
  });
  return undefined;
}

function numbers(model: unknown, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = at(model, key);
      return typeof value === "number" && Number.isInteger(value) && value >= 0 ? [[key, value]] : [];
    }),
  );
}
