import { cutText } from "../../../util/text/cut-text.js";
import type { StoredEvent } from "../../event.js";
import { begunAt, errorAt, excerptOf, longestExcerpt, noteAt, type Stored, sumOf } from "./parts.js";
import type { AgentStep, DeliveryStep, NoteStep, QuestionStep, Step } from "./step.js";

/** What happens beside the work of the model and its tools: sub-agents, questions, deliveries, and moments worth a note. */
export class SideSteps {
  readonly #add: (step: Step) => void;
  readonly #agents = new Map<string, AgentStep>();
  readonly #questions = new Map<string, QuestionStep>();
  readonly #deliveries = new Map<string, DeliveryStep>();

  constructor(add: (step: Step) => void) {
    this.#add = add;
  }

  /** Sub-agents and deliveries may outlive the turn, and are told without it then. */
  knows(event: StoredEvent): boolean {
    if (event.type === "subagent_state_changed") return this.#agents.has(event.payload.task_id);
    return event.type === "outbound_delivery_changed" && this.#deliveries.has(event.payload.outbound_id);
  }

  apply(event: StoredEvent, at: number): void {
    switch (event.type) {
      case "subagent_state_changed":
        this.#changeAgent(event, at);
        return;
      case "human_input_asked":
        this.#ask(event, at);
        return;
      case "human_input_answered":
        this.#settle(event, at);
        return;
      case "outbound_delivery_changed":
        this.#deliver(event, at);
        return;
      case "error_occurred":
        this.#add(errorAt(event, at, event.payload.code, event.payload.message));
        return;
      default: {
        const note = noteOf(event);
        if (note !== undefined) this.#add(noteAt(event, at, ...note));
      }
    }
  }

  /** What nobody has answered when the turn ends is over. */
  end(at: number): void {
    for (const step of this.#questions.values()) step.endMs ??= at;
  }

  #changeAgent(event: Stored<"subagent_state_changed">, at: number): void {
    const { task_id, label, child_session_key, to, summary, error, usage, cost_usd } = event.payload;
    let step = this.#agents.get(task_id);
    if (step === undefined) {
      step = { kind: "agent", ...begunAt(event, at), label, sessionKey: child_session_key, state: to };
      this.#agents.set(task_id, step);
      this.#add(step);
    }
    step.state = to;
    if (to !== "completed" && to !== "failed") return;
    step.endMs = at;
    if (summary !== undefined) step.summary = summary;
    if (error !== undefined) step.error = error;
    if (usage !== undefined) step.tokens = sumOf(usage);
    if (cost_usd !== undefined) step.costUsd = cost_usd;
  }

  #ask(event: Stored<"human_input_asked">, at: number): void {
    const { request_id, question, kind, tool_name } = event.payload;
    const about = tool_name === undefined ? { about: kind } : { about: kind, toolName: tool_name };
    const step: QuestionStep = { kind: "question", ...begunAt(event, at), question, ...about };
    this.#questions.set(request_id, step);
    this.#add(step);
  }

  #settle({ payload }: Stored<"human_input_answered">, at: number): void {
    const step = this.#questions.get(payload.request_id);
    if (step === undefined) return;
    step.endMs = at;
    step.outcome = payload.outcome;
    step.responder = payload.responder_id;
    // What was asked for a variable may be a password.
    if (payload.kind !== "env_var") step.answer = cutText(payload.answer, longestExcerpt);
  }

  #deliver(event: Stored<"outbound_delivery_changed">, at: number): void {
    const { outbound_id, channel, chat_id, status, attempt, content, error, platform_message_id } = event.payload;
    let step = this.#deliveries.get(outbound_id);
    if (step === undefined) {
      const said = content === undefined ? {} : { said: excerptOf(content) };
      const to = { channel, chatId: chat_id, ...said };
      step = { kind: "delivery", ...begunAt(event, at), ...to, status, attempts: 0, changes: [] };
      this.#deliveries.set(outbound_id, step);
      this.#add(step);
    }
    step.status = status;
    step.attempts = Math.max(step.attempts, attempt);
    step.changes.push({ status, atMs: at, ...(error === undefined ? {} : { error }) });
    step.endMs = ["sent", "dead_letter", "refused"].includes(status) ? at : undefined;
    if (platform_message_id !== undefined) step.receipt = platform_message_id;
    if (event.payload.maybe_duplicate === true) step.maybeTwice = true;
  }
}

function noteOf(event: StoredEvent): readonly [NoteStep["code"], string] | undefined {
  switch (event.type) {
    case "skill_matched":
      return ["skills", [...event.payload.skills.map(({ name }) => name), ...event.payload.missing].join(", ")];
    case "plan_updated":
      return ["plan", event.payload.note ?? event.payload.plan.goal];
    case "doom_loop_detected":
      return ["loop", event.payload.tool_name];
    case "artifact_state_changed":
      return event.payload.status === "created" ? undefined : ["file", event.payload.filename];
    case "budget_exceeded":
      return ["budget", event.payload.scope];
    default:
      return undefined;
  }
}
