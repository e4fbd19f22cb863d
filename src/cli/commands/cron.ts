import { type Command, InvalidArgumentError } from "commander";
import { findTimeZone, openContext } from "../context.js";
import { addCronAdd } from "../cron-add.js";
import { CommandError, exitCodes } from "../exit.js";
import { segment } from "../gateway/api-client.js";
import { withClient } from "../gateway/with-client.js";
import { print, printJson } from "../text/output.js";

export function addCronCommand(program: Command, version: string): void {
  const cron = program.command("cron").description("List, add, run and manage scheduled jobs");
  addList(cron, version);
  addCronAdd(cron, version);
  addStatus(cron, version);
  addRemove(cron, version);
  addSwitch(cron, version, "enable", "Switch a job on");
  addSwitch(cron, version, "disable", "Switch a job off, and keep it");
  addRun(cron, version);
  addHistory(cron, version);
}

async function ask(version: string, path: string): Promise<unknown> {
  const { withoutGateway } = await import("../text/cron.js");
  return await withClient(version, "look", async (client, isOwn) => {
    const answer = await client.get(path);
    return isOwn ? withoutGateway(answer) : answer;
  });
}

function addList(cron: Command, version: string): void {
  cron
    .command("list")
    .description("List the jobs of all chats")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const answer = await ask(version, "/api/cron");
      if (json) return printJson(answer);
      const { printJobs } = await import("../text/cron.js");
      printJobs(answer, await findTimeZone());
    });
}

function addStatus(cron: Command, version: string): void {
  cron
    .command("status")
    .description("Show whether jobs run, and how many there are")
    .action(async () => {
      const [isRunning, answer] = await withClient(version, "look", async (client, isOwn) => [
        !isOwn,
        await client.get("/api/cron"),
      ]);
      const { printCronStatus } = await import("../text/cron.js");
      const { home } = await openContext();
      printCronStatus(answer, { isRunning, home, zone: await findTimeZone() });
    });
}

function addRemove(cron: Command, version: string): void {
  cron
    .command("remove")
    .description("Remove a job and its history")
    .argument("<id>", "as maxclaw cron list shows it")
    .action(async (id: string) => {
      await withClient(version, "change", (client) => client.delete(`/api/cron/${segment(id)}`));
      print(`Removed ${id}`);
    });
}

function addSwitch(cron: Command, version: string, action: "enable" | "disable", description: string): void {
  cron
    .command(action)
    .description(description)
    .argument("<id>", "as maxclaw cron list shows it")
    .action(async (id: string) => {
      const answer = await withClient(version, "change", (client) =>
        client.post(`/api/cron/${segment(id)}/${action}`, {}),
      );
      const { lineOfJob } = await import("../text/cron.js");
      print(lineOfJob(answer, await findTimeZone()));
    });
}

function addRun(cron: Command, version: string): void {
  cron
    .command("run")
    .description("Run a job once more, now")
    .argument("[id]", "as maxclaw cron list shows it")
    .action(async (id: string | undefined) => {
      if (id === undefined)
        throw new CommandError(
          "Scheduled jobs run in the gateway: maxclaw gateway. To run one of them now, give its id.",
          exitCodes.usage,
        );
      const isWorking = await withClient(version, "change", async (client, isOwn) => {
        await client.post(`/api/cron/${segment(id)}/run`, {});
        return !isOwn;
      });
      print(isWorking ? `${id} runs now` : `${id} runs as soon as the gateway is started: maxclaw gateway`);
    });
}

function addHistory(cron: Command, version: string): void {
  cron
    .command("history")
    .description("Show the last runs, of one job or of all")
    .argument("[id]", "as maxclaw cron list shows it")
    .option("--limit <count>", "at most this many, up to 4000", parseLimit, 50)
    .option("--json", "as JSON")
    .action(async (id: string | undefined, { limit, json }: { readonly limit: number; readonly json?: true }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(id === undefined ? {} : { jobId: id }) });
      const answer = await ask(version, `/api/cron/history?${query}`);
      if (json) return printJson(answer);
      const { printRuns } = await import("../text/cron.js");
      printRuns(answer, await findTimeZone());
    });
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > 4000)
    throw new InvalidArgumentError("A limit is a number from 1 to 4000.");
  return limit;
}
