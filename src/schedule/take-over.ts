import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { derivedId } from "../util/ids.js";
import type { ScheduleRecords } from "./records.js";
import type { Scheduler } from "./scheduler.js";

/**
 * Takes over the jobs of the Go maxclaw, and those that `maxclaw migrate` put beside them: each file once.
 *
 * @param folder where the files are; may not exist
 */
export async function takeOverJobs(
  folder: string,
  { taken, scheduler, log }: { taken: ScheduleRecords; scheduler: () => Promise<Scheduler>; log: Logger },
): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const file of names.filter((name) => name === "jobs.json" || /^from-[\w-]+\.json$/.test(name)).sort()) {
    const record = file === "jobs.json" ? "go" : file.slice(0, -".json".length);
    if (taken.get(record) !== undefined) continue;
    const path = join(folder, file);
    const { readGoJobs } = await import("./import-jobs.js");
    const found = await readGoJobs(path, Date.now());
    if (found === undefined) continue;
    for (const problem of found.problems) log.warn(problem);
    for (const { key, wish, owner, enabled } of found.jobs) {
      const opened = await scheduler();
      try {
        // A kill before the record below is written: the file is read again, and each job is known by its id.
        const { id } = await opened.add(wish, owner, derivedId("job", record, key));
        if (!enabled) await opened.enable(id, false);
      } catch (error) {
        log.warn(`${path}: ${wish.name ?? wish.message} is not imported: ${messageOf(error)}`);
      }
    }
    await taken.put(record, { at: Date.now(), jobs: found.jobs.length });
    log.info(`Imported ${found.jobs.length} scheduled jobs from ${path}`);
  }
}
