import { type Command, InvalidArgumentError } from "commander";
import { counted } from "../../../util/text/counted.js";
import { CommandError } from "../../exit.js";
import { segment } from "../../gateway/api-client.js";
import { readConversation } from "../../gateway/read-conversation.js";
import { withSuggestion } from "../../gateway/session-hint.js";
import { withClient } from "../../gateway/with-client.js";
import { addExportCommand } from "../../sessions-export.js";
import { print, printJson, printNote } from "../../text/output.js";
import { addSentCommand } from "./sessions-sent.js";

interface ListFlags {
  readonly channel?: string;
  readonly limit: number;
  readonly json?: true;
}

export function addSessionsCommand(program: Command, version: string): void {
  const sessions = program.command("sessions").description("List, show, copy and delete conversations");
  sessions
    .command("list")
    .description("List the conversations, the latest first")
    .option("--channel <name>", "only those of this channel")
    .option("--limit <count>", "at most this many, up to 1000", parseLimit, 50)
    .option("--json", "as JSON")
    .action(async ({ channel, limit, json }: ListFlags) => {
      const { readSessions } = await import("../../gateway/read-sessions.js");
      const page = await readSessions(version, { channel, limit, isJson: json === true });
      if (json) return printJson(page);
      const { printSessions } = await import("../../text/session.js");
      printSessions(page);
    });
  addShow(sessions, version);
  addSentCommand(sessions);
  addFork(sessions, version);
  addDelete(sessions, version);
}

function addShow(sessions: Command, version: string): void {
  sessions
    .command("show")
    .description("Show what was said in a conversation, as its log tells it")
    .argument("<key>", "e.g. telegram:42")
    .option("--json", "as JSON, with everything that is known about it")
    .action(async (key: string, { json }: { readonly json?: true }) => {
      const { document, stored } = await readConversation(version, key);
      if (json) printJson(document);
      else {
        const { printDocument } = await import("../../text/session.js");
        printDocument(document);
      }
      if (stored !== undefined && stored.damagedLines.length > 0)
        printNote(
          `maxclaw: ${counted(stored.damagedLines.length, "damaged line")} of ${stored.log} left out (maxclaw events verify ${key})`,
        );
    });
  addExportCommand(sessions, version);
}

function addFork(sessions: Command, version: string): void {
  sessions
    .command("fork")
    .description("Begin a new conversation with the events of this one, up to one of them")
    .argument("<key>", "e.g. telegram:42")
    .option("--at <seq>", "the last event to copy; without it all of them", parseSequence)
    .option("--json", "as JSON")
    .action(async (key: string, { at, json }: { readonly at?: number; readonly json?: true }) => {
      const path = `/api/sessions/${segment(key)}/fork`;
      const answer = await withClient(version, "change", (client) =>
        withSuggestion(client, key, () => client.post(path, at === undefined ? {} : { at })),
      );
      if (json) return printJson(answer);
      const { printFork } = await import("../../text/session.js");
      printFork(answer);
    });
}

function addDelete(sessions: Command, version: string): void {
  sessions
    .command("delete")
    .description("Delete a conversation for good, with what still waits in it")
    .argument("<key>", "e.g. telegram:42")
    .option("-y, --yes", "do not ask")
    .action(async (key: string, { yes }: { readonly yes?: true }) => {
      if (yes !== true && process.stdin.isTTY) {
        const { confirm } = await import("../../chat/question.js");
        if (!(await confirm(`Delete ${key}? This cannot be undone.`))) throw new CommandError("Nothing was deleted.");
      }
      await withClient(version, "change", (client) =>
        withSuggestion(client, key, () => client.delete(`/api/sessions/${segment(key)}`)),
      );
      print(`Deleted ${key}`);
    });
}

function parseSequence(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("A sequence number is a whole number, e.g. 12.");
  return Number(text);
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > 1000)
    throw new InvalidArgumentError("A limit is a number from 1 to 1000.");
  return limit;
}
