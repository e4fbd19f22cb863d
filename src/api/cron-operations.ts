import { channelOf } from "../events/session-key.js";
import type { JobChange, JobOwner, JobWish, Run } from "../schedule/job.js";
import type { JobState, Scheduler } from "../schedule/scheduler.js";
import { addressesIn } from "../util/web-addresses.js";
import type { CronApi, CronChange, CronJobView, CronRecord, CronWish } from "./cron-api.js";

const maxAddresses = 100;

export interface CronPorts {
  /** `channel:sender` from the config: in their own chats a job has their rights. */
  readonly owners: () => readonly string[];
  readonly scheduler: () => Promise<Scheduler>;
  /** Whose job it is when this chat asks for it. @throws {RequestError} 400 for what is not a chat */
  readonly ownerOf: (chat: string | undefined) => JobOwner;
}

/** The scheduled jobs of all chats. */
export function createCronOperations({ owners, scheduler, ownerOf }: CronPorts): CronApi {
  return {
    list: async () => (await scheduler()).list().map(toView),
    add: async (wish) => toView(await (await scheduler()).add(toJobWish(wish), ownerOf(chatFor(wish, owners())))),
    update: async (id, wish) => toView(await (await scheduler()).update(id, toJobChange(wish))),
    remove: async (id) => await (await scheduler()).remove(id),
    enable: async (id, isEnabled) => toView(await (await scheduler()).enable(id, isEnabled)),
    async run(id) {
      const opened = await scheduler();
      return toRecord(opened.get(id), await opened.runNow(id));
    },
    async history({ jobId, limit }) {
      const opened = await scheduler();
      const jobs = jobId === undefined ? opened.all() : [opened.get(jobId)];
      const records = jobs.flatMap((job) => opened.history(job.id).map((run) => toRecord(job, run)));
      return records.sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)).slice(0, limit);
    },
  };
}

function toJobWish(wish: CronWish): JobWish {
  const { sessionKey: _, channel: __, ...change } = wish;
  return { ...toJobChange(change), message: wish.prompt };
}

function toJobChange({ title, prompt, ...rest }: CronChange): JobChange {
  // A person wrote it, all addresses included.
  const message = prompt === undefined ? {} : { message: prompt, addresses: addressesIn(prompt, maxAddresses) };
  return { name: title, ...message, ...rest };
}

/** Owners are written as the chat in which they are met alone. */
function chatFor({ sessionKey, channel }: CronWish, owners: readonly string[]): string | undefined {
  return sessionKey ?? owners.find((owner) => channelOf(owner) === channel);
}

function toView(job: JobState): CronJobView {
  const { schedule, nextDue, lastRun, owner } = job;
  return {
    id: job.id,
    title: job.name,
    prompt: job.message,
    scheduleType: schedule.kind === "at" ? "once" : schedule.kind,
    schedule: scheduleText(schedule),
    ...(schedule.kind === "cron" ? { timeZone: schedule.timeZone } : {}),
    sessionKey: owner.sessionKey,
    channels: [owner.channel],
    session: job.session,
    missed: job.missed,
    enabled: job.enabled,
    createdAt: new Date(job.createdAt).toISOString(),
    ...(lastRun === undefined ? {} : { lastRun: lastRun.startedAt, lastStatus: statusOf(lastRun) }),
    ...(nextDue === undefined ? {} : { nextRun: new Date(nextDue).toISOString() }),
  };
}

function scheduleText(schedule: JobState["schedule"]): string {
  switch (schedule.kind) {
    case "at":
      return new Date(schedule.at).toISOString();
    case "every":
      return String(schedule.everyMs);
    case "cron":
      return schedule.expression;
    default:
      return schedule satisfies never;
  }
}

function toRecord({ id: jobId, name: jobTitle }: JobState, run: Run): CronRecord {
  const { messageId: id, dueAt, startedAt, endedAt, result = "" } = run;
  const status = statusOf(run);
  const durationMs = endedAt === undefined ? 0 : Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
  return {
    id,
    jobId,
    jobTitle,
    dueAt,
    startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    durationMs,
    status,
    output: status === "failed" ? "" : result,
    ...(status === "failed" ? { error: result } : {}),
  };
}

function statusOf({ status }: Run): CronRecord["status"] {
  return status === "completed" ? "success" : status;
}
