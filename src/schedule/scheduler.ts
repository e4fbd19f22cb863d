import { messageOf, RequestError } from "../errors.js";
import type { Logger } from "../log.js";
import { sleep } from "../util/async/sleep.js";
import { newId } from "../util/ids.js";
import { type Job, type JobChange, type JobOwner, type JobWish, job as jobSchema, type Run } from "./job.js";
import type { ScheduleRecords } from "./records.js";
import { createRunHistory } from "./run-history.js";
import type { Times } from "./times.js";

export interface SchedulePorts {
  readonly jobs: ScheduleRecords;
  readonly runs: ScheduleRecords;
  readonly times: Times;
  /**
   * Accepts the run's message, durable once it resolves. The same id again changes nothing, which is what keeps a time
   * from running twice across restarts. `isFailureTold`: the last run failed, and the chat has heard it.
   */
  readonly accept: (messageId: string, job: Job, isFailureTold: boolean) => Promise<void>;
  readonly tell: (change: RunChange) => void;
  /** Begins a run, unless the job's chat or its conversation is being deleted: then it rejects. */
  readonly within?: <T>(job: Job, begin: () => Promise<T>) => Promise<T>;
  /** Resolves with how a run has ended, also when an earlier process saw that; undefined when this process stops before. */
  readonly endOf: (messageId: string, job: Job) => Promise<EndOfRun | undefined>;
  /** Says something in the job's chat that is no answer. */
  readonly alert: (job: Job, text: string) => Promise<void>;
  readonly now: () => number;
  readonly log: Logger;
}

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

/** A job with what people want to know of it. */
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
   * @throws {RequestError} 400 with a sentence for whoever wrote it
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
const maxFailures = 5;
/** A run that starts within this time after it was due is on time. */
const lateMs = 60_000;
/** Clocks are set and machines sleep: the next time is computed again at least this often. */
const lookMs = 60_000;
/** So long the run of a job for one moment can be looked up. */
const keptOverMs = 30 * 86_400_000;
const prefix = "cron:";

export function createScheduler(ports: SchedulePorts): Scheduler {
  const { times, log, now } = ports;
  const history = createRunHistory(ports.runs);
  let wake = new AbortController();
  const followed = new Set<Promise<unknown>>();

  const all = (): readonly Job[] =>
    ports.jobs.list().flatMap(({ id, value }) => {
      const parsed = jobSchema.safeParse(value);
      if (!parsed.success) log.warn(`The scheduled job ${id} cannot be read and is left alone`);
      return parsed.success ? [parsed.data] : [];
    });
  const find = (id: string): Job => {
    const parsed = jobSchema.safeParse(ports.jobs.get(id));
    if (!parsed.success) throw new RequestError(`There is no scheduled job ${id}.`, { status: 404, code: "not_found" });
    return parsed.data;
  };
  const forget = async (id: string): Promise<void> => {
    await ports.jobs.delete(id);
    await history.forget(id);
  };
  const store = async (job: Job): Promise<void> => {
    await ports.jobs.put(job.id, job);
    wake.abort(changed);
  };
  const stateOf = (job: Job): JobState => ({
    ...job,
    nextDue: job.enabled ? times.next(job.schedule, now()) : undefined,
    lastRun: history.of(job.id)[0],
  });

  /** Of times that fail one after the other, the chat hears of the first. */
  const hasFailed = (job: Job): boolean =>
    history.of(job.id).find(({ status }) => status === "completed" || status === "failed")?.status === "failed";

  const start = (job: Job, messageId: string, due: number, isAsked: boolean): Promise<Run> => {
    const beginNow = (): Promise<Run> => begin(job, messageId, due, isAsked);
    return ports.within === undefined ? beginNow() : ports.within(job, beginNow);
  };
  const begin = async (job: Job, messageId: string, due: number, isAsked: boolean): Promise<Run> => {
    await ports.accept(messageId, job, !isAsked && hasFailed(job));
    const dueAt = new Date(due).toISOString();
    const run: Run = { messageId, dueAt, startedAt: new Date(now()).toISOString(), status: "running" };
    // Removed meanwhile, it has no history any more.
    if (ports.jobs.get(job.id) !== undefined && (await history.begin(job.id, run))) {
      ports.tell({ job, dueAt, status: "started" });
      follow(job, messageId);
    }
    return run;
  };

  /** Keeps how a run ends, once it does. */
  const follow = (job: Job, messageId: string): void => {
    const following = ports
      .endOf(messageId, job)
      .then((end) => end && ended(job.id, messageId, end))
      .catch((error: unknown) => log.warn(`The end of a scheduled run was not kept: ${messageOf(error)}`))
      .finally(() => followed.delete(following));
    followed.add(following);
  };

  const ended = async (id: string, messageId: string, { status, result, outside }: EndOfRun): Promise<void> => {
    const run = await history.end(id, messageId, { status, result, outside, endedAt: new Date(now()).toISOString() });
    const parsed = jobSchema.safeParse(ports.jobs.get(id));
    if (run === undefined || !parsed.success) return;
    ports.tell({ job: parsed.data, dueAt: run.dueAt, status, ...(status === "failed" ? { error: result } : {}) });
    await restAfterFailures(parsed.data);
  };

  /** Deals with the newest time that has come; the ones before it are gone. */
  const settle = async (job: Job): Promise<void> => {
    if (ports.jobs.get(job.id) === undefined) return;
    const due = times.last(job.schedule, now());
    if (due === undefined || due <= (job.lastDue ?? job.createdAt)) return;
    const dueAt = new Date(due).toISOString();
    if (now() - due <= lateMs || job.missed === "once") await start(job, `${prefix}${job.id}:${dueAt}`, due, false);
    else {
      await history.begin(job.id, {
        messageId: `${prefix}${job.id}:${dueAt}`,
        dueAt,
        startedAt: dueAt,
        endedAt: dueAt,
        status: "missed",
      });
      ports.tell({ job, dueAt, status: "missed" });
    }
    // Somebody may have removed it or switched it off meanwhile.
    const current = jobSchema.safeParse(ports.jobs.get(job.id));
    if (current.success)
      await ports.jobs.put(job.id, {
        ...current.data,
        lastDue: due,
        enabled: current.data.enabled && job.schedule.kind !== "at",
      });
  };

  /** A job that only ever fails would go on costing money and saying so. */
  const restAfterFailures = async (job: Job): Promise<void> => {
    const newest = history.of(job.id).slice(0, maxFailures);
    if (!job.enabled || newest.length < maxFailures || newest.some(({ status }) => status !== "failed")) return;
    await store({ ...job, enabled: false });
    log.warn(`The scheduled job ${job.name} failed ${maxFailures} times and is off now`, { job: job.id });
    await ports.alert(
      job,
      `The scheduled job "${job.name}" failed ${maxFailures} times in a row, so I switched it off.`,
    );
  };

  return {
    list: () =>
      all()
        .filter((job) => !isOver(job))
        .map(stateOf),
    all: () => all().map(stateOf),
    get: (id) => stateOf(find(id)),
    async add(wish, owner, id = newId("job")) {
      const known = all().filter((job) => job.id === id || !isOver(job));
      const same = known.find((job) => job.id === id);
      if (same !== undefined) return stateOf(same);
      const inChat = known.filter(({ owner: other }) => other.sessionKey === owner.sessionKey);
      if (known.length >= maxJobs || inChat.length >= maxJobsInChat)
        throw badRequest("There are too many scheduled jobs already. Remove one first.");
      for (const job of all()) if (isOver(job) && (job.lastDue ?? 0) < now() - keptOverMs) await forget(job.id);
      const message = messageIn(wish);
      const createdAt = now();
      const job: Job = {
        id,
        name: nameFor(wish.name?.trim() || message),
        schedule: times.parse(wish, createdAt),
        message,
        owner,
        session: wish.session ?? "chat",
        missed: wish.missed ?? "once",
        enabled: true,
        createdAt,
        ...provenanceOf(wish),
      };
      await store(job);
      return stateOf(job);
    },
    async update(id, wish) {
      const job = find(id);
      const next = changedJob(job, wish, times, now());
      await store(next);
      return stateOf(next);
    },
    async remove(id) {
      find(id);
      await forget(id);
      wake.abort(changed);
    },
    async enable(id, isEnabled) {
      const job = find(id);
      // What passed while it was off is not made up for.
      const next =
        isEnabled && !job.enabled ? { ...job, enabled: true, lastDue: now() } : { ...job, enabled: isEnabled };
      await store(next);
      return stateOf(next);
    },
    async runNow(id) {
      const job = find(id);
      return await start(job, `${prefix}${job.id}:now-${newId("run")}`, now(), true);
    },
    history: (id) => history.of(find(id).id),
    async run(signal) {
      const stop = (): void => wake.abort(changed);
      signal.addEventListener("abort", stop, { once: true });
      // What an earlier process began, and did not see or did not keep the end of.
      for (const job of all())
        for (const { messageId, status } of history.of(job.id)) if (status === "running") follow(job, messageId);
      while (!signal.aborted) {
        wake = new AbortController();
        for (const job of all()) {
          if (!job.enabled || signal.aborted) continue;
          await settle(job).catch((error: unknown) => {
            log.warn(`The scheduled job ${job.name} was not started, it is tried again: ${messageOf(error)}`, {
              job: job.id,
            });
          });
        }
        await sleep(restMs(all(), times, now()), wake.signal).catch(() => undefined);
      }
      signal.removeEventListener("abort", stop);
      await Promise.all(followed);
    },
  };
}

/** Made once, because making one takes a stack trace. */
const changed = new DOMException("The schedule has changed", "AbortError");

function restMs(jobs: readonly Job[], times: Times, now: number): number {
  const dues = jobs.flatMap((job) => (job.enabled ? (times.next(job.schedule, now) ?? []) : []));
  return Math.max(50, Math.min(lookMs, ...dues.map((due) => due - now)));
}

/** One for a moment that has been dealt with. */
function isOver({ schedule, enabled, lastDue = 0 }: Job): boolean {
  return schedule.kind === "at" && !enabled && lastDue >= schedule.at;
}

function changedJob(job: Job, wish: JobChange, times: Times, now: number): Job {
  const { outside: _, addresses: __, ...before } = job;
  const message = wish.message === undefined ? job.message : messageIn({ message: wish.message });
  const isRenamed = wish.name !== undefined || job.name === nameFor(job.message);
  const schedule = times.change(job.schedule, wish, now);
  return {
    ...(wish.message === undefined ? job : { ...before, ...provenanceOf(wish) }),
    name: isRenamed ? wish.name?.trim() || nameFor(message) : job.name,
    schedule,
    message,
    session: wish.session ?? job.session,
    missed: wish.missed ?? job.missed,
    // What the old schedule left undone is not made up for by the new one.
    ...(schedule === job.schedule ? {} : { lastDue: now }),
  };
}

function nameFor(message: string): string {
  return message.slice(0, 80);
}

function provenanceOf({ outside = [], addresses = [] }: JobChange): Pick<Job, "outside" | "addresses"> {
  return {
    ...(outside.length === 0 ? {} : { outside: [...outside] }),
    ...(addresses.length === 0 ? {} : { addresses: [...addresses] }),
  };
}

function messageIn(wish: Pick<JobWish, "message">): string {
  const message = wish.message.trim();
  if (message === "") throw badRequest("Say what is to be done in `message`.");
  return message;
}

function badRequest(sentence: string): RequestError {
  return new RequestError(sentence, { status: 400, code: "bad_request" });
}
