import type { Command } from "commander";

/** `help` at the program and at each group of commands: of the library's own an unknown word is met with the whole list and no reason. */
export function addHelpCommands(command: Command): void {
  const below = command.commands;
  if (below.length === 0) return;
  for (const one of below) addHelpCommands(one);
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
    return next ?? at.error(`error: unknown command '${name}'`, { code: "commander.unknownCommand", exitCode: 2 });
  }, command);
}
