import type { Command } from "commander";
import type { CommandContext } from "../context.js";
import { harmless, print, printJson } from "../text/output.js";

export function addStatusCommand(program: Command, version: string): void {
  program
    .command("status")
    .description("Show whether the gateway runs, what it uses and what is wrong; exit code 1 if something is")
    .option("-c, --config <file>", "look at this config file, if no gateway is running")
    .option("--json", "as JSON")
    .action(async (flags: { readonly config?: string; readonly json?: true }) => {
      const [{ openContext }, { connectRunning }] = await Promise.all([
        import("../context.js"),
        import("../gateway/connect.js"),
      ]);
      const context = await openContext(flags.config);
      const client = await connectRunning(context);
      if (client !== undefined) {
        const status = toObject(await client.get("/api/status"));
        if ("problems" in status && Array.isArray(status.problems) && status.problems.length > 0) process.exitCode = 1;
        if (flags.json) return printJson({ running: true, address: client.address, ...status });
        const { printStatus } = await import("../text/status.js");
        return printStatus(status, client.address);
      }
      return printOffline(context, version, flags.json === true);
    });
}

async function printOffline({ home, loaded }: CommandContext, version: string, isJson: boolean): Promise<void> {
  const { config, path } = loaded;
  const { workspace, model, executionMode } = config.agents.defaults;
  const { readOfflineStatus } = await import("../../offline/status.js");
  const { problems: found, ...waiting } = await readOfflineStatus({ home, workspace }, config);
  const problems = [...loaded.problems, ...found];
  if (problems.length > 0) process.exitCode = 1;
  if (isJson)
    return printJson({
      running: false,
      version,
      model,
      executionMode,
      home,
      workspace,
      config: path,
      problems,
      ...waiting,
    });
  const { printConfigured, waitingLines } = await import("../text/status.js");
  print("maxclaw Status");
  print(`maxclaw ${version}: no gateway is running. Start it with: maxclaw gateway`);
  printConfigured(config);
  print(`Home:      ${home}`);
  print(`Config:    ${path ?? "none, defaults are in force. Write one with: maxclaw onboard"}`);
  print(`Workspace: ${workspace}`);
  for (const line of waitingLines(waiting)) print(`Waiting:   ${line}`);
  for (const problem of problems) print(`Problem:   ${harmless(problem)}`);
}

function toObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
