import type { Command } from "commander";
import { CommandError } from "../exit.js";
import { withClient } from "../gateway/with-client.js";
import type { ShownModel } from "../text/answers.js";
import { print, printJson, printNote } from "../text/output.js";

export function addModelsCommand(program: Command, version: string): void {
  program
    .command("models")
    .description("Ask the providers of the config which models they have")
    .option("--provider <name>", "only this one")
    .option("--json", "as JSON")
    .action(async ({ provider, json }: { readonly provider?: string; readonly json?: true }) => {
      const found: Record<string, readonly ShownModel[]> = {};
      const failures: string[] = [];
      const { configuredIn, modelsIn } = await import("../text/answers.js");
      await withClient(version, "look", async (client) => {
        const names = provider === undefined ? configuredIn(await client.get("/api/providers")) : [provider];
        if (names.length === 0) throw new CommandError("The config has no provider yet. Add one with: maxclaw onboard");
        for (const name of names) {
          try {
            found[name] = modelsIn(await client.post("/api/providers/models", { name }));
          } catch (error) {
            if (!(error instanceof CommandError)) throw error;
            failures.push(`${name}: ${error.message}`);
          }
        }
      });
      if (json) printJson(found);
      else for (const [name, models] of Object.entries(found)) for (const { id } of models) print(`${name}/${id}`);
      for (const failure of failures) printNote(failure);
      if (failures.length > 0) process.exitCode = 1;
    });
}
