import type { Imports } from "../channels/platform.js";
import { importsOf, ownNameOf } from "../channels/platforms.js";
import { absentChannels } from "../config/schema.js";
import { isObject, type JsonObject } from "./openclaw/json5.js";
import { providerName, withAddress } from "./provider-names.js";
import { at, objectAt, textAt } from "./read-files.js";
import type { FoundSetting, Problem } from "./source.js";

const providerKeys = ["apiKey", "apiBase", "apiFormat", "models", "headers", "timeouts"];
export const serverKeys = ["command", "args", "env", "cwd", "url", "headers", "type", "enabled", "disabled"];
const defaultKeys = ["model", "fallbacks", "maxTokens", "temperature", "maxToolIterations", "timezone"];

/** A channel's section with our keys. `name`: as it is called here. Undefined where it holds nothing that lets it connect, or is none of ours. */
export function channelSetting(
  theirs: string,
  section: JsonObject,
  problems: Problem[],
  name = ownNameOf(theirs),
): FoundSetting | undefined {
  const imports = importsOf(ownNameOf(theirs));
  if (imports === undefined) {
    const isUsed = section.enabled !== false && (section.enabled === true || hasText(section));
    if (isUsed && (absentChannels.includes(name) || section.enabled === true))
      problems.push({ what: `channels.${name}`, why: "maxclaw does not have this channel" });
    return undefined;
  }
  const value = { ...pick(section, [...imports.keys, "allowGroups"]) };
  const todo = imports.todo?.(section);
  const says = (key: string): boolean => value[key] !== undefined && value[key] !== false && value[key] !== "";
  const isEmpty = ![...(imports.loginKeys ?? ["token"]), "enabled"].some(says);
  if (isEmpty && (todo === undefined || value.allowFrom === undefined)) return undefined;
  if (todo !== undefined) problems.push({ what: `channels.${name}`, why: todo });
  const { allowed, others } = allowlist(imports.ids, value.allowFrom);
  // As far as it goes: who cannot be told from a stranger shows a pairing code.
  if (value.allowFrom !== undefined) value.allowFrom = allowed;
  if (others.length > 0)
    problems.push({
      what: `channels.${name}.allowFrom: ${others.join(", ")}`,
      why: "people are recognised by their numeric id",
    });
  const remark = allowed.includes("*")
    ? "anyone may write to it, as before"
    : allowed.length === 0
      ? "nobody is on its allowFrom: who writes gets a pairing code"
      : undefined;
  return { path: ["channels", name], value, ...(remark === undefined ? {} : { remark }) };
}

/**
 * The groups that a section allows, as ours: a list, or the keys of an object whose values may say no. Where it does not hold on to a
 * list, there is none.
 */
export function allowedGroups(name: string, section: JsonObject, problems: Problem[]): JsonObject {
  const policy = section.groupPolicy;
  if (policy === "disabled")
    problems.push({ what: `channels.${name}.groupPolicy`, why: "maxclaw answers in groups: keep the bot out of them" });
  if (policy !== "allowlist") return {};
  const chatOf = importsOf(ownNameOf(name))?.chatOf;
  const isOn = (value: unknown): boolean => at(value, "allow") !== false && at(value, "enabled") !== false;
  const named = ["groups", "channels", "rooms"].flatMap((key) =>
    Object.entries(objectAt(section, key)).flatMap(([id, value]) => (isOn(value) ? [id] : [])),
  );
  const listed = Array.isArray(section.groupAllowFrom) ? section.groupAllowFrom.map(String) : [];
  const people = importsOf(ownNameOf(name))?.ids?.pattern;
  const ids = [...named, ...listed.filter((id) => people?.test(id) !== true)];
  const groups = ids.flatMap((id) => (id === "*" ? [] : (chatOf?.(id, "group")?.slice(0, 1) ?? [])));
  return groups.length === 0 || named.includes("*") ? {} : { allowGroups: [...new Set(groups)] };
}

/** Providers that have a key, an address or models. */
export function providerSettings(sections: JsonObject, problems: Problem[]): readonly FoundSetting[] {
  return Object.entries(sections).flatMap(([name, section]): FoundSetting[] => {
    if (!isObject(section)) return [];
    if (textAt(section, "apiKey") === undefined && textAt(section, "apiBase") === undefined) return [];
    if (/^(openaiCodex|githubCopilot|xaiGrok|bedrock|azureOpenai|assemblyai)$/.test(name)) {
      problems.push({ what: `providers.${name}`, why: "maxclaw does not have this way to reach a model" });
      return [];
    }
    const ours = providerName(name);
    const value = withAddress(ours, pick(section, providerKeys));
    if (value === undefined) {
      problems.push({
        what: `providers.${name}`,
        why: "maxclaw does not know its address: write its key and apiBase into the config yourself",
      });
      return [];
    }
    const headers = objectAt(section, "extraHeaders");
    const more = Object.keys(headers).length === 0 ? {} : { headers };
    return [{ path: ["providers", ours], value: { ...value, ...more } }];
  });
}

/** What the Go maxclaw and nanobot say with the same words: the model, web search, servers with tools. */
export function commonSettings(config: JsonObject): readonly FoundSetting[] {
  const settings: FoundSetting[] = [];
  const add = (value: unknown, ...path: readonly string[]): void => {
    if (value !== undefined && value !== null && value !== "") settings.push({ path, value });
  };
  const defaults = objectAt(config, "agents", "defaults");
  for (const key of defaultKeys) add(defaults[key], "agents", "defaults", key);
  const mode = textAt(defaults, "executionMode");
  if (mode !== undefined) {
    const remark = mode === "auto" ? { remark: "tools never ask, as before" } : {};
    settings.push({ path: ["agents", "defaults", "executionMode"], value: mode, ...remark });
  }
  const search = pick(objectAt(config, "tools", "web", "search"), ["provider", "apiKey", "apiBase", "maxResults"]);
  if (textAt(search, "apiKey") !== undefined || textAt(search, "apiBase") !== undefined)
    add(search, "tools", "web", "search");
  const servers = { ...objectAt(config, "mcpServers"), ...objectAt(config, "tools", "mcpServers") };
  return [...settings, ...serverSettings(servers)];
}

/** Servers that offer tools. */
export function serverSettings(servers: JsonObject): readonly FoundSetting[] {
  return Object.entries(servers).flatMap(([name, server]): FoundSetting[] => {
    if (!isObject(server)) return [];
    return [{ path: ["tools", "mcpServers", name], value: pick(server, serverKeys) }];
  });
}

/** Older configs have words_like_this for what newer ones write as wordsLikeThis. Names that people chose stay. */
export function toCamelKeys(value: unknown, depth = 0): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === "env" || key === "headers" || key === "extraHeaders" || key === "extra_headers")
        return [toCamel(key), inner];
      return [toCamel(key), depth > 8 ? inner : toCamelKeys(inner, depth + 1)];
    }),
  );
}

export function toCamel(key: string): string {
  const camel = key.replaceAll(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  // The Go maxclaw's spelling.
  return camel.replace(
    /^(imap|smtp)Use(Ssl|Tls)$/,
    (_, server: string, way: string) => `${server}Use${way.toUpperCase()}`,
  );
}

function pick(section: JsonObject, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = at(section, key);
      return value === undefined || value === null || value === "" ? [] : [[key, value]];
    }),
  );
}

function hasText(section: JsonObject): boolean {
  return Object.values(section).some((value) => typeof value === "string" && value !== "");
}

function allowlist(
  ids: Imports["ids"],
  value: unknown,
): { readonly allowed: readonly string[]; readonly others: readonly string[] } {
  const entries = (Array.isArray(value) ? value : [])
    .map((entry) => String(entry).trim())
    .filter((entry) => entry !== "");
  if (ids === undefined) return { allowed: entries, others: [] };
  const prefix = new RegExp(`^(?:(?:${ids.prefixes.join("|")}):)+`, "i");
  const plain = entries.map((entry) => entry.replace(prefix, "").replace(/^(\d+)\|.*$/, "$1"));
  const isId = (entry: string): boolean => entry === "*" || ids.pattern.test(entry) || /\$\{\w+\}/.test(entry);
  return { allowed: plain.filter(isId), others: plain.filter((entry) => !isId(entry)) };
}
