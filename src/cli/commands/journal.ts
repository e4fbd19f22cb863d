import type { Command } from "commander";
import { print, printJson } from "../output.js";

export function addJournalCommand(program: Command): void {
  const journal = program.command("journal").description("Look after the file that makes messages durable");
  journal
    .command("repair")
    .description("Keep every good transaction of a damaged journal; stop the gateway first")
    .option("--json", "as JSON")
    .action(async (flags: { readonly json?: true }) => {
      const [{ openContext }, { repairOfflineJournal }] = await Promise.all([
        import("../context.js"),
        import("../../api/offline-journal.js"),
      ]);
      const { home } = await openContext();
      const repair = await repairOfflineJournal(home);
      if (flags.json) return printJson(repair);
      if (repair.setAside.length === 0) return print("The journal is not damaged. Nothing was changed.");
      print(`Kept ${repair.keptTransactions} transactions; ${repair.lostBytes} bytes could not be read.`);
      for (const path of repair.setAside) print(`The damaged file is kept as ${path}`);
      print("Start the gateway, then run: maxclaw ledger check");
    });
}
