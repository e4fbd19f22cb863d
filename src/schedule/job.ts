import { z } from "zod";

const text = z.string().trim().min(1);

/** When a job is due. Times are in the job's own time zone unless they say otherwise. */
export const schedule = z.discriminatedUnion("kind", [
  /** Once. Unix ms. */
  z.object({ kind: z.literal("at"), at: z.number() }),
  /** Again and again, counted from `anchor` (Unix ms), so that restarts do not move it. */
  z.object({ kind: z.literal("every"), everyMs: z.number().min(60_000), anchor: z.number() }),
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  z.object({ kind: z.literal("cron"), expression: text, timeZone: text }),
]);
export type Schedule = z.infer<typeof schedule>;

/** Where a job's answers go, and whose rights it has. */
export const jobOwner = z.object({
  channel: text,
  chatId: text,
  thread: z.string().optional(),
  senderId: z.string(),
  sessionKey: text,
});
export type JobOwner = z.infer<typeof jobOwner>;

/** Something the assistant does by itself at its time. */
export const job = z.object({
  id: text,
  name: text,
  schedule,
  /** What the assistant is told then. */
  message: text,
  owner: jobOwner,
  /** `chat`: goes on in its chat's conversation. `alone`: each run begins a conversation of the job's own. */
  session: z.enum(["chat", "alone"]),
  /** What happens to times that passed while the gateway was down: nothing, or one run for all of them. */
  missed: z.enum(["skip", "once"]),
  enabled: z.boolean(),
  /** Unix ms. */
  createdAt: z.number(),
  /** The last time that was dealt with. Unix ms. */
  lastDue: z.number().optional(),
  /** Where what others wrote came from while the job was made or changed. */
  outside: z.array(text).optional(),
  /** The web addresses in its message that no model made up. */
  addresses: z.array(text).optional(),
});
export type Job = z.infer<typeof job>;

export interface Run {
  /** The message that the run consists of. */
  readonly messageId: string;
  /** ISO 8601. */
  readonly dueAt: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly status: "running" | "completed" | "failed" | "missed";
  /** The answer, or what went wrong; 500 characters. */
  readonly result?: string;
  /** Where what others wrote came from that had a say in the answer. */
  readonly outside?: string | undefined;
}

/** What makes a job, as people and models write it. Exactly one of `at`, `every` and `cron`. */
export interface JobWish {
  readonly name?: string | undefined;
  readonly message: string;
  /** A moment with offset, or a local time in `timeZone`: `2026-11-22T09:00`. */
  readonly at?: string | undefined;
  /** `90m`, `2h`, `1d`, or a number of seconds. */
  readonly every?: string | undefined;
  readonly cron?: string | undefined;
  /** IANA name; default: the gateway's. */
  readonly timeZone?: string | undefined;
  readonly session?: "chat" | "alone" | undefined;
  readonly missed?: "skip" | "once" | undefined;
  readonly outside?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
}

/** What is to be another one from now on. At most one of `at`, `every` and `cron`. */
export type JobChange = Partial<JobWish>;
