import { type Command, InvalidArgumentError } from "commander";
import type { UpdateFlags } from "../../care/update-actions.js";

export function addUpdateCommand(program: Command, version: string): void {
  program
    .command("update")
    .description(
      "Install a newer version beside this one, try it, switch to it, and go back if the gateway does not come up",
    )
    .option("--check", "only show whether there is one; exit code 1 if there is, 3 if that is not known")
    .option("--to <version>", "this version; default: the newest")
    .option("--from <file>", "from a packed file (maxclaw-<version>.tgz) instead of the registry")
    .option("--restart <command>", "how to start the gateway again, where maxclaw service has not installed it")
    .option("--no-restart", "let the gateway go on as it is; its next start is the new version")
    .option("--wait <seconds>", "how long the gateway may take to be ready", parseWait, 120)
    .option("--name <name>", "of the service", "maxclaw")
    .option("-c, --config <file>", "the config file that the gateway uses")
    .option("--json", "as JSON")
    .action(async (flags: UpdateFlags) => {
      const { checkUpdate, runUpdate } = await import("../../care/update-actions.js");
      await (flags.check === true ? checkUpdate(flags, version) : runUpdate(flags, version));
    });
}

function parseWait(text: string): number {
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds < 1 || seconds > 3600)
    throw new InvalidArgumentError("The wait is a number of seconds from 1 to 3600.");
  return seconds;
}
