import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit.js";
import { segment } from "../gateway/api-client.js";
import { withClient } from "../gateway/with-client.js";
import { print, printJson } from "../text/output.js";

export function addPairCommand(program: Command, version: string): void {
  const pair = program.command("pair").description("Decide who may talk to the assistant");
  pair
    .command("list")
    .description("List who waits and who may talk")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const pairings = await withClient(version, "look", (client) => client.get("/api/pairings"));
      if (json) return printJson(pairings);
      const { printPairings } = await import("../text/pairing.js");
      printPairings(pairings);
    });
  pair
    .command("approve")
    .description("Let the person with this code talk")
    .argument("<code>", "the code that the assistant gave them")
    .action(async (code: string) => {
      const answer = await withClient(version, "change", (client) => client.post("/api/pairings/approve", { code }));
      const { nameOfSender } = await import("../text/pairing.js");
      print(`${nameOfSender(answer)} may talk now`);
    });
  pair
    .command("revoke")
    .description("Take away a person's access")
    .argument("<sender>", "channel:sender, e.g. telegram:42")
    .action(async (sender: string) => {
      const colon = sender.indexOf(":");
      if (colon < 1 || colon === sender.length - 1)
        throw new CommandError(`"${sender}" is not a sender. Write channel:sender, e.g. telegram:42`, exitCodes.usage);
      const path = `/api/pairings/${segment(sender.slice(0, colon))}/${segment(sender.slice(colon + 1))}`;
      await withClient(version, "change", (client) => client.delete(path));
      print(`${sender} may not talk any more`);
    });
}
