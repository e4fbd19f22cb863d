import { z } from "zod";
import { contentPart, imagePart, stopReasons, usage } from "./content.js";

/** Where an event belongs: `stream` events are never stored; `turn` and `message` ones tell a turn's story. */
export type Layer = "stream" | "state" | "message" | "turn" | "hitl" | "system";

/** One row of the catalogue. */
export interface EventSpec<P extends z.ZodType = z.ZodType> {
  readonly layer: Layer;
  /** Kept in the session log. `detail` rows can be switched off by `events.persistDetail: false`. */
  readonly stored: boolean;
  readonly detail: boolean;
  /** Ends a turn: exactly one per turn. */
  readonly terminal: boolean;
  /** `internal` events never leave the process; `chat` means that a commit also sends it to the person. */
  readonly goesTo: "clients" | "clients and chat" | "nobody";
  readonly payload: P;
}

type Flags = Partial<Pick<EventSpec, "stored" | "detail" | "terminal" | "goesTo">>;

function spec<S extends z.ZodRawShape>(layer: Layer, payload: S, flags: Flags = {}): EventSpec<z.ZodObject<S>> {
  return {
    layer,
    stored: flags.stored ?? layer !== "stream",
    detail: flags.detail ?? false,
    terminal: flags.terminal ?? false,
    goesTo: flags.goesTo ?? "clients",
    payload: z.object(payload),
  };
}

const text = z.string();
const count = z.number().int().nonnegative();
const optionalText = text.optional();
const stopReason = z.enum(stopReasons);
const category = z.enum(["driver", "persistence", "connection", "runtime"]);
/** Where something was written by a model outside of any answer. */
const modelUse = { model: optionalText, usage: usage.optional(), cost_usd: z.number().optional() };
/** What an answer that was cut has probably used beyond what its provider had told by then. */
const guess = z.object({ tokens: count, cost_usd: z.number().optional() }).optional();
/** What answers have used that were begun and given up: part of what the turn has used, and in none of its messages. */
const discarded = z.array(z.object({ model: text, usage, cost_usd: z.number().optional(), guess })).optional();
const both = { goesTo: "clients and chat" } as const;

export const agentStates = [
  "idle",
  "thinking",
  "responding",
  "planning_tool",
  "awaiting_tool_result",
  "awaiting_human",
  "error",
] as const;

export const connectionStates = ["connecting", "connected", "reconnecting", "disconnected"] as const;
export const deliveryStatuses = ["queued", "sending", "sent", "unknown", "retrying", "dead_letter", "refused"] as const;

export const planStatuses = ["pending", "running", "paused", "completed", "failed"] as const;
export const stepStatuses = ["pending", "ready", "running", "completed", "skipped", "failed"] as const;

/** Every event type of the gateway. Types, JSON schema and docs are derived from this one table. */
export const catalogue = {
  message_stream_start: spec("stream", { message_id: text, model: text, iteration: count }),
  text_delta: spec("stream", { message_id: text, text }, both),
  thinking_delta: spec("stream", { message_id: text, text }),
  tool_call_start: spec("stream", { message_id: text, tool_call_id: text, tool_name: text }),
  tool_input_delta: spec("stream", { tool_call_id: text, partial_json: text }),
  message_stream_end: spec("stream", { message_id: text, stop_reason: stopReason, usage }),
  agent_state_changed: spec(
    "state",
    { from: z.enum(agentStates), to: z.enum(agentStates), cause: text },
    { detail: true, ...both },
  ),
  session_state_changed: spec("state", { from: text, to: text, reason: text }),
  /** How the owner keeps the conversation. Not in the log: the newest marks are kept beside it. */
  session_marks_changed: spec(
    "state",
    {
      pinned: z.boolean(),
      archived: z.boolean(),
      /** Up to here the owner has read; absent where nothing was read since marks are kept. */
      read_seq: count.optional(),
    },
    { stored: false },
  ),
  subagent_state_changed: spec("state", {
    task_id: text,
    label: text,
    child_session_key: text,
    from: z.enum(["none", "pending", "running", "completed", "failed"]),
    to: z.enum(["pending", "running", "completed", "failed"]),
    summary: optionalText,
    error: optionalText,
    /** At its end: what it and its own sub-agents have used. */
    usage: usage.optional(),
    cost_usd: z.number().optional(),
  }),
  user_message_queued: spec("message", {
    message_id: text,
    platform_message_id: optionalText,
    channel: text,
    chat_id: text,
    thread: optionalText,
    sender_id: text,
    sender_name: optionalText,
    content: z.array(contentPart),
    /** The message that it answers, cut short. */
    quoted: z.object({ text, by: z.enum(["assistant", "sender", "other"]), name: optionalText }).optional(),
    /** Set when it is not a new message: what happened to the earlier one with the same platform_message_id. */
    change: z.enum(["edited", "deleted"]).optional(),
    mode: z.enum(["next", "append", "cancel"]),
    position: count,
    /** Set when this brings back what happened to a sub-agent's task. */
    result_of: optionalText,
  }),
  user_message: spec("message", {
    message_id: text,
    content: z.array(contentPart),
    iteration: count,
    /** Where those parts of the content came from that the sender did not write. */
    outside: optionalText,
    /** What its sender was to the gateway then. */
    by: z.enum(["owner", "guest"]).optional(),
    /** The web addresses in it that no model made up. */
    addresses: z.array(text).optional(),
    /** How many files came with it. */
    files: count.optional(),
  }),
  assistant_message: spec(
    "message",
    {
      message_id: text,
      content: z.array(contentPart),
      model: text,
      iteration: count,
      stop_reason: stopReason,
      usage,
      cost_usd: z.number().optional(),
      guess,
      final: z.boolean(),
      partial: z.boolean(),
    },
    both,
  ),
  tool_execution_start: spec("message", {
    tool_execution_id: text,
    tool_call_id: text,
    tool_name: text,
    input: z.record(text, z.unknown()),
    iteration: count,
    origin: z.enum(["builtin", "mcp"]),
  }),
  tool_execution_complete: spec("message", {
    tool_execution_id: text,
    tool_call_id: text,
    tool_name: text,
    output: text,
    is_error: z.boolean(),
    error_code: optionalText,
    duration_ms: count,
    summary: text,
    /** Where the output came from when others wrote it. */
    outside: optionalText,
    /** Where in the output web addresses are that came from outside: anywhere, or as targets of links only. */
    addresses: z.enum(["text", "links"]).optional(),
    /** The web address that was opened with permission. */
    visited: optionalText,
    /** What the model was shown with the output. */
    images: z.array(imagePart).optional(),
  }),
  artifact_state_changed: spec(
    "message",
    {
      artifact_id: text,
      status: z.enum(["created", "ready", "failed"]),
      filename: text,
      mime_type: text,
      size_bytes: count.optional(),
      path: optionalText,
      source_tool: text,
      error: optionalText,
    },
    both,
  ),
  turn_execution_start: spec("turn", { message_ids: z.array(text), queued_ms: count, attempt: count }),
  turn_iteration_start: spec("turn", { iteration: count, max_iterations: count, model: text }, { detail: true }),
  skill_matched: spec("turn", {
    skills: z.array(z.object({ name: text, source: text, chars: count, truncated: z.boolean() })),
    missing: z.array(text),
    selector: text,
  }),
  context_compressed: spec(
    "turn",
    {
      strategy: text,
      original_message_count: count,
      final_message_count: count,
      estimated_tokens: count,
      token_budget: count,
      utilization_pct: z.number(),
      summary: text,
      ...modelUse,
    },
    both,
  ),
  doom_loop_detected: spec("turn", { tool_name: text, input: z.record(text, z.unknown()), repeat_count: count }),
  turn_execution_complete: spec(
    "turn",
    {
      message_ids: z.array(text),
      message_id: text,
      stop_reason: z.enum([...stopReasons, "max_iterations", "empty"]),
      remark: text.optional(),
      iterations: count,
      usage,
      cost_usd: z.number().optional(),
      duration_ms: count,
      tool_calls: z.array(z.object({ id: text, name: text, is_error: z.boolean(), duration_ms: count })),
      errors: z.array(text),
      discarded,
    },
    { terminal: true },
  ),
  turn_execution_failed: spec(
    "turn",
    {
      message_ids: z.array(text),
      code: text,
      category,
      message: text,
      recoverable: z.boolean(),
      usage,
      duration_ms: count,
      discarded,
    },
    { terminal: true, ...both },
  ),
  turn_execution_cancelled: spec(
    "turn",
    {
      message_ids: z.array(text),
      reason: z.enum(["user_interrupt", "timeout", "abort"]),
      mode: text,
      partial_message_id: optionalText,
      discarded,
    },
    { terminal: true, ...both },
  ),
  session_title_generated: spec("state", {
    title: text,
    generated_by: z.enum(["model", "fallback", "user"]),
    ...modelUse,
  }),
  human_input_asked: spec(
    "hitl",
    {
      request_id: text,
      kind: z.enum(["clarification", "decision", "env_var", "permission"]),
      question: text,
      approver: z.enum(["asker", "owner"]).optional(),
      tool_call_id: optionalText,
      tool_name: optionalText,
      input: z.record(text, z.unknown()).optional(),
      patterns: z.array(text).optional(),
      options: z.array(
        z.object({
          id: text,
          label: text,
          description: optionalText,
          recommended: z.boolean().optional(),
          risk_level: optionalText,
        }),
      ),
      allow_custom: z.boolean(),
      default: optionalText,
      fields: z.array(text).optional(),
      mid_call: z.boolean().optional(),
      timeout_seconds: count,
      expires_at: text,
    },
    both,
  ),
  human_input_answered: spec("hitl", {
    request_id: text,
    kind: z.enum(["clarification", "decision", "env_var", "permission"]),
    outcome: z.enum(["answered", "timeout", "cancelled"]),
    answer: text,
    responder_id: text,
  }),
  gateway_state_changed: spec("system", {
    from: z.enum(["starting", "ready", "draining", "stopped"]),
    to: z.enum(["starting", "ready", "draining", "stopped"]),
    version: text,
  }),
  connection_state_changed: spec("system", {
    peer: z.enum(["channel", "client", "mcp", "provider"]),
    name: text,
    from: z.enum(connectionStates),
    to: z.enum(connectionStates),
    attempt: count.optional(),
    delay_ms: count.optional(),
    reason: optionalText,
    tool_count: count.optional(),
  }),
  outbound_delivery_changed: spec("system", {
    outbound_id: text,
    channel: text,
    chat_id: text,
    status: z.enum(deliveryStatuses),
    attempt: count,
    maybe_duplicate: z.boolean().optional(),
    content: optionalText,
    platform_message_id: optionalText,
    error: optionalText,
  }),
  error_occurred: spec("system", { code: text, category, message: text, recoverable: z.boolean(), scope: text }),
  plan_updated: spec(
    "turn",
    {
      plan: z.object({
        goal: text,
        status: z.enum(planStatuses),
        /** Only where a plan comes from elsewhere: else the events tell the times. */
        created_at: optionalText,
        steps: z.array(
          z.object({
            id: text,
            description: text,
            status: z.enum(stepStatuses),
            result: optionalText,
            started_at: optionalText,
            completed_at: optionalText,
          }),
        ),
      }),
      /** The step that changed, where it is one. */
      step_id: optionalText,
      /** Why, or what a reflection found. */
      note: optionalText,
      /** `channel:sender` of who wants the plan; told when it begins. */
      by: optionalText,
      /** Where what others wrote came from while the plan was made or changed. */
      outside: optionalText,
      change: z.enum([
        "entered",
        "created",
        "revised",
        "status_changed",
        "step_ready",
        "step_started",
        "step_completed",
        "step_skipped",
        "snapshot_taken",
        "rolled_back",
        "reflected",
        "adjusted",
        "execution_started",
        "completed",
        "exited",
      ]),
    },
    both,
  ),
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

export type Catalogue = typeof catalogue;
export type EventType = keyof Catalogue;
export type Payload<T extends EventType> = z.infer<Catalogue[T]["payload"]>;

export type AgentState = (typeof agentStates)[number];
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The catalogue's row for a type. */
export function specOf(type: EventType): EventSpec {
  return catalogue[type];
}

/** All types for which it is true, e.g. to listen to those alone. */
export function typesWhere(isWanted: (spec: EventSpec, type: EventType) => boolean): readonly EventType[] {
  // The catalogue's keys are the types.
  const types = Object.keys(catalogue) as EventType[];
  return types.filter((type) => isWanted(specOf(type), type));
}
