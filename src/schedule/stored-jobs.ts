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
    const job = this.find(id);
    if (job === undefined)
      throw new RequestError(`There is no scheduled job ${id}.`, { status: 404, code: "not_found" });
    return job;
  }

  /** Keeps what the schedule itself has done with a job. */
  async keep(job: Job): Promise<void> {
    await this.#records.put(job.id, job);
  }

  /** Keeps what somebody wants of a job. */
  async change(job: Job): Promise<void> {
    await this.keep(job);
    this.#onChange();
  }

  async delete(id: string): Promise<void> {
    await this.#records.delete(id);
  }
}

/** One for a moment that has been dealt with. */
export function isOver({ schedule, enabled, lastDue = 0 }: Job): boolean {
  return schedule.kind === "at" && !enabled && lastDue >= schedule.at;
}
