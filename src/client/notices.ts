import type { EventType } from "../events/catalogue.js";
import type { EventOf, GatewayEvent } from "../events/event.js";
import { visibleJson } from "../util/text/visible.js";
import { englishNotices, type NoticeWords } from "./notice-words.js";

export type Tone = "plain" | "warning" | "error";

/** What people are told about an event that is neither a message nor a tool call. */
export interface Notice {
  readonly tone: Tone;
  readonly text: string;
  readonly detail?: string | undefined;
  /** Notices with the same subject replace each other. */
  readonly subject?: string | undefined;
}

/** Says one of the words, with what is in `{…}` filled in. */
type Say = (key: keyof NoticeWords, values?: Readonly<Record<string, string | number>>) => string;
type Sentences = { readonly [T in EventType]?: (event: EventOf<T>, say: Say) => Notice | undefined };

const plain = (text: string, more: Partial<Notice> = {}): Notice => ({ tone: "plain", text, ...more });
const warning = (text: string, more: Partial<Notice> = {}): Notice => ({ tone: "warning", text, ...more });
const error = (text: string, more: Partial<Notice> = {}): Notice => ({ tone: "error", text, ...more });

const endings: Readonly<Record<string, keyof NoticeWords>> = {
  max_iterations: "maxIterations",
  max_tokens: "maxTokens",
  refusal: "declined",
  empty: "noAnswer",
};

const sentences: Sentences = {
  session_state_changed: ({ payload }, say) => {
    if (payload.to === "completed") return plain(say("closed"));
    if (payload.to === "aborted") return warning(say("aborted"));
    return payload.to === "deleted" ? warning(say("deleted")) : undefined;
  },
  subagent_state_changed: ({ payload }, say) => {
    const more = { subject: `task:${payload.task_id}`, detail: payload.error ?? payload.summary };
    const text = say("subTask", { label: payload.label, state: stateWord(payload.to, say) });
    return payload.to === "failed" ? error(text, more) : plain(text, more);
  },
  artifact_state_changed: ({ payload }, say) => {
    const { filename: name, size_bytes: size } = payload;
    const more = { subject: `artifact:${payload.artifact_id}` };
    if (payload.status === "failed")
      return error(say("fileFailed", { name, reason: payload.error ?? say("noReason") }), more);
    if (payload.status === "created") return plain(say("preparingFile", { name }), more);
    const text = size === undefined ? say("file", { name }) : say("fileOfSize", { name, size: sizeOf(size) });
    return plain(text, { ...more, detail: payload.path });
  },
  skill_matched: ({ payload: { missing, skills } }, say) => {
    if (missing.length > 0) return warning(say("noSkill", { names: missing.join(", ") }));
    if (skills.length === 0) return undefined;
    const names = skills.map(({ name }) => name).join(", ");
    return plain(say(skills.length === 1 ? "skill" : "skills", { names }));
  },
  context_compressed: ({ payload }, say) => {
    const { original_message_count: before, final_message_count: after, summary } = payload;
    return plain(say("summarised", { before, after }), { detail: summary });
  },
  doom_loop_detected: ({ payload }, say) =>
    warning(say("sameInput", { tool: payload.tool_name, n: payload.repeat_count })),
  session_log_mended: ({ payload }, say) => {
    const n = payload.lost.reduce((sum, range) => sum + range.to_seq - range.from_seq + 1, 0);
    if (n === 0) return warning(say("logRestored"));
    return error(say(n === 1 ? "eventLost" : "eventsLost", { n }));
  },
  turn_execution_complete: ({ payload }, say) => {
    const { stop_reason: reason, remark, iterations: n } = payload;
    const ending = endings[reason];
    const said = ending === undefined ? [] : [say(ending, { n })];
    // What a remark says beside that an answer was cut: its model was sent pictures that it cannot see.
    const remarks = remark?.split("\n\n").length ?? 0;
    if (remarks > (reason === "max_tokens" ? 1 : 0)) said.push(say("blind"));
    return said.length === 0 ? undefined : warning(said.join(" "));
  },
  turn_execution_failed: ({ payload }, say) =>
    error(payload.message || say("failed"), { detail: payload.code === "UNKNOWN" ? undefined : payload.code }),
  turn_execution_cancelled: ({ payload }, say) => {
    if (payload.reason === "timeout") return warning(say("tookTooLong"));
    return plain(say(payload.reason === "abort" ? "stoppedByGateway" : "stopped"));
  },
  human_input_asked: ({ payload }) => {
    const detail = payload.input === undefined ? undefined : visibleJson(payload.input);
    return warning(payload.question, { subject: `ask:${payload.request_id}`, detail });
  },
  human_input_answered: ({ payload: { outcome, answer } }, say) => {
    if (outcome === "answered") return plain(say("answered", { answer }));
    if (outcome === "cancelled") return plain(say("withdrawn"));
    return warning(answer === "" ? say("notAnswered") : say("notAnsweredBut", { answer }));
  },
  outbound_delivery_changed: ({ payload: { status, channel, error: reason } }, say) => {
    if (status !== "dead_letter" && status !== "refused") return undefined;
    const text = say(status === "refused" ? "replyRefused" : "notDelivered", { channel });
    return error(reason === undefined ? text : `${text}: ${reason}`);
  },
  error_occurred: ({ payload }) =>
    error(payload.message, { detail: payload.code === "UNKNOWN" ? undefined : payload.code }),
  budget_exceeded: ({ payload: { unit, limit, used, scope } }, say) => {
    const amount = (value: number): string => (unit === "usd" ? `$${value.toFixed(2)}` : `${value} ${unit}`);
    return error(say("limitReached", { limit: amount(limit), scope, used: amount(used) }));
  },
  environment_state_changed: ({ payload: { to, kind, detail } }, say) => {
    if (to !== "failed") return undefined;
    const text = say("environmentFailed", { kind });
    return error(detail === undefined ? text : `${text}: ${detail}`);
  },
  settings_changed: ({ payload }, say) => plain(say("setTo", { key: payload.key, value: payload.to })),
  schedule_run_changed: ({ payload: { status, job_id: job, error: reason } }, say) => {
    if (status === "failed") return error(say("jobFailed", { job, reason: reason ?? say("noReason") }));
    if (status === "missed") return warning(say("jobMissed", { job }));
    return status === "started" ? plain(say("job", { job })) : undefined;
  },
};

const inEnglish: Say = (key, values = {}) =>
  englishNotices[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

/** The word for the state of a plan, a step or a sub-task. */
export function stateWord(state: string, say: Say = inEnglish): string {
  const key = `state_${state}`;
  return isKey(key) ? say(key) : state;
}

/** What people read where the history was changed. */
export function historyNotice(kind: string, say: Say = inEnglish): string | undefined {
  const key = `history_${kind}`;
  return isKey(key) ? say(key) : undefined;
}

function isKey(key: string): key is keyof NoticeWords {
  return Object.hasOwn(englishNotices, key);
}

/** The line that people see for an event, if it has one. `say`: in another language. */
export function noticeOf(event: GatewayEvent, say: Say = inEnglish): Notice | undefined {
  // Each entry takes exactly the events of its own key, which the index access cannot express.
  const sentence = sentences[event.type] as ((event: GatewayEvent, say: Say) => Notice | undefined) | undefined;
  return sentence?.(event, say);
}

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
