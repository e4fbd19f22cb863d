import type { JobWish } from "../schedule/job.js";
/** A scheduled job, in the words of the Go maxclaw's HTTP interface and with what is new. */
export interface CronJobView {
  readonly id: string;
  readonly title: string;
  /** What the assistant is told at its time. */
  readonly prompt: string;
  readonly scheduleType: "once" | "every" | "cron";
  /** A moment (ISO 8601), a number of milliseconds, or five fields. */
  readonly schedule: string;
  /** Of the five fields. */
  readonly timeZone?: string;
  /** The conversation that asked for it, and whose chat its answers go to. */
  readonly sessionKey: string;
  readonly channels: readonly string[];
  readonly session: "chat" | "alone";
  readonly missed: "skip" | "once";
  readonly enabled: boolean;
  /** ISO 8601, as all times here. */
  readonly createdAt: string;
  readonly lastRun?: string;
  readonly lastStatus?: CronRecord["status"];
  readonly nextRun?: string;
}

/** One run of a job. */
export interface CronRecord {
  /** The message that the run consists of. */
  readonly id: string;
  readonly jobId: string;
  readonly jobTitle: string;
  readonly dueAt: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly durationMs: number;
  readonly status: "running" | "success" | "failed" | "missed";
  /** How it ended, 500 characters. */
  readonly output: string;
  readonly error?: string;
}

/** A job as somebody wants it. Exactly one of `at`, `every` and `cron`. */
export interface CronWish extends Omit<JobWish, "name" | "message" | "outside" | "addresses"> {
  readonly title?: string | undefined;
  readonly prompt: string;
  /** The chat that its answers go to, e.g. `telegram:42`. Default: `webui:scheduled`. */
  readonly sessionKey?: string | undefined;
  /** In its place: the chat of the first of `owners` on this channel; where there is none, the default. */
  readonly channel?: string | undefined;
}

/** What is to be another one from now on; what is left out stays. */
export type CronChange = Partial<Omit<CronWish, "sessionKey" | "channel">>;

/** The scheduled jobs of all chats. */
export interface CronApi {
  /** Without those for one moment whose run is over: the history has them. */
  list(): Promise<readonly CronJobView[]>;
  /** @throws {RequestError} 400 with a sentence for the person who wrote it */
  add(wish: CronWish): Promise<CronJobView>;
  /** Another schedule, prompt or title for a job that stays in its chat. @throws {RequestError} 400, 404 */
  update(id: string, change: CronChange): Promise<CronJobView>;
  /** @throws {RequestError} 404, as all below */
  remove(id: string): Promise<void>;
  enable(id: string, isEnabled: boolean): Promise<CronJobView>;
  /** Once more, now. Resolves once the run is accepted. */
  run(id: string): Promise<CronRecord>;
  /** Newest first; of one job, or of all. */
  history(query: { readonly jobId?: string | undefined; readonly limit: number }): Promise<readonly CronRecord[]>;
}
