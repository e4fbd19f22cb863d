import { isRecord } from "../../../client/frames.js";
import type { Api, JsonObject } from "../../gateway/api.js";

/** The config as the gateway shows it: with stars instead of secrets. */
export interface Settings {
  readonly config: JsonObject;
  /** Named with a change, so that it changes nothing that somebody else has changed meanwhile. */
  readonly mark: string;
}

export async function readSettings(api: Api): Promise<Settings> {
  const answer = await api.response("GET", "api/config");
  const config: unknown = await answer.json();
  return { config: isRecord(config) ? config : {}, mark: answer.headers.get("etag") ?? "" };
}

/** Writes what `change` makes of the config as it is now. What it does not return stays. */
export async function changeSettings(api: Api, change: (config: JsonObject) => JsonObject): Promise<void> {
  const { config, mark } = await readSettings(api);
  await api.put("api/config", change(config), { headers: { "if-match": mark }, timeoutMs: 30_000 });
}

/** The value at the end of a path, where there is one. */
export function settingAt(config: JsonObject, ...path: readonly string[]): unknown {
  return path.reduce((value: unknown, key) => (isRecord(value) ? value[key] : undefined), config);
}

export function sectionAt(config: JsonObject, ...path: readonly string[]): JsonObject {
  const found = settingAt(config, ...path);
  return isRecord(found) ? found : {};
}

export function textsAt(config: JsonObject, ...path: readonly string[]): readonly string[] {
  const found = settingAt(config, ...path);
  return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
}
