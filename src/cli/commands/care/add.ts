import type { Command } from "commander";
import { messageOf } from "../../../errors.js";
import { CommandError, exitCodes } from "../../exit.js";
import { print, printJson, printNote, printTable } from "../../text/output.js";

export function addPackagesCommands(program: Command): void {
  program
    .command("add")
    .description("Install a part that is too large to come with the program, into the home; without a name, list them")
    .argument("[name]", "e.g. browser or pdf")
    .option("--json", "the list as JSON")
    .action(async (name: string | undefined, { json }: { readonly json?: true }) => {
      if (name === undefined) return await list(json === true);
      const { addOption, assertOption } = await import("../../../packages/change.js");
      asUsage(() => assertOption(name));
      const { home, isRunning } = await place();
      printNote(`Installing ${name} into ${home} …`);
      await addOption(home, name, isRunning);
      print(`${name} is installed.${restart(isRunning)}`);
    });
  program
    .command("remove")
    .description("Remove what `maxclaw add` has installed")
    .argument("<name>", "e.g. browser or pdf")
    .action(async (name: string) => {
      const { removeOption } = await import("../../../packages/change.js");
      const { home, isRunning } = await place();
      await removeOption(home, name);
      print(`${name} is removed.${restart(isRunning)}`);
    });
}

/** Nothing was tried: the word itself is wrong. */
function asUsage(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new CommandError(messageOf(error), exitCodes.usage);
  }
}

const restart = (isRunning: boolean): string =>
  isRunning ? " Restart the gateway, which uses what it began with." : "";

async function place(): Promise<{ readonly home: string; readonly isRunning: boolean }> {
  const [{ assertWhole }, { findHome }, { homedir }, { holderOf }] = await Promise.all([
    import("../../context.js"),
    import("../../../config/home.js"),
    import("node:os"),
    import("../../../offline/running-gateway.js"),
  ]);
  const home = findHome(process.env, process.env.HOME ?? homedir());
  await assertWhole(home);
  return { home, isRunning: (await holderOf(home)) !== undefined };
}

const states = { added: "yes", beside: "yes, beside the program", absent: "no" } as const;

async function list(isJson: boolean): Promise<void> {
  const [{ home }, { listOptions }] = await Promise.all([place(), import("../../../packages/list.js")]);
  const found = listOptions(home);
  if (isJson) return printJson(found);
  const rows = found.options.map(({ name, state, packages, about }) => [
    name,
    states[state],
    packages.join(", "),
    about,
  ]);
  printTable(["NAME", "INSTALLED", "PACKAGES", "FOR"], rows);
  for (const problem of found.problems) printNote(problem);
}
