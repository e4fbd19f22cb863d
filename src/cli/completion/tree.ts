import type { Argument, Command, Option } from "commander";
import { packageOptions } from "../../util/packages/options.js";

/** What can be at a place: file names, one of these words, what `completion values` lists, or what nobody knows. */
export type Expected =
  | { readonly kind: "files" | "unknown" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "values"; readonly name: ValueName };

/** Lists that are looked up when somebody presses Tab. */
export const valueNames = [
  "sessions",
  "models",
  "providers",
  "settings",
  "mcp",
  "channels",
  "platforms",
  "services",
] as const;
export type ValueName = (typeof valueNames)[number];

export interface Word {
  readonly name: string;
  readonly about: string;
}

export interface OptionWord extends Word {
  /** Undefined: it takes nothing. */
  readonly takes: Expected | undefined;
}

/** A command with what may follow it. */
export interface CommandNode {
  /** As it is typed behind the program's name: `sessions show`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** In their order; what the last one expects goes on where `repeats` is set. */
  readonly args: readonly Expected[];
  readonly repeats: boolean;
}

/** By path and name of an argument. A command that is renamed is noticed by a test. */
export const knownArguments: Readonly<Record<string, ValueName | "files" | "parts">> = {
  "attach key": "sessions",
  "sessions show key": "sessions",
  "sessions sent key": "sessions",
  "sessions fork key": "sessions",
  "sessions delete key": "sessions",
  "events verify key": "sessions",
  "config get key": "settings",
  "config set key": "settings",
  "config unset key": "settings",
  "mcp test name": "mcp",
  "mcp remove name": "mcp",
  "mcp login name": "mcp",
  "add name": "parts",
  "remove name": "parts",
  "skills validate names": "files",
  "skills install source": "files",
  "backup file": "files",
  "restore file": "files",
};

/** By path and name of an option. */
export const knownOptions: Readonly<Record<string, ValueName | "files">> = {
  "agent --session": "sessions",
  "models --provider": "providers",
  "onboard --provider": "providers",
  "onboard --model": "models",
  "onboard --channel": "platforms",
  "sessions list --channel": "channels",
  "cron add --channel": "channels",
  "cron add --chat": "sessions",
  "service install --name": "services",
  "service uninstall --name": "services",
  "service start --name": "services",
  "service stop --name": "services",
  "service restart --name": "services",
  "service status --name": "services",
  "service logs --name": "services",
  "migrate --from": "files",
  "update --from": "files",
};

/** Every command that is not hidden, the program itself first. */
export function commandNodes(command: Command, path = ""): readonly CommandNode[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const args = command.registeredArguments;
  const node: CommandNode = {
    path,
    commands: commands.map((one) => ({ name: one.name(), about: one.description() })),
    options: help.visibleOptions(command).flatMap((option) => optionWords(option, path)),
    args: args.map((argument) => expectedOf(argument, path)),
    repeats: args.at(-1)?.variadic === true,
  };
  const below = commands.filter((one) => one.name() !== "help");
  return [node, ...below.flatMap((one) => commandNodes(one, `${path} ${one.name()}`.trim()))];
}

function optionWords(option: Option, path: string): readonly OptionWord[] {
  const takes = option.required || option.optional ? expectedOfOption(option, path) : undefined;
  const names = option.flags.split(/[ ,|]+/).filter((flag) => flag.startsWith("-"));
  return names.map((name) => ({ name, about: option.description, takes }));
}

function expectedOfOption(option: Option, path: string): Expected {
  if (option.argChoices !== undefined) return { kind: "words", words: option.argChoices };
  if (option.long === "--config") return { kind: "files" };
  return toExpected(knownOptions[`${path} ${option.long}`]);
}

function expectedOf(argument: Argument, path: string): Expected {
  if (argument.argChoices !== undefined) return { kind: "words", words: argument.argChoices };
  return toExpected(knownArguments[`${path} ${argument.name()}`]);
}

function toExpected(known: ValueName | "files" | "parts" | undefined): Expected {
  if (known === undefined) return { kind: "unknown" };
  if (known === "files") return { kind: "files" };
  return known === "parts" ? { kind: "words", words: Object.keys(packageOptions) } : { kind: "values", name: known };
}
