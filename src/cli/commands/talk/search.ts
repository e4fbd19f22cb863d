import { type Command, InvalidArgumentError } from "commander";
import { withClient } from "../../gateway/with-client.js";
import { printJson } from "../../text/output.js";

interface SearchFlags {
  readonly channel?: string;
  readonly session?: string;
  readonly limit: number;
  readonly before?: string;
  readonly json?: true;
}

export function addSearchCommand(program: Command, version: string): void {
  program
    .command("search")
    .description("Find what was said in any conversation, the newest first")
    .argument("<words...>", "all must be in it; quote a phrase twice: '\"like this\"'")
    .option("--channel <name>", "only conversations of this channel")
    .option("--session <key>", "only this conversation")
    .option("--limit <count>", "at most this many, up to 100", parseLimit, 20)
    .option("--before <next>", "go on where an earlier search ended")
    .option("--json", "as JSON")
    .action(async (words: readonly string[], { json, limit, ...flags }: SearchFlags) => {
      const query = new URLSearchParams({ q: words.join(" "), limit: String(limit), ...flags });
      const page = await withClient(version, "look", (client) => client.get(`/api/search?${query}`));
      if (json) return printJson(page);
      const { printHits } = await import("../../text/search.js");
      printHits(page);
    });
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > 100)
    throw new InvalidArgumentError("A limit is a number from 1 to 100.");
  return limit;
}
