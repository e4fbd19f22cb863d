import { z } from "zod";
import { accountsIn, isAccountName, platformOf, setUpOf, titleOf, wordsOf } from "../../channels/platforms.js";
import { plain } from "../../util/text/suggest.js";
import { isSecretKey } from "../faults/wording.js";
import { keyAt, keysAt, schemaAt, valuePaths } from "../shape.js";
import { isObject, type JsonObject } from "../substitute.js";
import { lockOf } from "./guarded.js";
import { inside } from "./hide.js";
import { jsonSchemaOfValue } from "./json-schema.js";
import type { SettingView, UsedVariable } from "./setting-view.js";

/** A key of the file that nobody here knows. It stays. */
export interface UnknownSetting {
  readonly path: readonly string[];
  readonly value: unknown;
}

export interface OverviewPorts {
  /** The file, with stars instead of secrets. */
  readonly shown: JsonObject;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of `secrets.json`. */
  readonly secretNames: ReadonlySet<string>;
  readonly hasToken: boolean;
  readonly takes: (path: readonly string[]) => boolean;
}

/** Variables that go before the file, and variables that are asked where the file says nothing. */
const before: Readonly<Record<string, string>> = { "gateway.token": "MAXCLAW_TOKEN" };
const behind: Readonly<Record<string, readonly string[]>> = {
  "telemetry.otlpEndpoint": ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
  "telemetry.headers": ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"],
};

/** Every key that the config can have, in the order of the schema, and behind them those of further accounts in the file. */
export function viewsOf(ports: OverviewPorts): readonly SettingView[] {
  const ofAccounts = accountsIn(ports.shown.channels).flatMap((name) =>
    valuePaths(schemaAt(["channels", name]), ["channels", name]),
  );
  return settingKeys([...valuePaths(), ...ofAccounts]).map((key) => ({ ...key, ...stateOf(key.path, ports) }));
}

type SettingKey = Pick<SettingView, "path" | "schema" | "isSecret" | "channel">;

function settingKeys(paths: readonly (readonly string[])[]): readonly SettingKey[] {
  return paths.flatMap((path) => {
    const schema = schemaAt(path, false);
    const key = path.at(-1) ?? "";
    const isSecret = isSecretKey(key) || key === "headers" || key === "env";
    return schema instanceof z.ZodType
      ? [{ path, schema: jsonSchemaOfValue(schema, isSecret), isSecret, ...channelWords(path) }]
      : [];
  });
}

function channelWords([first, name = "", ...key]: readonly string[]): Pick<SettingView, "channel"> {
  const platform = first === "channels" ? platformOf(name) : undefined;
  const title = titleOf(name);
  if (platform === undefined || title === undefined) return {};
  return { channel: { title, ...wordsOf(platform, key.join(".")), isOffered: setUpOf(name) !== undefined } };
}

function stateOf(path: readonly string[], ports: OverviewPorts): Omit<SettingView, keyof SettingKey> {
  const { env, takes, hasToken } = ports;
  const value = writtenAt(ports.shown, path);
  const name = path.join(".");
  const isGiven = (variable: string): boolean => (env[variable]?.trim() ?? "") !== "";
  const first = [before[name]].find((one) => one !== undefined && isGiven(one));
  const instead = value === undefined || value === "" ? behind[name]?.find(isGiven) : undefined;
  const outer = first ?? instead;
  const variables: readonly UsedVariable[] =
    outer === undefined ? variablesIn(value, ports) : [{ name: outer, from: "environment" }];
  return {
    effect: takes(path) ? "now" : "restart",
    locked: lockOf(path, hasToken),
    source: outer === undefined ? (value === undefined ? "default" : "file") : "environment",
    ...(value === undefined ? {} : { value }),
    variables,
  };
}

function variablesIn(value: unknown, { env, secretNames }: OverviewPorts): readonly UsedVariable[] {
  const names = [...JSON.stringify(value ?? null).matchAll(/(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)]
    .filter(([, dollar]) => dollar === "")
    .map(([, , name = ""]) => name);
  return [...new Set(names)].map((name) => ({
    name,
    from: env[name] !== undefined ? "environment" : secretNames.has(name) ? "secrets.json" : "nowhere",
  }));
}

/** The value of a key in the file, however the key is spelled there. */
export function writtenAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce((value: unknown, key) => {
    const exact = inside(value, key);
    if (exact !== undefined || !isObject(value) || isAccountName(key)) return exact ?? undefined;
    const spelled = Object.keys(value).find((each) => plain(each) === plain(key) && !isAccountName(each));
    return spelled === undefined ? undefined : (inside(value, spelled) ?? undefined);
  }, root);
}

/** What is in the file and in no config: shown, and kept. */
export function unknownIn(shown: unknown, path: readonly string[] = []): readonly UnknownSetting[] {
  if (Array.isArray(shown)) return shown.flatMap((entry, at) => unknownIn(entry, [...path, String(at)]));
  if (!isObject(shown)) return [];
  const isFree = keysAt(path) === undefined;
  return Object.entries(shown).flatMap(([key, value]) => {
    const here = [...path, key];
    if (path.length === 0 && (key === "$schema" || key === "mcpServers")) return [];
    if (isFree) return schemaAt(here) === undefined ? [] : unknownIn(value, here);
    const spelled = keyAt(path, key);
    return spelled === undefined ? [{ path: here, value }] : unknownIn(value, [...path, spelled]);
  });
}
