import type { EventType } from "../events/catalogue.js";
import type { EventOf, GatewayEvent } from "../events/event.js";
import { visibleJson } from "../util/text/visible.js";

export type Tone = "plain" | "warning" | "error";

/** What people are told about an event that is neither a message nor a tool call. */
export interface Notice {
  readonly tone: Tone;
  readonly text: string;
  readonly detail?: string | undefined;
  /** Notices with the same subject replace each other. */
  readonly subject?: string | undefined;
}

type Sentences = { readonly [T in EventType]?: (event: EventOf<T>) => Notice | undefined };

const plain = (text: string, more: Partial<Notice> = {}): Notice => ({ tone: "plain", text, ...more });
const warning = (text: string, more: Partial<Notice> = {}): Notice => ({ tone: "warning", text, ...more });
const error = (text: string, more: Partial<Notice> = {}): Notice => ({ tone: "error", text, ...more });

const endings: Readonly<Record<string, (iterations: number) => string>> = {
  max_iterations: (iterations) => `Stopped after ${iterations} steps, the limit for one answer.`,
  max_tokens: () => "The answer was cut at the model's length limit.",
  refusal: () => "The model declined to answer.",
  empty: () => "The model gave no answer.",
};

const sentences: Sentences = {
  session_state_changed: ({ payload }) => {
    if (payload.to === "completed") return plain("This conversation was closed.");
    if (payload.to === "aborted") return warning("This conversation was aborted.");
    if (payload.to === "deleted") return warning("This conversation was deleted.");
    return undefined;
  },
  subagent_state_changed: ({ payload }) => {
    const more = { subject: `task:${payload.task_id}`, detail: payload.error ?? payload.summary };
    const text = `Sub-task “${payload.label}”: ${payload.to}`;
    return payload.to === "failed" ? error(text, more) : plain(text, more);
  },
  artifact_state_changed: ({ payload }) => {
    const more = { subject: `artifact:${payload.artifact_id}` };
    if (payload.status === "failed")
      return error(`File ${payload.filename} failed: ${payload.error ?? "no reason given"}`, more);
    if (payload.status === "created") return plain(`Preparing file ${payload.filename} …`, more);
    return plain(
      `File ${payload.filename}${payload.size_bytes === undefined ? "" : `, ${sizeOf(payload.size_bytes)}`}`,
      {
        ...more,
        detail: payload.path,
      },
    );
  },
  skill_matched: ({ payload }) => {
    if (payload.missing.length > 0) return warning(`No skill named ${payload.missing.join(", ")}`);
    if (payload.skills.length === 0) return undefined;
    return plain(
      `${payload.skills.length === 1 ? "Skill" : "Skills"}: ${payload.skills.map(({ name }) => name).join(", ")}`,
    );
  },
  context_compressed: ({ payload }) =>
    plain(`Older messages were summarised: ${payload.original_message_count} → ${payload.final_message_count}`, {
      detail: payload.summary,
    }),
  doom_loop_detected: ({ payload }) =>
    warning(`${payload.tool_name} was called ${payload.repeat_count} times with the same input.`),
  session_log_mended: ({ payload }) => {
    const lost = payload.lost.reduce((sum, range) => sum + range.to_seq - range.from_seq + 1, 0);
    if (lost === 0)
      return warning("The log of this conversation was damaged on the disk. All of it could be restored.");
    const what = lost === 1 ? "1 event" : `${lost} events`;
    return error(`The log of this conversation was damaged on the disk: ${what} could not be restored.`);
  },
  turn_execution_complete: ({ payload }) => {
    const ending = endings[payload.stop_reason];
    return ending === undefined ? undefined : warning(ending(payload.iterations));
  },
  turn_execution_failed: ({ payload }) =>
    error(payload.message || "This answer failed.", { detail: payload.code === "UNKNOWN" ? undefined : payload.code }),
  turn_execution_cancelled: ({ payload }) => {
    if (payload.reason === "timeout") return warning("Stopped: it took too long.");
    return plain(payload.reason === "abort" ? "Stopped by the gateway." : "Stopped.");
  },
  human_input_asked: ({ payload }) => {
    const detail = payload.input === undefined ? undefined : visibleJson(payload.input);
    return warning(payload.question, { subject: `ask:${payload.request_id}`, detail });
  },
  human_input_answered: ({ payload }) => {
    if (payload.outcome === "answered") return plain(`Answered: ${payload.answer}`);
    if (payload.outcome === "cancelled") return plain("The question was withdrawn.");
    return warning(payload.answer === "" ? "Nobody answered in time." : `Nobody answered in time: ${payload.answer}`);
  },
  outbound_delivery_changed: ({ payload }) => {
    const reason = payload.error === undefined ? "" : `: ${payload.error}`;
    if (payload.status === "dead_letter") return error(`A reply could not be delivered to ${payload.channel}${reason}`);
    if (payload.status === "refused") return error(`${payload.channel} refused a reply${reason}`);
    return undefined;
  },
  error_occurred: ({ payload }) =>
    error(payload.message, { detail: payload.code === "UNKNOWN" ? undefined : payload.code }),
  budget_exceeded: ({ payload }) => {
    const amount = (value: number): string =>
      payload.unit === "usd" ? `$${value.toFixed(2)}` : `${value} ${payload.unit}`;
    return error(
      `The limit of ${amount(payload.limit)} per ${payload.scope} is reached (${amount(payload.used)} used).`,
    );
  },
  environment_state_changed: ({ payload }) =>
    payload.to === "failed"
      ? error(`The ${payload.kind} failed${payload.detail === undefined ? "" : `: ${payload.detail}`}`)
      : undefined,
  settings_changed: ({ payload }) => plain(`${payload.key} set to ${payload.to}`),
  schedule_run_changed: ({ payload }) => {
    if (payload.status === "failed")
      return error(`The scheduled job ${payload.job_id} failed: ${payload.error ?? "no reason given"}`);
    if (payload.status === "missed") return warning(`The scheduled job ${payload.job_id} was missed.`);
    if (payload.status === "started") return plain(`Scheduled job ${payload.job_id}`);
    return undefined;
  },
};

/** The line that people see for an event, if it has one. */
export function noticeOf(event: GatewayEvent): Notice | undefined {
  // Each entry takes exactly the events of its own key, which the index access cannot express.
  const sentence = sentences[event.type] as ((event: GatewayEvent) => Notice | undefined) | undefined;
  return sentence?.(event);
}

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
