import type { Command } from "commander";
import { segment } from "../gateway/api-client.js";
import { withClient } from "../gateway/with-client.js";
import { print, printJson } from "../text/output.js";

export function addPolicyCommand(program: Command, version: string): void {
  const policy = program.command("policy").description("See what tools may do, and take back what was always allowed");
  policy
    .command("list")
    .description("Show the mode, the rules and what was always allowed")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const answer = await withClient(version, "look", (client) => client.get("/api/policy"));
      if (json) return printJson(answer);
      const { printPolicy } = await import("../text/policy.js");
      printPolicy(answer);
    });
  policy
    .command("revoke")
    .description("Ask again for something that was always allowed")
    .argument("<id>", "as maxclaw policy list shows it")
    .action(async (id: string) => {
      await withClient(version, "change", (client) => client.delete(`/api/policy/grants/${segment(id)}`));
      print(`${id} is no longer always allowed`);
    });
}
