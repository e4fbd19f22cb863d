import type { Command } from "commander";
import { segment } from "../gateway/api-client.js";
import { withClient } from "../gateway/with-client.js";
import { print, printJson, printNote } from "../text/output.js";

interface JsonOption {
  readonly json?: true;
}

const idHelp = "as maxclaw dead list shows it";

export function addDeadCommand(program: Command, version: string): void {
  const dead = program.command("dead").description("See messages and replies that were given up, and try them again");
  dead
    .command("list")
    .description("List what was given up, and why")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const answer = await withClient(version, "look", (client) => client.get("/api/dead"));
      if (json) return printJson(answer);
      const { printDeadLetters } = await import("../text/records/dead.js");
      printDeadLetters(answer);
    });
  dead
    .command("show")
    .description("Show one of them as a whole")
    .argument("<id>", idHelp)
    .option("--json", "as JSON")
    .action(async (id: string, { json }: JsonOption) => {
      const answer = await withClient(version, "look", (client) => client.get(pathOf(id)));
      if (json) return printJson(answer);
      const { printDeadLetter } = await import("../text/records/dead.js");
      printDeadLetter(answer);
    });
  dead
    .command("redrive")
    .description("Try it again: answer the message, or send the reply")
    .argument("<id...>", idHelp)
    .option("--json", "as JSON")
    .action(async (ids: readonly string[], { json }: JsonOption) => {
      const isOwn = await withClient(version, "change", async (client, isOwn) => {
        for (const id of ids) {
          await client.post(`${pathOf(id)}/redrive`, {});
          if (!json) print(`${id} is tried again`);
        }
        return isOwn;
      });
      if (json) printJson({ redriven: ids });
      if (isOwn)
        printNote("No gateway is running: it is tried again as soon as one is. Start it with: maxclaw gateway");
    });
  dead
    .command("drop")
    .description("Forget it for good; its conversation still says how it ended")
    .argument("<id...>", idHelp)
    .option("--json", "as JSON")
    .action(async (ids: readonly string[], { json }: JsonOption) => {
      await withClient(version, "change", async (client) => {
        for (const id of ids) {
          await client.delete(pathOf(id));
          if (!json) print(`${id} is forgotten`);
        }
      });
      if (json) printJson({ dropped: ids });
    });
}

function pathOf(id: string): string {
  return `/api/dead/${segment(id)}`;
}
