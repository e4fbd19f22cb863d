import type { Command } from "commander";
import { suggest } from "../../util/text/suggest.js";

/** `help` at the program and at each group of commands: of the library's own an unknown word is met with the whole list and no reason. */
export function addHelpCommands(command: Command): void {
  const below = command.commands;
  if (below.length === 0) return;
  for (const one of below) addHelpCommands(one);
  if (command.parent !== null)
    command.showHelpAfterError(
      `There is: ${namesIn(command).join(", ")}. Run ${pathOf(command)} --help for what each of them does.`,
    );
  command.helpCommand(false);
  command
    .command("help")
    .description("Show help for a command")
    .argument("[command...]")
    .action((names: readonly string[]) => find(command, names).outputHelp());
}

function find(command: Command, names: readonly string[]): Command {
  return names.reduce((at, name) => {
    const next = at.commands.find((one) => one.name() === name || one.aliases().includes(name));
    if (next !== undefined) return next;
    const near = suggest(name, namesIn(at));
    const meant = near === undefined ? "" : `\n(Did you mean ${near}?)`;
    return at.error(`error: unknown command '${name}'${meant}`, { code: "commander.unknownCommand", exitCode: 2 });
  }, command);
}

/** Without those that are not shown. */
function namesIn(command: Command): readonly string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name())
    .filter((name) => name !== "help");
}

/** As people type it. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
