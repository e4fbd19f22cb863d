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
      const [{ findContext }, { connectRunning }] = await Promise.all([
        import("../context.js"),
        import("../gateway/connect.js"),
      ]);
      const context = await findContext(flags.config);
      const added = await addedTo(context.home);
      const client = await connectRunning(context);
      if (client !== undefined) {
        const status = await withFiles(toObject(await client.get("/api/status")), context);
        if (status.problems.length + added.problems.length > 0) process.exitCode = 1;
        if (flags.json) return printJson({ running: true, address: client.address, ...status, added: added.names });
        const { printStatus } = await import("../text/status.js");
        printStatus(status, client.address);
        return printAdded(added);
      }
      await printOffline(context, version, { added, isJson: flags.json === true });
    });
}

interface Added {
  readonly names: readonly string[];
  readonly problems: readonly string[];
}

/** What `maxclaw add` has installed. */
async function addedTo(home: string): Promise<Added> {
  const { listOptions } = await import("../../packages/list.js");
  const { options, problems } = listOptions(home);
  return { names: options.flatMap(({ name, state }) => (state === "added" ? [name] : [])), problems };
}

function printAdded({ names, problems }: Added): void {
  if (names.length > 0) print(`Added:     ${names.join(", ")}`);
  for (const problem of problems) print(`Problem:   ${harmless(problem)}`);
}

async function printOffline(
  { home, loaded }: CommandContext,
  version: string,
  { added, isJson }: { readonly added: Added; readonly isJson: boolean },
): Promise<void> {
  const { config, path } = loaded;
  const { workspace, model, executionMode } = config.agents.defaults;
  const { readOfflineStatus } = await import("../../offline/status.js");
  const { problems: found, ...waiting } = await readOfflineStatus({ home, workspace }, config);
  const problems = [...loaded.problems, ...found];
  if (problems.length + added.problems.length > 0) process.exitCode = 1;
  if (isJson)
    return printJson({
      running: false,
      version,
      model,
      executionMode,
      home,
      workspace,
      config: path,
      problems: [...problems, ...added.problems],
      added: added.names,
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
  printAdded(added);
  for (const problem of problems) print(`Problem:   ${harmless(problem)}`);
}

/** A gateway notices a full disk, and a file that it cannot use, only when it writes: who asks before wants to know, too. */
async function withFiles(status: object, { home, loaded }: CommandContext) {
  const problems: readonly unknown[] = "problems" in status && Array.isArray(status.problems) ? status.problems : [];
  const isKnown = problems.some((problem) => String(problem).startsWith("The disk refuses writes"));
  const [{ fullDisk }, { findUnusable }, { unusableSentence }] = await Promise.all([
    import("../../util/files/free-room.js"),
    import("../../offline/unusable-files.js"),
    import("../../offline/status.js"),
  ]);
  const { workspace } = loaded.config.agents.defaults;
  const full = isKnown ? undefined : await fullDisk([home, workspace]);
  const unusable = (await findUnusable({ home, workspace })).map(unusableSentence);
  return { ...status, problems: [...problems, ...(full === undefined ? [] : [full]), ...unusable] };
}

function toObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
