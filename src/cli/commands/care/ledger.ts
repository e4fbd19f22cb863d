import type { Command } from "commander";
import type { GatewayFiles } from "../../../offline/events.js";
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
      "Check that each accepted message was answered or waits; exit code 1 if one is lost, 3 if this could not be checked",
    )
    .option("-c, --config <file>", "use this config file, if no gateway is running")
    .option("--json", "as JSON, every message")
    .action(async (flags: Flags) => {
      const [{ openContext }, { connectRunning }, { readOfflineLedger }, { parseLedger, summaryOf }] =
        await Promise.all([
          import("../../context.js"),
          import("../../gateway/connect.js"),
          import("../../../offline/ledger.js"),
          import("../../text/records/ledger.js"),
        ]);
      const context = await openContext(flags.config);
      const { home, loaded } = context;
      const entries = await whileChecking(async () => {
        const client = await connectRunning(context);
        if (client !== undefined) return parseLedger(await client.get("/api/ledger"));
        (await import("../../gateway/in-database.js")).assertInFiles(loaded.config);
        const { workspace } = loaded.config.agents.defaults;
        await noteDamage({ home, workspace });
        return await readOfflineLedger(home, workspace);
      });
      const lost = entries.filter(({ end }) => end === "lost");
      if (flags.json) printJson({ ok: lost.length === 0, entries });
      else for (const line of summaryOf(entries)) print(line);
      if (lost.length > 0) process.exitCode = exitCodes.failure;
    });
  ledger
    .command("settle")
    .description("Mark a lost message as dealt with, so that it is no longer reported as lost")
    .argument("<message...>", "as maxclaw ledger check names it")
    .option("-c, --config <file>", "use this config file, to find the workspace")
    .option("--json", "as JSON")
    .action(settle);
}

/** A journal that cannot be read to its end makes what waits look lost. */
async function noteDamage(files: GatewayFiles): Promise<void> {
  const { problem } = (await import("../../../offline/doctor.js")).examineJournal(files);
  if (problem !== undefined)
    printNote(`maxclaw: ${harmless(problem)} It may find them again: what is called lost here may still wait.`);
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
