import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigState } from "../../../src/config/live/live-config.js";
import { isObject, type JsonObject } from "../../../src/config/substitute.js";
import type { TestGateway } from "./gateway.js";

/** Changes the config file of a gateway that runs. Resolves with what the gateway has made of it. */
export async function editLive(
  { home, gateway }: Pick<TestGateway, "home" | "gateway">,
  change: (config: JsonObject) => JsonObject,
): Promise<ConfigState> {
  const file = join(home, "config.json");
  await writeFile(file, JSON.stringify(change(await readConfig(file))));
  return await lookedAt(gateway);
}

/** The same for single settings by their whole names; undefined takes one away. */
export async function setLive(
  world: Pick<TestGateway, "home" | "gateway">,
  settings: Readonly<Record<string, unknown>>,
): Promise<ConfigState> {
  return await editLive(world, (config) =>
    Object.entries(settings).reduce((root, [name, value]) => withSetting(root, name.split("."), value), config),
  );
}

/** What the gateway makes of the file as it is now. */
export async function lookedAt({ api }: TestGateway["gateway"]): Promise<ConfigState> {
  // It may be unreadable, which the status tells.
  await api.settings?.read().catch(() => undefined);
  const { config } = await api.status();
  assert.ok(config);
  return config;
}

export function withSetting(root: JsonObject, [key, ...rest]: readonly string[], value: unknown): JsonObject {
  if (key === undefined) return root;
  const { [key]: before, ...others } = root;
  const next = rest.length === 0 ? value : withSetting(isObject(before) ? before : {}, rest, value);
  return next === undefined ? others : { ...others, [key]: next };
}

async function readConfig(file: string): Promise<JsonObject> {
  const config: unknown = JSON.parse(await readFile(file, "utf8"));
  return isObject(config) ? config : {};
}
