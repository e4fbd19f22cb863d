import type { Command } from "commander";
import { exitCodes, whileChecking } from "../../exit.js";
import { print, printJson } from "../../text/output.js";

export function addLedgerCommand(program: Command): void {
  const ledger = program.command("ledger").description("Account for every message that was ever accepted");
  ledger
    .command("check")
    .description(
      "Check that each accepted message was answered or waits; exit code 1 if one is lost, 3 if this could not be checked",
    )
    .option("-c, --config <file>", "use this config file, if no gateway runs")
    .option("--json", "as JSON, every message")
    .action(async (flags: { readonly config?: string; readonly json?: true }) => {
      const [{ openContext }, { connectRunning }, { readOfflineLedger }, { parseLedger, summaryOf }] =
        await Promise.all([
          import("../../context.js"),
          import("../../gateway/connect.js"),
          import("../../../offline/ledger.js"),
          import("../../text/ledger.js"),
        ]);
      const context = await openContext(flags.config);
      const { home, loaded } = context;
      const entries = await whileChecking(async () => {
        const client = await connectRunning(context);
        return client === undefined
          ? await readOfflineLedger(home, loaded.config.agents.defaults.workspace)
          : parseLedger(await client.get("/api/ledger"));
      });
      const lost = entries.filter(({ end }) => end === "lost");
      if (flags.json) printJson({ ok: lost.length === 0, entries });
      else for (const line of summaryOf(entries)) print(line);
      if (lost.length > 0) process.exitCode = exitCodes.failure;
    });
}
