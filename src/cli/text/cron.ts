import { join } from "node:path";
import { z } from "zod";
import { localTime } from "../../util/local-time.js";
import { print, printTable } from "./output.js";

const job = z.object({
  id: z.string(),
  title: z.string(),
  scheduleType: z.enum(["once", "every", "cron"]),
  schedule: z.string(),
  timeZone: z.string().optional(),
  sessionKey: z.string(),
  enabled: z.boolean(),
  nextRun: z.string().optional(),
  lastStatus: z.string().optional(),
});
const records = z.object({
  records: z.array(
    z.object({
      jobTitle: z.string(),
      dueAt: z.string(),
      status: z.string(),
      durationMs: z.number(),
      output: z.string(),
      error: z.string().optional(),
    }),
  ),
});

/** While no gateway runs, nothing else does: what was begun waits for it. */
export function withoutGateway(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withoutGateway);
  if (typeof answer !== "object" || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]) => [
      key,
      (key === "status" || key === "lastStatus") && value === "running" ? "waiting" : withoutGateway(value),
    ]),
  );
}

export function printJobs(answer: unknown, zone: string): void {
  const { jobs } = z.object({ jobs: z.array(job) }).parse(answer);
  if (jobs.length === 0) {
    print('Nothing is scheduled. Ask the assistant, or: maxclaw cron add "…" --cron "0 9 * * *"');
    return;
  }
  printTable(
    ["ID", "STATUS", "WHEN", "NEXT", "LAST", "CHAT", "NAME"],
    jobs.map((each) => [
      each.id,
      each.enabled ? "enabled" : "disabled",
      when(each, zone),
      each.enabled ? minuteOf(each.nextRun, zone) : "-",
      each.lastStatus ?? "-",
      each.sessionKey,
      each.title,
    ]),
  );
}

/** In the words of the Go maxclaw, which scripts look for. */
export function printCronStatus(
  answer: unknown,
  { isRunning, home, zone }: { isRunning: boolean; home: string; zone: string },
): void {
  const { jobs } = z.object({ jobs: z.array(job) }).parse(answer);
  const enabled = jobs.filter((each) => each.enabled);
  const [next] = enabled.flatMap(({ nextRun }) => nextRun ?? []).sort();
  print("Cron Service Status:");
  print(`  Running: ${isRunning}${isRunning ? "" : " (jobs run in the gateway: maxclaw gateway)"}`);
  print(`  Total Jobs: ${jobs.length}`);
  print(`  Enabled Jobs: ${enabled.length}`);
  if (next !== undefined) print(`  Next Run: ${minuteOf(next, zone)}`);
  print(`  Store Path: ${join(home, "journal")}`);
}

export function chatOfJob(answer: unknown): string {
  return job.parse(answer).sessionKey;
}

export function lineOfJob(answer: unknown, zone: string): string {
  const each = job.parse(answer);
  return `${each.id} "${each.title}": ${when(each, zone)}, ${each.enabled ? `next ${minuteOf(each.nextRun, zone)}` : "off"}`;
}

export function printRuns(answer: unknown, zone: string): void {
  const runs = records.parse(answer).records;
  if (runs.length === 0) {
    print("Nothing has run yet.");
    return;
  }
  printTable(
    ["DUE", "STATUS", "TOOK", "JOB", "RESULT"],
    runs.map(({ dueAt, status, durationMs, jobTitle, output, error }) => [
      minuteOf(dueAt, zone),
      status,
      durationMs === 0 ? "-" : `${Math.ceil(durationMs / 1000)} s`,
      jobTitle,
      error ?? output,
    ]),
  );
}

function when({ scheduleType, schedule, timeZone }: z.infer<typeof job>, zone: string): string {
  switch (scheduleType) {
    case "once":
      return `once at ${minuteOf(schedule, zone)}`;
    case "every":
      return `every ${duration(Number(schedule))}`;
    case "cron":
      return timeZone === undefined ? schedule : `${schedule} (${timeZone})`;
    default:
      return scheduleType satisfies never;
  }
}

function duration(ms: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ] as const;
  const [name, size] = units.find(([, each]) => ms % each === 0) ?? ["s", 1000];
  return `${ms / size} ${name}`;
}

function minuteOf(time: string | undefined, zone: string): string {
  return time === undefined ? "-" : localTime(time, zone);
}
