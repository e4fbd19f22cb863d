import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import type { Job, Run } from "./job.js";
import type { RunHistory } from "./run-history.js";
import type { StoredJobs } from "./stored-jobs.js";

export interface EndOfRun {
  readonly status: "completed" | "failed";
  readonly result: string;
  /** Where what others wrote came from that had a say in it. */
  readonly outside?: string | undefined;
}

export interface RunChange {
  readonly job: Job;
  readonly dueAt: string;
  readonly status: "started" | "completed" | "failed" | "missed" | "skipped";
  readonly error?: string;
}

/** What runs need of the gateway. */
export interface RunPorts {
  /**
   * Accepts the run's message, durable once it resolves. The same id again changes nothing, which is what keeps a time
   * from running twice across restarts. `isFailureTold`: the last run failed, and the chat has heard it.
   */
  readonly accept: (messageId: string, job: Job, reportsFailure: boolean) => Promise<void>;
  readonly report: (change: RunChange) => void;
  /** Begins a run, unless the job's chat or its conversation is being deleted: then it rejects. */
  readonly within?: <T>(job: Job, begin: () => Promise<T>) => Promise<T>;
  /** Resolves with how a run has ended, also when an earlier process saw that; undefined when this process stops before. */
  readonly endOf: (messageId: string, job: Job) => Promise<EndOfRun | undefined>;
  /** Says something in the job's chat that is not an answer. */
  readonly alert: (job: Job, text: string) => Promise<void>;
  readonly now: () => number;
  readonly log: Logger;
}

const maxFailures = 5;

/** Starts runs, and keeps how each ends. */
export class JobRuns {
  readonly #ports: RunPorts;
  readonly #jobs: StoredJobs;
  readonly #history: RunHistory;
  readonly #followed = new Set<Promise<unknown>>();

  constructor(ports: RunPorts, jobs: StoredJobs, history: RunHistory) {
    this.#ports = ports;
    this.#jobs = jobs;
    this.#history = history;
  }

  /** Resolves once the run is accepted. `isAsked`: not because it is due, but because somebody wants it. */
  async start(job: Job, messageId: string, due: number, isAsked: boolean): Promise<Run> {
    const { within } = this.#ports;
    const beginNow = (): Promise<Run> => this.#begin(job, messageId, due, isAsked);
    return await (within === undefined ? beginNow() : within(job, beginNow));
  }

  async #begin(job: Job, messageId: string, due: number, isAsked: boolean): Promise<Run> {
    const { accept, report, now } = this.#ports;
    await accept(messageId, job, !isAsked && this.#hasFailed(job));
    const dueAt = new Date(due).toISOString();
    const run: Run = { messageId, dueAt, startedAt: new Date(now()).toISOString(), status: "running" };
    // Removed meanwhile, it has no history any more.
    if (this.#jobs.find(job.id) !== undefined && (await this.#history.begin(job.id, run))) {
      report({ job, dueAt, status: "started" });
      this.#follow(job, messageId);
    }
    return run;
  }

  /** Keeps that a time has passed without a run. */
  async miss(job: Job, messageId: string, due: number): Promise<void> {
    const dueAt = new Date(due).toISOString();
    await this.#history.begin(job.id, { messageId, dueAt, startedAt: dueAt, endedAt: dueAt, status: "missed" });
    this.#ports.report({ job, dueAt, status: "missed" });
  }

  /** Follows what an earlier process began, and did not see or did not keep the end of. */
  followOpen(): void {
    for (const job of this.#jobs.all())
      for (const { messageId, status } of this.#history.of(job.id))
        if (status === "running") this.#follow(job, messageId);
  }

  /** Resolves once nothing is followed any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#followed);
  }

  /** Keeps how a run ends, once it does. */
  #follow(job: Job, messageId: string): void {
    const { endOf, log } = this.#ports;
    const following = endOf(messageId, job)
      .then((end) => end && this.#end(job.id, messageId, end))
      .catch((error: unknown) => log.warn(`The end of a scheduled run was not kept: ${messageOf(error)}`))
      .finally(() => this.#followed.delete(following));
    this.#followed.add(following);
  }

  async #end(id: string, messageId: string, { status, result, outside }: EndOfRun): Promise<void> {
    const { report, now } = this.#ports;
    const endedAt = new Date(now()).toISOString();
    const run = await this.#history.end(id, messageId, { status, result, outside, endedAt });
    const job = this.#jobs.find(id);
    if (run === undefined || job === undefined) return;
    report({ job, dueAt: run.dueAt, status, ...(status === "failed" ? { error: result } : {}) });
    await this.#restAfterFailures(job);
  }

  /** A job that only ever fails would go on costing money and saying so. */
  async #restAfterFailures(job: Job): Promise<void> {
    const newest = this.#history.of(job.id).slice(0, maxFailures);
    if (!job.enabled || newest.length < maxFailures || newest.some(({ status }) => status !== "failed")) return;
    let isNews = false;
    await this.#jobs.change(job.id, (current) => {
      isNews = current.enabled;
      return isNews ? { ...current, enabled: false } : current;
    });
    if (!isNews) return;
    const { alert, log } = this.#ports;
    log.warn(`The scheduled job ${job.name} failed ${maxFailures} times and is off now`, { job: job.id });
    await alert(job, `The scheduled job "${job.name}" failed ${maxFailures} times in a row, so I switched it off.`);
  }

  /** Of times that fail one after the other, the chat hears about the first. */
  #hasFailed(job: Job): boolean {
    const last = this.#history.of(job.id).find(({ status }) => status === "completed" || status === "failed");
    return last?.status === "failed";
  }
}
