import { z } from "zod";
import { cutText } from "../util/text/cut-text.js";
import type { Run } from "./job.js";
import type { ScheduleRecords } from "./records.js";

const runs = z.array(
  z.object({
    messageId: z.string(),
    dueAt: z.string(),
    startedAt: z.string(),
    endedAt: z.string().optional(),
    status: z.enum(["running", "completed", "failed", "missed"]),
    result: z.string().optional(),
    outside: z.string().optional(),
  }),
);
const kept = 20;
const resultLength = 500;

/** The last runs of each job. */
export interface RunHistory {
  /** Newest first. */
  of(jobId: string): readonly Run[];
  /** False when this run is known already. */
  begin(jobId: string, run: Run): Promise<boolean>;
  /** Undefined when the run is unknown or has ended before. */
  end(
    jobId: string,
    messageId: string,
    end: Required<Pick<Run, "status" | "result" | "endedAt">> & Pick<Run, "outside">,
  ): Promise<Run | undefined>;
  forget(jobId: string): Promise<void>;
  /** What these runs said. That they were stays. */
  forgetResults(jobId: string, isOne: (run: Run) => boolean): Promise<void>;
}

export function createRunHistory(records: ScheduleRecords): RunHistory {
  const of = (jobId: string): readonly Run[] => runs.safeParse(records.get(jobId)).data ?? [];
  return {
    of,
    async begin(jobId, run) {
      const known = of(jobId);
      if (known.some(({ messageId }) => messageId === run.messageId)) return false;
      await records.put(jobId, [run, ...known].slice(0, kept));
      return true;
    },
    async end(jobId, messageId, end) {
      const known = of(jobId);
      const run = known.find((one) => one.messageId === messageId);
      if (run === undefined || run.status !== "running") return undefined;
      const ended: Run = { ...run, ...end, result: cutText(end.result, resultLength) };
      await records.put(
        jobId,
        known.map((one) => (one === run ? ended : one)),
      );
      return ended;
    },
    forget: (jobId) => records.delete(jobId),
    async forgetResults(jobId, isOne) {
      const known = of(jobId);
      const left = known.map((run): Run => (isOne(run) && run.result !== undefined ? { ...run, result: "" } : run));
      if (left.some((run, index) => run !== known[index])) await records.put(jobId, left);
    },
  };
}
