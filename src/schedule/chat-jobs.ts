import { RequestError } from "../errors.js";
import { channelOf, rootKeyOf, sessionKeyOf } from "../events/session-key.js";
import { localTime } from "../util/local-time.js";
import { knownAddressesIn } from "../util/web-addresses.js";
import type { JobOwner, JobWish } from "./job.js";
import type { JobState, Scheduler } from "./scheduler.js";

/** What a job's maker has seen. */
export interface JobOrigin {
  /** Where what others wrote came from. */
  readonly outside: () => readonly string[];
  readonly knowsAddress: (url: string) => boolean;
  /** Of the turn that makes it. */
  readonly signal?: AbortSignal;
}

/** One job, as the people of its chat see it. */
export interface ListedJob {
  readonly id: string;
  readonly line: string;
  /** Anyone who looks has made it. */
  readonly isOwn: boolean;
}

/** A chat sees and changes its own jobs only. Errors are sentences for the person who wrote. */
export class JobsOfChat {
  readonly #scheduler: () => Promise<Scheduler>;
  readonly #zone: string;
  readonly #owner: JobOwner;
  readonly #origin: JobOrigin;

  constructor(scheduler: () => Promise<Scheduler>, zone: string, place: JobOwner, origin: JobOrigin) {
    const { channel, chatId, thread, senderId } = place;
    // What a sub-agent schedules is its chat's, and so is what a heartbeat or a job with a conversation of its own does.
    const root = rootKeyOf(place.sessionKey);
    const sessionKey = channelOf(root) === "cron" ? sessionKeyOf(channel, chatId, thread) : root;
    this.#scheduler = scheduler;
    this.#zone = zone;
    this.#owner = { channel, chatId, senderId, sessionKey, ...(thread === undefined ? {} : { thread }) };
    this.#origin = origin;
  }

  async list(): Promise<readonly ListedJob[]> {
    const { describeSchedule } = await import("./times.js");
    const jobs = (await this.#scheduler()).list().filter((job) => this.#isHere(job));
    return jobs.map((job) => {
      const next = job.nextDue === undefined ? "off" : `next ${localTime(job.nextDue, this.#zone)}`;
      const last = job.lastRun === undefined ? "" : `, last run ${job.lastRun.status}`;
      const isOwn = job.owner.channel === this.#owner.channel && job.owner.senderId === this.#owner.senderId;
      const line = `${job.id} "${job.name}": ${describeSchedule(job.schedule, this.#zone)}, ${next}${last}`;
      return { id: job.id, isOwn, line };
    });
  }

  async add(wish: JobWish): Promise<string> {
    const { describeSchedule } = await import("./times.js");
    const addresses = knownAddressesIn(wish.message, this.#origin.knowsAddress);
    const whole = { ...wish, addresses, outside: [...new Set(this.#origin.outside())] };
    const opened = await this.#scheduler();
    // A call that went on after its turn was ended: its chat may be deleted by now.
    this.#origin.signal?.throwIfAborted();
    const job = await opened.add(whole, this.#owner);
    const next = job.nextDue === undefined ? "" : `, next ${localTime(job.nextDue, this.#zone)}`;
    return `Scheduled ${job.id} "${job.name}": ${describeSchedule(job.schedule, this.#zone)}${next}`;
  }

  /** Where what others wrote came from that had a say in these jobs and in their results. */
  async outside(): Promise<readonly string[]> {
    const opened = await this.#scheduler();
    const jobs = opened.list().filter((job) => this.#isHere(job));
    return jobs.flatMap(({ id, outside = [] }) => [
      ...outside,
      ...opened.history(id).flatMap((run) => run.outside ?? []),
    ]);
  }

  async remove(id: string): Promise<void> {
    await (await this.#with(id)).remove(id);
  }

  async enable(id: string, isEnabled: boolean): Promise<void> {
    await (await this.#with(id)).enable(id, isEnabled);
  }

  async runNow(id: string): Promise<void> {
    await (await this.#with(id)).runNow(id);
  }

  /** One line for each run, newest first. */
  async history(id: string): Promise<readonly string[]> {
    const runs = (await this.#with(id)).history(id);
    return runs.map(({ dueAt, status, result }) => {
      const end = result === undefined ? "" : `: ${result}`;
      return `${localTime(dueAt, this.#zone)} ${status}${end}`;
    });
  }

  async #with(id: string): Promise<Scheduler> {
    const opened = await this.#scheduler();
    if (!this.#isHere(opened.get(id)))
      throw new RequestError(`There is no scheduled job ${id} in this chat.`, { status: 404, code: "not_found" });
    return opened;
  }

  #isHere({ owner }: JobState): boolean {
    return owner.sessionKey === this.#owner.sessionKey;
  }
}
