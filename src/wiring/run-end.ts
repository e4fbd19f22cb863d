import { waitForTurn } from "../api/sessions/wait-for-turn.js";
import { messageOf } from "../errors.js";
import { draft } from "../events/event.js";
import type { RunChange } from "../schedule/scheduler.js";
import type { Core } from "./core.js";

/** How the turn of a message that the gateway gave itself has ended. */
export interface RunEnd {
  readonly status: "completed" | "failed";
  /** The answer, or what went wrong. */
  readonly result: string;
  /** Where what others wrote came from that had a say in it. */
  readonly outside?: string | undefined;
}

/** Resolves with the end, also when an earlier process has seen it; with undefined when `signal` aborts. Never rejects. */
export async function endOfRun(
  { events: bus, sessions, engine }: Pick<Core, "events" | "sessions" | "engine">,
  sessionKey: string,
  messageId: string,
  signal: AbortSignal,
): Promise<RunEnd | undefined> {
  try {
    const { end, response } = await waitForTurn({ bus, sessions, engine }, sessionKey, messageId, signal);
    if (end === "cancelled") return { status: "failed", result: "It was stopped." };
    const answer = (await sessions.peek(sessionKey))?.findLast(({ role }) => role === "assistant");
    return { status: end === "complete" ? "completed" : "failed", result: response, outside: answer?.outside };
  } catch (error) {
    return signal.aborted ? undefined : { status: "failed", result: messageOf(error) };
  }
}

/** Tells of a run in its conversation. Nothing begins a deleted one anew. */
export async function tellRun(
  { sessions, engine }: Pick<Core, "sessions" | "engine">,
  sessionKey: string,
  { jobId, dueAt, status, error }: Omit<RunChange, "job"> & { readonly jobId: string },
): Promise<void> {
  if (!(await sessions.exists(sessionKey))) return;
  const more = error === undefined ? {} : { error };
  const payload = { job_id: jobId, due_at: dueAt, status, session_key: sessionKey, ...more };
  await engine.append(sessionKey, [draft("schedule_run_changed", payload, { source: "gateway" })], { durable: false });
}
