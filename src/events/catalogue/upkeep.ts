import { z } from "zod";
import { both, count, optionalText, spec, text } from "./spec.js";

/** Limits, the surroundings of a session, and what the gateway does with what is stored. */
export const upkeepEvents = {
  budget_exceeded: spec(
    "system",
    {
      scope: z.enum(["turn", "spawn", "session", "sender", "job", "day"]),
      limit: z.number(),
      used: z.number(),
      unit: z.enum(["tokens", "usd", "turns"]),
      /** Whose budget: `channel:sender` or a job's id. */
      subject: optionalText,
      /** What it holds for: a day, or a turn's id. */
      period: optionalText,
    },
    both,
  ),
  environment_state_changed: spec("system", {
    kind: z.enum(["sandbox", "browser", "terminal"]),
    environment_id: text,
    from: z.enum(["starting", "ready", "stopped", "failed"]),
    to: z.enum(["starting", "ready", "stopped", "failed"]),
    detail: optionalText,
  }),
  session_history_changed: spec("state", {
    /**
     * `import`: taken over from elsewhere. `said`: what was said here besides the turns. `restored`: brought back from the
     * document, as the log has lost them up to `to_seq`.
     */
    kind: z.enum(["new", "undo", "fork", "import", "said", "edit", "deletion", "restored"]),
    to_seq: count.optional(),
    messages: z
      .array(
        z.object({
          role: text,
          content: text,
          timestamp: optionalText,
          /** Where what others wrote came from while it was composed. */
          outside: optionalText,
          /** `restored`: the place of an event that was lost, where it belongs. */
          seq: count.optional(),
        }),
      )
      .optional(),
    /** `fork`: the session that this one was copied from, and up to where. */
    forked_from: z.object({ key: text, seq: count }).optional(),
  }),
  /** The session's log was damaged on the disk. It goes on without what could not be restored. */
  session_log_mended: spec(
    "system",
    {
      /** Numbers of events that are gone: no event will ever have them again. */
      lost: z.array(z.object({ from_seq: count, to_seq: count })),
      /** How many events were brought back from damaged lines or the journal. */
      restored: count,
      /** The damaged log as it was. */
      kept_in: optionalText,
    },
    both,
  ),
  settings_changed: spec("system", {
    scope: z.enum(["session", "gateway"]),
    key: text,
    from: optionalText,
    to: text,
  }),
  schedule_run_changed: spec("system", {
    job_id: text,
    due_at: text,
    status: z.enum(["started", "completed", "failed", "missed", "skipped"]),
    session_key: optionalText,
    error: optionalText,
  }),
  context_compaction_needed: spec(
    "system",
    { session_key: text, estimated_tokens: count, budget: count },
    { stored: false, goesTo: "nobody" },
  ),
  llm_retry_scheduled: spec(
    "system",
    { attempt: count, delay_ms: count, code: text },
    { stored: false, goesTo: "nobody" },
  ),
} as const;
