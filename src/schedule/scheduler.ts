import { messageOf, RequestError } from "../errors.js";
import { sleep } from "../util/async/sleep.js";
import { newId } from "../util/ids.js";
import type { Job, JobChange, JobOwner, JobWish, Run } from "./job.js";
import { JobRuns, type RunPorts } from "./job-runs.js";
import type { ScheduleRecords } from "./records.js";
import { createRunHistory, type RunHistory } from "./run-history.js";
import { isOver, StoredJobs } from "./stored-jobs.js";
import type { Times } from "./times.js";
import { toChangedJob, toJob } from "./wished-job.js";

export interface SchedulePorts extends RunPorts {
  readonly jobs: ScheduleRecords;
  readonly runs: ScheduleRecords;
  readonly times: Times;
  /** The jobs are looked at again at least this often. Default: a minute. */
  readonly lookMs?: number | undefined;
}

/** A job with what people want to know about it. */
export interface JobState extends Job {
  /** Unix ms. */
  readonly nextDue: number | undefined;
  readonly lastRun: Run | undefined;
}

/** Jobs that run at their times, as long as {@link run} does. Changes count at once. */
export interface Scheduler {
  /** Without those for one moment whose run is over; `get` and `history` still find them. */
  list(): readonly JobState[];
  all(): readonly JobState[];
  /** @throws {RequestError} 404 */
  get(id: string): JobState;
  /**
   * A job that is there under this id already is left as it is.
   *
   * @throws {RequestError} 400 with a sentence for the person who wrote it
   */
  add(wish: JobWish, owner: JobOwner, id?: string): Promise<JobState>;
  /** Another schedule, message or name for a job; what the wish leaves out stays. @throws {RequestError} 400, 404 */
  update(id: string, wish: JobChange): Promise<JobState>;
  remove(id: string): Promise<void>;
  enable(id: string, isEnabled: boolean): Promise<JobState>;
  /** Once more, now; resolves once the run is accepted. */
  runNow(id: string): Promise<Run>;
  /** Newest first. */
  history(id: string): readonly Run[];
  /** Until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const maxJobs = 200;
const maxJobsInChat = 50;
/** A run that starts within this time after it was due is on time. */
const lateMs = 60_000;
/** Clocks are set and machines sleep: the next time is computed again at least this often. */
const longestRestMs = 60_000;
/** So long the run of a job for one moment can be looked up. */
const keptOverMs = 30 * 86_400_000;
const prefix = "cron:";

export function createScheduler(ports: SchedulePorts): Scheduler {
  return new RecordsScheduler(ports);
}

class RecordsScheduler implements Scheduler {
  readonly #ports: SchedulePorts;
  readonly #jobs: StoredJobs;
  readonly #history: RunHistory;
  readonly #runs: JobRuns;
  #wake = new AbortController();

  constructor(ports: SchedulePorts) {
    this.#ports = ports;
    this.#jobs = new StoredJobs(ports.jobs, () => this.#wake.abort(changed), ports.log);
    this.#history = createRunHistory(ports.runs);
    this.#runs = new JobRuns(ports, this.#jobs, this.#history);
  }

  list(): readonly JobState[] {
    const all = this.#jobs.all().filter((job) => !isOver(job));
    return all.map((job) => this.#stateOf(job));
  }

  all(): readonly JobState[] {
    return this.#jobs.all().map((job) => this.#stateOf(job));
  }

  get(id: string): JobState {
    return this.#stateOf(this.#jobs.get(id));
  }

  async add(wish: JobWish, owner: JobOwner, id = newId("job")): Promise<JobState> {
    const { times, now } = this.#ports;
    const known = this.#jobs.all().filter((job) => job.id === id || !isOver(job));
    const same = known.find((job) => job.id === id);
    if (same !== undefined) return this.#stateOf(same);
    const inChat = known.filter(({ owner: other }) => other.sessionKey === owner.sessionKey);
    if (known.length >= maxJobs || inChat.length >= maxJobsInChat)
      throw new RequestError("There are too many scheduled jobs already. Remove one first.", {
        status: 400,
        code: "bad_request",
      });
    await this.#forgetOld();
    return this.#stateOf(await this.#jobs.add(toJob(wish, owner, id, times, now())));
  }

  async update(id: string, wish: JobChange): Promise<JobState> {
    const { times, now } = this.#ports;
    return this.#stateOf(await this.#jobs.change(id, (job) => toChangedJob(job, wish, times, now())));
  }

  async remove(id: string): Promise<void> {
    this.#jobs.get(id);
    await this.#forget(id);
    this.#wake.abort(changed);
  }

  async enable(id: string, isEnabled: boolean): Promise<JobState> {
    const next = await this.#jobs.change(id, (job) => {
      // What passed while it was off is not made up for.
      const isSwitchedOn = isEnabled && !job.enabled;
      return { ...job, enabled: isEnabled, ...(isSwitchedOn ? { lastDue: this.#ports.now() } : {}) };
    });
    return this.#stateOf(next);
  }

  async runNow(id: string): Promise<Run> {
    const job = this.#jobs.get(id);
    return await this.#runs.start(job, `${prefix}${job.id}:now-${newId("run")}`, this.#ports.now(), true);
  }

  history(id: string): readonly Run[] {
    return this.#history.of(this.#jobs.get(id).id);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { times, now, lookMs } = this.#ports;
    const stop = (): void => this.#wake.abort(changed);
    signal.addEventListener("abort", stop, { once: true });
    this.#runs.followOpen();
    while (!signal.aborted) {
      // What changes from here on is seen by the next look.
      this.#wake = new AbortController();
      await this.#settleAll(signal);
      await sleep(restMs(this.#jobs.all(), times, now(), lookMs), this.#wake.signal).catch(() => undefined);
    }
    signal.removeEventListener("abort", stop);
    await this.#runs.settled();
  }

  async #settleAll(signal: AbortSignal): Promise<void> {
    for (const job of this.#jobs.all()) {
      if (!job.enabled || signal.aborted) continue;
      await this.#settle(job).catch((error: unknown) => {
        this.#ports.log.warn(`The scheduled job ${job.name} was not started, it is tried again: ${messageOf(error)}`, {
          job: job.id,
        });
      });
    }
  }

  /** Deals with the newest time that has come; the ones before it are gone. */
  async #settle(job: Job): Promise<void> {
    const { times, now } = this.#ports;
    if (this.#jobs.find(job.id) === undefined) return;
    const due = times.last(job.schedule, now());
    if (due === undefined || due <= (job.lastDue ?? job.createdAt)) return;
    const messageId = `${prefix}${job.id}:${new Date(due).toISOString()}`;
    if (now() - due <= lateMs || job.missed === "once") await this.#runs.start(job, messageId, due, false);
    else await this.#runs.miss(job, messageId, due);
    // Somebody may have removed it, switched it off or given it another time meanwhile.
    await this.#jobs.keep(job.id, (current) => ({
      ...current,
      lastDue: Math.max(due, current.lastDue ?? 0),
      enabled: current.enabled && !isSingleTime(current, due),
    }));
  }

  #stateOf(job: Job): JobState {
    const { times, now } = this.#ports;
    return {
      ...job,
      nextDue: job.enabled ? times.next(job.schedule, now()) : undefined,
      lastRun: this.#history.of(job.id)[0],
    };
  }

  async #forgetOld(): Promise<void> {
    const { now } = this.#ports;
    for (const job of this.#jobs.all())
      if (isOver(job) && (job.lastDue ?? 0) < now() - keptOverMs) await this.#forget(job.id);
  }

  async #forget(id: string): Promise<void> {
    await this.#jobs.delete(id);
    await this.#history.forget(id);
  }
}

function isSingleTime({ schedule }: Job, time: number): boolean {
  return schedule.kind === "at" && schedule.at <= time;
}

/** Made once, because making one takes a stack trace. */
const changed = new DOMException("The schedule has changed", "AbortError");

function restMs(jobs: readonly Job[], times: Times, now: number, lookMs = longestRestMs): number {
  const dues = jobs.flatMap((job) => (job.enabled ? (times.next(job.schedule, now) ?? []) : []));
  return Math.max(50, Math.min(lookMs, ...dues.map((due) => due - now)));
}
