import type { Command } from "commander";
import type { CheckedLedger } from "../../../offline/ledger.js";
import type { CommandContext } from "../../context.js";
import { exitCodes, whileChecking } from "../../exit.js";
import { harmless, print, printJson, printNote } from "../../text/output.js";

interface Flags {
  readonly config?: string;
  readonly json?: true;
}

export function addLedgerCommand(program: Command): void {
  const ledger = program.command("ledger").description("Account for every message that was ever accepted");
  ledger
    .command("check")
    .description(
      "Check that each accepted message was answered or waits; exit code 1 if one is lost, 3 if this, or a part of it, could not be checked",
    )
    .option("-c, --config <file>", "use this config file, if no gateway is running")
    .option("--json", "as JSON, every message")
    .action(check);
  ledger
    .command("settle")
    .description("Mark a lost message as dealt with, so that it is no longer reported as lost")
    .argument("<message...>", "as maxclaw ledger check names it")
    .option("-c, --config <file>", "use this config file, to find the workspace")
    .option("--json", "as JSON")
    .action(settle);
}

async function check(flags: Flags): Promise<void> {
  const [{ openContext }, { summaryOf, uncountedLines }] = await Promise.all([
    import("../../context.js"),
    import("../../text/records/ledger.js"),
  ]);
  const context = await openContext(flags.config);
  const { entries, uncounted, problem } = await whileChecking(() => readChecked(context));
  if (problem !== undefined)
    printNote(`maxclaw: ${harmless(problem)} It may find them again: what is called lost here may still wait.`);
  const hasLost = entries.some(({ end }) => end === "lost");
  const isWhole = uncounted.length === 0 && problem === undefined;
  if (flags.json) printJson({ ok: !hasLost && isWhole, entries, uncounted });
  else for (const line of [...summaryOf(entries), ...uncountedLines(uncounted)]) print(harmless(line));
  if (hasLost) process.exitCode = exitCodes.failure;
  else if (!isWhole) process.exitCode = exitCodes.unchecked;
}

async function readChecked(context: CommandContext): Promise<CheckedLedger> {
  if (context.loaded.config.engine.kind === "embedded") {
    const [{ withFiles }, { checkLedger }] = await Promise.all([
      import("../../gateway/with-files.js"),
      import("../../../offline/ledger.js"),
    ]);
    return await withFiles(context, checkLedger);
  }
  const [{ connectRunning }, { parseLedger }] = await Promise.all([
    import("../../gateway/connect.js"),
    import("../../text/records/ledger.js"),
  ]);
  const client = await connectRunning(context);
  if (client === undefined) throw (await import("../../gateway/in-database.js")).notInFiles(context.loaded.config);
  return { entries: parseLedger(await client.get("/api/ledger")), uncounted: [], problem: undefined };
}

async function settle(messageIds: readonly string[], { config, json }: Flags): Promise<void> {
  const [{ openContext }, { settleLost }] = await Promise.all([
    import("../../context.js"),
    import("../../../offline/ledger.js"),
  ]);
  const { home, loaded } = await openContext(config);
  (await import("../../gateway/in-database.js")).assertInFiles(loaded.config);
  const settled = await settleLost({ home, workspace: loaded.config.agents.defaults.workspace }, messageIds);
  if (json) return printJson({ settled });
  for (const { messageId, sessionKey } of settled) print(`${messageId} in ${sessionKey} is settled`);
}
