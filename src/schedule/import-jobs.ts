import { readFile } from "node:fs/promises";
import { z } from "zod";
import { sessionKeyOf } from "../events/session-key.js";
import { isMissing } from "../util/error-code.js";
import { readOnly } from "../util/files/real-path.js";
import type { JobOwner, JobWish } from "./job.js";

/** `.cron/jobs.json` of the Go maxclaw. */
const goJob = z.object({
  name: z.string().optional(),
  schedule: z.object({
    type: z.enum(["every", "cron", "once"]),
    everyMs: z.number().optional(),
    expr: z.string().optional(),
    atMs: z.number().optional(),
    /** Not of the Go maxclaw, but of those whose jobs are written in its way; so is `thread` below. */
    timeZone: z.string().optional(),
  }),
  payload: z.object({
    message: z.string(),
    channels: z.array(z.string()).nullish(),
    to: z.string().optional(),
    thread: z.string().optional(),
  }),
  enabled: z.boolean().optional(),
});

export interface FoundJob {
  /** Its place in the file, which is the same at each look. */
  readonly key: string;
  readonly wish: JobWish;
  readonly owner: JobOwner;
  readonly enabled: boolean;
}

export interface FoundJobs {
  readonly jobs: readonly FoundJob[];
  /** Sentences about what could not be read. */
  readonly problems: readonly string[];
}

/** What the file holds; undefined when there is none. The file is left as it is. */
export async function readGoJobs(path: string, now: number): Promise<FoundJobs | undefined> {
  let text: string;
  try {
    text = await readFile(path, { encoding: "utf8", flag: readOnly });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  const problems: string[] = [];
  let entries: unknown;
  try {
    entries = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return { jobs: [], problems: [`${path} is not JSON: its jobs are not imported`] };
  }
  const all = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).safeParse(entries);
  const jobs = Object.entries(all.data ?? {}).flatMap(([id, entry]): FoundJob[] => {
    const parsed = goJob.safeParse(entry);
    const wish = parsed.success ? toWish(parsed.data, now) : undefined;
    if (!parsed.success || wish === undefined) {
      problems.push(
        `${path}: the job ${id} is not imported: ${parsed.success ? "its time has passed" : "it cannot be read"}`,
      );
      return [];
    }
    return [{ key: id, wish, owner: ownerOf(parsed.data), enabled: parsed.data.enabled ?? true }];
  });
  return { jobs, problems };
}

function toWish({ name, schedule, payload }: z.infer<typeof goJob>, now: number): JobWish | undefined {
  const base = { name, message: payload.message };
  switch (schedule.type) {
    case "every":
      return { ...base, every: String(Math.max(60, Math.round((schedule.everyMs ?? 0) / 1000))) };
    case "cron":
      // Six fields began with seconds.
      return {
        ...base,
        cron: (schedule.expr ?? "").trim().split(/\s+/).slice(-5).join(" "),
        timeZone: schedule.timeZone,
      };
    case "once":
      return (schedule.atMs ?? 0) > now ? { ...base, at: new Date(schedule.atMs ?? 0).toISOString() } : undefined;
    default:
      return schedule.type satisfies never;
  }
}

/** The first channel that it answered on; a job that answered nowhere goes to a chat of the page. */
function ownerOf({ payload }: z.infer<typeof goJob>): JobOwner {
  const [channel] = payload.channels ?? [];
  if (channel === undefined || payload.to === undefined || payload.to === "")
    return { channel: "webui", chatId: "scheduled", senderId: "owner", sessionKey: "webui:scheduled" };
  const { to, thread } = payload;
  const place = { channel, chatId: to, senderId: to, sessionKey: sessionKeyOf(channel, to, thread) };
  return thread === undefined || thread === "" ? place : { ...place, thread };
}
