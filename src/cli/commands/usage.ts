import { type Command, InvalidArgumentError } from "commander";
import { printJson } from "../text/output.js";

export function addUsageCommand(program: Command, version: string): void {
  program
    .command("usage")
    .description("Show what the models have used and cost, by day and by model, and what is left of the budgets")
    .option("--days <n>", "so many days, today included", daysOf, 7)
    .option("--json", "as JSON, with senders and scheduled jobs")
    .action(async ({ days, json }: { readonly days: number; readonly json?: true }) => {
      const { withClient } = await import("../gateway/with-client.js");
      const report = await withClient(version, "look", (client) => client.get(`/api/usage?days=${days}`));
      if (json) return printJson(report);
      const { printUsage } = await import("../text/usage.js");
      printUsage(report, days);
    });
}

function daysOf(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > 400) throw new InvalidArgumentError("It takes 1 to 400 days.");
  return days;
}
