import { type Command, Option } from "commander";
import type { MigratedHome, MigratedStep, SourceKind } from "../../../offline/migrate.js";
import { exitCodes } from "../../exit.js";
import { harmless, print, printJson, printNote } from "../../text/output.js";

interface Flags {
  readonly from?: string;
  readonly kind?: SourceKind;
  readonly apply?: true;
  readonly config?: string;
  readonly json?: true;
}

export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("Import memory, skills, sessions, jobs and config of an old maxclaw, nanobot or OpenClaw")
    .option("--from <folder>", "its home; default: all that are in their usual places")
    .addOption(
      new Option("--kind <kind>", "whose home it is; default: by its files").choices([
        "maxclaw",
        "nanobot",
        "openclaw",
      ]),
    )
    .option("--apply", "do it; without it only says what would be done. Stop the gateway first")
    .option("-c, --config <file>", "use this config file")
    .option("--json", "as JSON")
    .action(async (flags: Flags) => {
      const [{ openContext }, { migrate }, { join, resolve }, { homedir }] = await Promise.all([
        import("../../context.js"),
        import("../../../offline/migrate.js"),
        import("node:path"),
        import("node:os"),
      ]);
      const { home, loaded } = await openContext(flags.config);
      const isApplied = flags.apply === true;
      const configFile = loaded.unparsable === undefined ? (loaded.path ?? join(home, "config.json")) : undefined;
      const homes = await migrate({
        target: { home, workspace: loaded.config.agents.defaults.workspace, configFile },
        homedir: process.env.HOME ?? homedir(),
        from: flags.from === undefined ? undefined : resolve(flags.from),
        kind: flags.kind,
        isApplied,
        now: Date.now(),
      });
      if (flags.json) printJson({ home, applied: isApplied, homes });
      else printHomes(homes, home, isApplied);
      const { driver } = loaded.config.storage;
      if (driver !== "file" && homes.some(({ steps }) => steps.some(({ area }) => area === "sessions")))
        printNote(`maxclaw: session documents are kept in ${driver}: an old session is listed once it has been opened`);
      if (homes.some(({ steps }) => steps.some(({ status }) => status === "failed")))
        process.exitCode = exitCodes.failure;
    });
}

const words: Readonly<Record<MigratedStep["status"], string>> = {
  new: "new",
  same: "there already",
  kept: "kept yours",
  failed: "FAILED",
};

function printHomes(homes: readonly MigratedHome[], home: string, isApplied: boolean): void {
  for (const { kind, folder, steps, problems } of homes) {
    print(`${kind}: ${folder} → ${home}`);
    let area = "";
    for (const step of steps) {
      if (step.area !== area) print(`  ${step.area}`);
      area = step.area;
      const word = isApplied && step.status === "new" ? "imported" : words[step.status];
      print(
        `    ${word.padEnd(13)}  ${harmless(step.what)}${step.remark === undefined ? "" : ` (${harmless(step.remark)})`}`,
      );
    }
    if (problems.length > 0) print("  to look at");
    for (const { what, why } of problems) print(`    ${harmless(what)}: ${harmless(why)}`);
  }
  const fresh = homes.flatMap(({ steps }) => steps).filter(({ status }) => status === "new").length;
  if (isApplied) print(`${fresh} imported. The old files were only read. Next: maxclaw gateway`);
  else if (fresh === 0) print("There is nothing new to import.");
  else print(`Nothing was changed. ${fresh} would be imported: stop the gateway, then add --apply.`);
}
