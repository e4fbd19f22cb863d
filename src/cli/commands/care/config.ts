import { join } from "node:path";
import type { Command } from "commander";
import { ConfigError, RequestError } from "../../../errors.js";
import { type CommandContext, openContext } from "../../context.js";
import { CommandError, exitCodes } from "../../exit.js";
import { harmless, print, printJson, printNote } from "../../text/output.js";

interface Flags {
  readonly config?: string;
}

export function addConfigCommand(program: Command): void {
  const config = program.command("config").description("Read, change and check the config file");
  const file = "-c, --config <file>";
  config
    .command("get")
    .description("Show a setting, or all of them, with the defaults; secrets are shown as stars")
    .argument("[key]", 'e.g. gateway.port, or prices["gpt-5.6"]')
    .option("--show-secrets", "show them as they are in the file")
    .option(file, "look at this file")
    .action(getSetting);
  config
    .command("set")
    .description("Change a setting; comments and all else in the file stay")
    .argument("<key>", "e.g. agents.defaults.model")
    .argument("<value>", "a text, or JSON")
    .option(file, "change this file")
    .action(changeSetting);
  config
    .command("unset")
    .description("Remove a setting from the file, so that its default applies")
    .argument("<key>", "e.g. agents.defaults.model")
    .option(file, "change this file")
    .action((key: string, flags: Flags) => changeSetting(key, undefined, flags));
  config
    .command("check")
    .description("Say what is wrong in the file; exit code 1 if something is")
    .option(file, "check this file")
    .action(checkConfig);
  config
    .command("schema")
    .description("Show what a config can hold, as a JSON schema for editors")
    .action(async () => {
      const [{ jsonSchemaOf }, { configSchema }] = await Promise.all([
        import("../../../config/settings/json-schema.js"),
        import("../../../config/schema.js"),
      ]);
      printJson(jsonSchemaOf(configSchema));
    });
  config
    .command("path")
    .description("Show where the config file is, or would be")
    .action(async () => print(pathOf(await openContext())));
}

function pathOf({ home, loaded }: CommandContext): string {
  return loaded.path ?? join(home, "config.json");
}

/** Nothing is done where the file cannot be read. */
async function openSettings({ home, loaded }: CommandContext) {
  const { SettingsFile } = await import("../../../config/settings/settings-file.js");
  const live = { running: loaded.config, look: async () => ({ restart: [] }), takes: () => false, problems: () => [] };
  return new SettingsFile({ home, path: loaded.path, env: process.env, live });
}

async function getSetting(key: string | undefined, flags: Flags & { readonly showSecrets?: true }): Promise<void> {
  const context = await openContext(flags.config);
  const [{ settingPath }, { inside }] = await Promise.all([
    import("../../../config/settings/one-setting.js"),
    import("../../../config/settings/hide.js"),
  ]);
  const file = await openSettings(context);
  const root = await (flags.showSecrets ? file.whole() : file.read().then(({ config }) => config)).catch(refused);
  const path = key === undefined ? [] : await asTyped(() => settingPath(key, root));
  const value = path.reduce<unknown>((inner, part) => inside(inner, part), root);
  if (value === undefined) throw new CommandError(`${key} is not set.`);
  if (typeof value === "string") print(harmless(value));
  else printJson(value);
}

async function changeSetting(key: string, typed: string | undefined, flags: Flags): Promise<void> {
  const context = await openContext(flags.config);
  const path = pathOf(context);
  const { home } = context;
  const around = { home, env: process.env };
  const [{ assertMayGo, pathToRemove, settingFrom, settingPath }, { inTurn, readRaw }] = await Promise.all([
    import("../../../config/settings/one-setting.js"),
    import("../../../config/edit.js"),
  ]);
  const place = await inTurn(path, async (edit) => {
    const raw = await (await openSettings(context)).raw().catch(refused);
    const found = await asTyped(() => (typed === undefined ? pathToRemove : settingPath)(key, raw));
    if (typed === undefined) {
      if ((await readRaw(path, found)) === undefined) throw new CommandError(`${key} is not set in ${path}.`);
      const { outermostEmptied } = await import("../../../config/settings/emptied.js");
      const gone = await outermostEmptied(path, found);
      await asTyped(() => assertMayGo(raw, gone, around));
      await edit([{ path: gone }]);
    } else await edit([await asTyped(() => settingFrom(raw, found, typed, around))]);
    return found;
  });
  print(`${place.join(".")} was ${typed === undefined ? "taken out of" : "set in"} ${path}.`);
  const { describeEffect } = await import("../../gateway/config-effect.js");
  const effect = await describeEffect(context, path, [place.join(".")]);
  printNote(effect ?? "No gateway is running: the change takes effect at the next start.");
}

async function checkConfig(flags: Flags): Promise<void> {
  const context = await openContext(flags.config);
  const { loaded } = context;
  const { unusableModels } = await import("../../../providers/catalogue/find-model.js");
  const problems = [...loaded.problems, ...unusableModels(loaded.config)];
  for (const problem of problems) print(harmless(problem));
  if (problems.length > 0) process.exitCode = loaded.unparsable === undefined ? exitCodes.failure : exitCodes.config;
  else
    print(`${loaded.path ?? "No config file: the defaults"}${loaded.path === undefined ? " count." : " is in order."}`);
  if (flags.config !== undefined) return;
  const { hasEarlierConfig } = await import("../../gateway/config-effect.js");
  if (await hasEarlierConfig(context)) printNote("The running gateway goes on with the config that it had.");
}

/** What is wrong with a key or a value was typed wrongly; with the file nothing is. */
async function asTyped<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ConfigError || error instanceof RequestError
      ? new CommandError(error.message, exitCodes.usage)
      : error;
  }
}

function refused(error: unknown): never {
  throw error instanceof Error ? new CommandError(error.message, exitCodes.config) : error;
}
