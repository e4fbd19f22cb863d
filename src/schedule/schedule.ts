import type { InboundMessage } from "../bus/messages.js";
import { messageOf } from "../errors.js";
import { channelOf, chatOf } from "../events/session-key.js";
import type { SessionLives } from "../events/session-lives.js";
import type { Logger } from "../log.js";
import { type JobOrigin, JobsOfChat } from "./chat-jobs.js";
import type { Job, JobOwner } from "./job.js";
import type { ScheduleRecords } from "./records.js";
import { createRunHistory } from "./run-history.js";
import type { RunReports } from "./run-reports.js";
import type { Scheduler } from "./scheduler.js";
import { takeOverJobs } from "./take-over.js";

export interface ScheduleParts {
  /** Jobs, their runs, and the files that were taken over. */
  readonly records: { readonly jobs: ScheduleRecords; readonly runs: ScheduleRecords; readonly taken: ScheduleRecords };
  readonly reports: RunReports;
  readonly messages: { publishInbound(message: InboundMessage): Promise<unknown> };
  /** Jobs go with their chat, and what they said with their conversation. */
  readonly lives: Pick<SessionLives, "run" | "onLeave">;
  /** IANA name, for schedules that name none and for times that people read. */
  readonly zone: () => string;
  /** False: jobs can be looked at and changed, and none runs. */
  readonly isWorking: boolean;
  /** Lets the jobs run, where only one node may do that at a time. */
  readonly run: (jobs: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>;
  /** See {@link SchedulePorts.lookMs}. */
  readonly lookMs?: number | undefined;
  readonly now: () => number;
  readonly log: Logger;
}

const person: JobOrigin = { outside: () => [], knowsAddress: () => true };

/** Scheduled jobs. The code that reads cron expressions is loaded when there is a job, or when one is asked for. */
export class Schedule implements AsyncDisposable {
  readonly #parts: ScheduleParts;
  readonly #stopping = new AbortController();
  #opening: Promise<Scheduler> | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
    parts.lives.onLeave("scheduled jobs", (key) => this.#leave(key));
  }

  /** Runs the jobs that there are, those of the files in `folder` included. */
  start(folder: string): void {
    const { records, log } = this.#parts;
    void takeOverJobs(folder, { taken: records.taken, scheduler: () => this.scheduler(), log })
      .then(async () => {
        // Another node may add one.
        if (records.jobs.list().length > 0 || this.#parts.lookMs !== undefined) await this.scheduler();
      })
      .catch((error: unknown) => log.error(`Scheduled jobs do not run: ${messageOf(error)}`, { error }));
  }

  async scheduler(): Promise<Scheduler> {
    this.#opening ??= this.#open().then((opened) => {
      if (this.#parts.isWorking) this.#running = this.#parts.run((signal) => opened.run(signal), this.#stopping.signal);
      return opened;
    });
    return await this.#opening;
  }

  /** The jobs of a chat, as one of its people sees them, or a model that has seen what `origin` says. */
  jobsOf(place: JobOwner, origin: JobOrigin = person): JobsOfChat {
    return new JobsOfChat(() => this.scheduler(), this.#parts.zone(), place, origin);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await this.#opening?.catch(() => undefined);
    await this.#running;
  }

  async #leave(sessionKey: string): Promise<void> {
    const { jobs, runs } = this.#parts.records;
    if (jobs.list().length > 0) {
      const opened = await this.scheduler();
      for (const { id, owner } of opened.all()) if (owner.sessionKey === sessionKey) await opened.remove(id);
    }
    if (channelOf(sessionKey) === "cron") await createRunHistory(runs).forgetResults(chatOf(sessionKey), () => true);
  }

  async #open(): Promise<Scheduler> {
    const [{ Cron }, { createTimes }, { createScheduler }] = await Promise.all([
      import("croner"),
      import("./times.js"),
      import("./scheduler.js"),
    ]);
    const { records, reports, messages, lives, zone, lookMs, now, log } = this.#parts;
    return createScheduler({
      lookMs,
      jobs: records.jobs,
      runs: records.runs,
      times: createTimes(Cron, zone),
      async accept(messageId, job, reportsFailure) {
        const message = toMessage(messageId, job, now());
        await messages.publishInbound(reportsFailure ? { ...message, silence: { failures: true } } : message);
      },
      report: ({ job, ...change }) => reports.report(sessionOf(job), { ...change, jobId: job.id }),
      within: (job, begin) => lives.run(job.owner.sessionKey, () => lives.run(sessionOf(job), () => begin())),
      endOf: (messageId, job) => reports.endOf(sessionOf(job), messageId, this.#stopping.signal),
      alert: (job, text) => reports.alert(job.owner, sessionOf(job), text),
      now,
      log,
    });
  }
}

function sessionOf(job: Job): string {
  return job.session === "alone" ? `cron:${job.id}` : job.owner.sessionKey;
}

/** The chat's own message, so that its sender's rights and its platform count; only the conversation may be another. */
function toMessage(id: string, job: Job, receivedAt: number): InboundMessage {
  const { channel, chatId, thread, senderId } = job.owner;
  return {
    id,
    channel,
    chatId,
    ...(thread === undefined ? {} : { thread }),
    senderId,
    sessionKey: sessionOf(job),
    content: `[Scheduled: ${job.name}] ${job.message}`,
    attachments: [],
    mode: "next",
    jobId: job.id,
    mixed: job.outside,
    addresses: job.addresses ?? [],
    receivedAt,
  };
}
