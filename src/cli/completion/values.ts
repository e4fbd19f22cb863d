import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { keysAt } from "../../config/shape.js";
import { offeredChannels } from "../../onboarding/set-up.js";
import { presets } from "../../providers/catalogue/presets.js";
import { mark } from "../../service/manager.js";
import { keyOfLogName } from "../../sessions/file-names.js";
import { type CommandContext, findContext } from "../context.js";
import type { ValueName } from "./tree.js";

/** Somebody waits for it with a finger on Tab. */
const mostValues = 500;
const deepest = 4;

/** What no shell reads as anything but a word: others choose the keys of sessions, and bash would run what is in them. */
const plainWord = /^[\p{L}\p{N}_@%+=:,./][\p{L}\p{N}_@%+=:,./#-]*$/u;

/** What may be typed there, by what is on the disk: no gateway is asked, and none is started. */
export async function listValues(name: ValueName): Promise<readonly string[]> {
  return (await allValues(name)).filter((value) => plainWord.test(value));
}

async function allValues(name: ValueName): Promise<readonly string[]> {
  const context = await findContext();
  const { providers, tools, channels } = context.loaded.config;
  switch (name) {
    case "sessions":
      return await sessionKeys(context);
    case "models":
      return modelsOf(context);
    case "providers":
      return [...new Set([...Object.keys(providers), ...Object.keys(presets)])];
    case "settings":
      return settingsBelow([]);
    case "mcp":
      return Object.keys(tools.mcpServers);
    case "channels":
      return Object.keys(channels);
    case "platforms":
      return [...offeredChannels, "none"];
    case "services":
      return await installedServices();
    default:
      return name satisfies never;
  }
}

/** By the names of their files. Keys that are too long for one are left out. */
async function sessionKeys({ loaded }: CommandContext): Promise<readonly string[]> {
  const folder = join(loaded.config.agents.defaults.workspace, ".sessions");
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((file) => keyOfLogName(file) ?? []).slice(0, mostValues);
}

function modelsOf({ loaded }: CommandContext): readonly string[] {
  const { agents, providers } = loaded.config;
  const { model, fallbacks } = agents.defaults;
  const own = Object.entries(providers).flatMap(([name, { models }]) => models.map(({ id }) => `${name}/${id}`));
  return [...new Set([...(model === undefined ? [] : [model]), ...fallbacks, ...own])];
}

function settingsBelow(path: readonly string[]): readonly string[] {
  const keys = path.length > deepest ? undefined : keysAt(path);
  if (keys === undefined) return path.length === 0 ? [] : [path.join(".")];
  return keys.flatMap((key) => settingsBelow([...path, key]));
}

async function installedServices(): Promise<readonly string[]> {
  const folder = join(process.env.XDG_CONFIG_HOME || join(process.env.HOME ?? homedir(), ".config"), "systemd", "user");
  const files = await readdir(folder).catch(() => []);
  const found: string[] = [];
  for (const file of files.filter((one) => one.endsWith(".service"))) {
    const text = await readFile(join(folder, file), "utf8").catch(() => "");
    if (text.includes(mark)) found.push(file.slice(0, -".service".length));
  }
  return found;
}
