import { type Command, InvalidArgumentError } from "commander";
import { segment } from "../api-client.js";
import { print, printJson } from "../output.js";
import { withClient } from "../with-client.js";

interface AddFlags {
  readonly at?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly name?: string;
  readonly timeZone?: string;
  readonly chat?: string;
  readonly alone?: true;
  readonly skipMissed?: true;
  readonly json?: true;
}

export function addCronCommand(program: Command, version: string): void {
  const cron = program.command("cron").description("List, add, change and run scheduled jobs");
  cron
    .command("list")
    .description("List the jobs of all chats")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const answer = await withClient(version, (client) => client.get("/api/cron"));
      if (json) return printJson(answer);
      const { printJobs } = await import("../cron-text.js");
      printJobs(answer);
    });
  cron
    .command("add")
    .description("Add a job: what the assistant is to do, and when, with exactly one of --at, --every and --cron")
    .argument("<prompt>", "what the assistant is told then")
    .option("--at <time>", "once, e.g. 2026-11-22T09:00")
    .option("--every <time>", "again and again, e.g. 90m, 2h, 1d")
    .option("--cron <fields>", 'minute hour day month weekday, e.g. "0 9 * * 1-5"')
    .option("--name <name>", "how lists call it")
    .option("--time-zone <zone>", "e.g. Europe/Berlin; default: this machine's")
    .option("--chat <key>", "the chat that its answers go to, e.g. telegram:42; default: webui:scheduled")
    .option("--alone", "in a conversation of its own")
    .option("--skip-missed", "times that passed while no gateway ran are left out")
    .option("--json", "as JSON")
    .action(async (prompt: string, flags: AddFlags) => {
      const { every, chat, name, alone, skipMissed, json, ...when } = flags;
      const body = {
        ...when,
        prompt,
        // In the interface a plain number is milliseconds, for people it is seconds.
        ...(every === undefined ? {} : { every: /^\d+$/.test(every.trim()) ? `${every.trim()}s` : every }),
        ...(name === undefined ? {} : { title: name }),
        ...(chat === undefined ? {} : { sessionKey: chat }),
        ...(alone ? { session: "alone" } : {}),
        ...(skipMissed ? { missed: "skip" } : {}),
      };
      const answer = await withClient(version, (client) => client.post("/api/cron", body));
      if (json) return printJson(answer);
      const { lineOfJob } = await import("../cron-text.js");
      print(`Added ${lineOfJob(answer)}`);
    });
  cron
    .command("remove")
    .description("Remove a job and its history")
    .argument("<id>", "as maxclaw cron list shows it")
    .action(async (id: string) => {
      await withClient(version, (client) => client.delete(`/api/cron/${segment(id)}`));
      print(`Removed ${id}`);
    });
  for (const action of ["enable", "disable"] as const)
    cron
      .command(action)
      .description(action === "enable" ? "Switch a job on" : "Switch a job off, and keep it")
      .argument("<id>", "as maxclaw cron list shows it")
      .action(async (id: string) => {
        const answer = await withClient(version, (client) => client.post(`/api/cron/${segment(id)}/${action}`, {}));
        const { lineOfJob } = await import("../cron-text.js");
        print(lineOfJob(answer));
      });
  cron
    .command("run")
    .description("Run a job once more, now")
    .argument("<id>", "as maxclaw cron list shows it")
    .action(async (id: string) => {
      const isWorking = await withClient(version, async (client, isOwn) => {
        await client.post(`/api/cron/${segment(id)}/run`, {});
        return !isOwn;
      });
      print(isWorking ? `${id} runs now` : `${id} runs as soon as the gateway is started: maxclaw gateway`);
    });
  cron
    .command("history")
    .description("Show the last runs, of one job or of all")
    .argument("[id]", "as maxclaw cron list shows it")
    .option("--limit <count>", "at most this many, up to 4000", parseLimit, 50)
    .option("--json", "as JSON")
    .action(async (id: string | undefined, { limit, json }: { readonly limit: number; readonly json?: true }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(id === undefined ? {} : { jobId: id }) });
      const answer = await withClient(version, (client) => client.get(`/api/cron/history?${query}`));
      if (json) return printJson(answer);
      const { printRuns } = await import("../cron-text.js");
      printRuns(answer);
    });
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > 4000)
    throw new InvalidArgumentError("A limit is a number from 1 to 4000.");
  return limit;
}
