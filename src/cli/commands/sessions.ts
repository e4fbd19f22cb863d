import { type Command, InvalidArgumentError } from "commander";
import { segment } from "../api-client.js";
import { CommandError } from "../exit.js";
import { print, printJson } from "../output.js";
import { withClient } from "../with-client.js";

interface ListFlags {
  readonly channel?: string;
  readonly limit: number;
  readonly json?: true;
}

export function addSessionsCommand(program: Command, version: string): void {
  const sessions = program.command("sessions").description("List, show and delete conversations");
  sessions
    .command("list")
    .description("List the conversations, the latest first")
    .option("--channel <name>", "only those of this channel")
    .option("--limit <count>", "at most this many, up to 1000", parseLimit, 50)
    .option("--json", "as JSON")
    .action(async ({ channel, limit, json }: ListFlags) => {
      const query = new URLSearchParams({ limit: String(limit), ...(channel === undefined ? {} : { channel }) });
      const page = await withClient(version, (client) => client.get(`/api/sessions?${query}`));
      if (json) return printJson(page);
      const { printSessions } = await import("../session-text.js");
      printSessions(page);
    });
  sessions
    .command("show")
    .description("Show what was said in a conversation")
    .argument("<key>", "e.g. telegram:42")
    .option("--json", "as JSON, with everything that is known about it")
    .action(async (key: string, { json }: { readonly json?: true }) => {
      const document = await withClient(version, (client) => client.get(`/api/sessions/${segment(key)}`));
      if (json) return printJson(document);
      const { printDocument } = await import("../session-text.js");
      printDocument(document);
    });
  sessions
    .command("delete")
    .description("Delete a conversation for good, with what still waits in it")
    .argument("<key>", "e.g. telegram:42")
    .option("-y, --yes", "do not ask")
    .action(async (key: string, { yes }: { readonly yes?: true }) => {
      if (yes !== true && process.stdin.isTTY) {
        const { confirm } = await import("../question.js");
        if (!(await confirm(`Delete ${key}? Nothing brings it back.`))) throw new CommandError("Nothing was deleted.");
      }
      await withClient(version, (client) => client.delete(`/api/sessions/${segment(key)}`));
      print(`Deleted ${key}`);
    });
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > 1000)
    throw new InvalidArgumentError("A limit is a number from 1 to 1000.");
  return limit;
}
