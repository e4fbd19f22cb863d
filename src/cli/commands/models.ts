import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit.js";
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
      const [{ providersIn, modelsIn }, { presets }] = await Promise.all([
        import("../text/answers.js"),
        import("../../providers/catalogue/presets.js"),
      ]);
      await withClient(version, "look", async (client) => {
        const all = providersIn(await client.get("/api/providers"));
        const wanted = all.filter(({ name, isConfigured }) =>
          provider === undefined ? isConfigured : name === provider,
        );
        if (wanted.length === 0) throw noProvider(provider, all);
        for (const { name, hasKey, isLocal } of wanted) {
          if (!hasKey && !isLocal && Object.hasOwn(presets, name)) {
            failures.push(`${name}: it has no key yet. Add one with: maxclaw onboard --provider ${name}`);
            continue;
          }
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

function noProvider(wanted: string | undefined, all: readonly { readonly name: string }[]): CommandError {
  if (wanted === undefined) return new CommandError("The config has no provider yet. Add one with: maxclaw onboard");
  return new CommandError(
    `There is no provider ${wanted}. There is: ${all.map(({ name }) => name).join(", ")}. Another one is added with its address: maxclaw onboard --provider ${wanted} --api-base URL`,
    exitCodes.usage,
  );
}
