import type { Command } from "commander";
import { z } from "zod";
import { CommandError } from "../exit.js";
import { withClient } from "../gateway/with-client.js";
import { print, printJson, printNote } from "../text/output.js";

const providersAnswer = z.object({ providers: z.array(z.object({ name: z.string(), isConfigured: z.boolean() })) });
const modelsAnswer = z.object({ models: z.array(z.object({ id: z.string(), name: z.string() })) });

export function addModelsCommand(program: Command, version: string): void {
  program
    .command("models")
    .description("Ask the providers of the config which models they have")
    .option("--provider <name>", "only this one")
    .option("--json", "as JSON")
    .action(async ({ provider, json }: { readonly provider?: string; readonly json?: true }) => {
      const found: Record<string, readonly { readonly id: string; readonly name: string }[]> = {};
      const failures: string[] = [];
      await withClient(version, async (client) => {
        const { providers } = providersAnswer.parse(await client.get("/api/providers"));
        const names =
          provider === undefined ? providers.filter((one) => one.isConfigured).map(({ name }) => name) : [provider];
        if (names.length === 0) throw new CommandError("The config has no provider yet. Add one with: maxclaw onboard");
        for (const name of names) {
          try {
            found[name] = modelsAnswer.parse(await client.post("/api/providers/models", { name })).models;
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
