import { type Command, InvalidArgumentError } from "commander";
import type { InstallFlags, ServiceFlags } from "../../care/service-actions.js";

export function addServiceCommand(program: Command): void {
  const service = program
    .command("service")
    .description("Let the system start the gateway, keep it running, and start it again after a crash");
  const add = (name: string, description: string): Command =>
    service
      .command(name)
      .description(description)
      .option("--system", "the service of the machine, as root; default: of your account")
      .option("--name <name>", "for a second gateway on this machine", parseName, "maxclaw");
  add("install", "Write the service, switch it on and start it")
    .option("-c, --config <file>", "start the gateway with this config file")
    .option("--account <name>", "with --system: the account that runs it; default: the one that owns the home")
    .option("--force", "replace a service of another home")
    .option("--no-start", "do not start it now")
    .action(async (flags: InstallFlags) => (await actions()).install(flags));
  add("uninstall", "Stop it and remove it; the home stays").action(async (flags: ServiceFlags) =>
    (await actions()).uninstall(flags),
  );
  for (const [verb, does] of [
    ["start", "Start it, and wait until it is ready"],
    ["stop", "Stop it; running answers have 10 seconds to finish"],
    ["restart", "Stop it and start it again"],
  ] as const)
    add(verb, does).action(async (flags: ServiceFlags) => (await actions()).change(flags, verb));
  add("status", "Show whether it runs; exit code 1 if not")
    .option("--json", "as JSON")
    .action(async (flags: ServiceFlags & { readonly json?: true }) => (await actions()).showStatus(flags));
  add("logs", "Show what the service wrote, with what systemd says about it")
    .option("-f, --follow", "go on with what is written")
    .option("-n, --lines <number>", "how many of the last lines", parseLines, 100)
    .action(async (flags: ServiceFlags & { readonly follow?: true; readonly lines: number }) =>
      (await actions()).showLogs(flags),
    );
}

async function actions() {
  return await import("../../care/service-actions.js");
}

function parseName(text: string): string {
  if (!/^[a-z0-9][a-z0-9_-]{0,39}$/.test(text))
    throw new InvalidArgumentError("A name has up to 40 small letters, digits, - and _.");
  return text;
}

function parseLines(text: string): number {
  const lines = Number(text);
  if (!/^\d+$/.test(text) || lines > 100_000) throw new InvalidArgumentError("A number from 0 to 100000.");
  return lines;
}
