import { RequestError } from "../errors.js";
import type { Logger } from "../log.js";
import { type Job, job as jobSchema } from "./job.js";
import type { ScheduleRecords } from "./records.js";

/** The jobs as they are kept. */
export class StoredJobs {
  readonly #records: ScheduleRecords;
  readonly #onChange: () => void;
  readonly #log: Logger;

  /** `onChange`: somebody has changed what is due when. */
  constructor(records: ScheduleRecords, onChange: () => void, log: Logger) {
    this.#records = records;
    this.#onChange = onChange;
    this.#log = log;
  }

  all(): readonly Job[] {
    return this.#records.list().flatMap(({ id, value }) => {
      const parsed = jobSchema.safeParse(value);
      if (!parsed.success) this.#log.warn(`The scheduled job ${id} cannot be read and is left alone`);
      return parsed.success ? [parsed.data] : [];
    });
  }

  /** Undefined for one that is not there, or cannot be read. */
  find(id: string): Job | undefined {
    return jobSchema.safeParse(this.#records.get(id)).data;
  }

  /** @throws {RequestError} 404 */
  get(id: string): Job {
    return this.find(id) ?? this.#missing(id);
  }

  /** Gives the one that is there under this id already. */
  async add(job: Job): Promise<Job> {
    const stored = await this.#records.update(job.id, (value) => (jobSchema.safeParse(value).success ? value : job));
    this.#onChange();
    return jobSchema.parse(stored);
  }

  /** Keeps what the schedule itself has done with a job, as it is stored now. Undefined: it is gone. */
  async keep(id: string, next: (job: Job) => Job): Promise<Job | undefined> {
    const stored = await this.#records.update(id, (value) => {
      const parsed = jobSchema.safeParse(value);
      return parsed.success ? next(parsed.data) : value;
    });
    return jobSchema.safeParse(stored).data;
  }

  /** Keeps what somebody wants of a job. @throws {RequestError} 404 */
  async change(id: string, next: (job: Job) => Job): Promise<Job> {
    const job = await this.keep(id, next);
    this.#onChange();
    return job ?? this.#missing(id);
  }

  async delete(id: string): Promise<void> {
    await this.#records.delete(id);
  }

  #missing(id: string): never {
    throw new RequestError(`There is no scheduled job ${id}.`, { status: 404, code: "not_found" });
  }
}

/** One for a moment that has been dealt with. */
export function isOver({ schedule, enabled, lastDue = 0 }: Job): boolean {
  return schedule.kind === "at" && !enabled && lastDue >= schedule.at;
}
