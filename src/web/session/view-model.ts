import { historyNotice } from "../../client/notices.js";
import type { EventType } from "../../events/catalogue.js";
import type { EventOf, GatewayEvent } from "../../events/event.js";
import { withoutTurns } from "../../util/text/visible.js";
import {
  addItem,
  type Draft,
  draftOf,
  findItem,
  finish,
  moveItem,
  putItem,
  removeItems,
  removeUnsettled,
  unsettledItems,
} from "./view-draft.js";
import {
  assistantFor,
  base,
  dropStreamed,
  importMessage,
  newAssistant,
  plainContent,
  planOf,
  questionOf,
  showFile,
  showName,
  showNotice,
  showResult,
  takeToolUse,
  toolFor,
} from "./view-parts.js";
import { closeFailures, retriesAfter, retriesAfterState, showFailure, stopWaiting, takeRetry } from "./view-retries.js";
import type { Item, UserItem, ViewState } from "./view-state.js";
import { noticeWords } from "./words.js";

type Handlers = { readonly [T in EventType]: (draft: Draft, event: EventOf<T>) => void };

const ignore = (): void => undefined;

/** One entry per type of the catalogue, so that a new type does not compile until somebody decides how it looks. */
const handlers: Handlers = {
  message_stream_start(draft, event) {
    const item = assistantFor(draft, event, event.payload.message_id);
    if (item.seq !== undefined) return;
    removeUnsettled(
      draft,
      (other) => other.kind === "tool" && other.messageId === item.messageId && other.seq === undefined,
    );
    putItem(draft, { ...item, text: "", thinking: "", isStreaming: true });
  },
  text_delta(draft, event) {
    const item = assistantFor(draft, event, event.payload.message_id);
    if (item.seq === undefined) putItem(draft, { ...item, text: item.text + event.payload.text });
  },
  thinking_delta(draft, event) {
    const item = assistantFor(draft, event, event.payload.message_id);
    if (item.seq === undefined) putItem(draft, { ...item, thinking: item.thinking + event.payload.text });
  },
  tool_call_start(draft, event) {
    const { message_id, tool_call_id, tool_name } = event.payload;
    toolFor(draft, event, tool_call_id, tool_name, message_id);
  },
  tool_input_delta(draft, event) {
    const item = toolFor(draft, event, event.payload.tool_call_id, "");
    if (item.status === "preparing") putItem(draft, { ...item, input: item.input + event.payload.partial_json });
  },
  message_stream_end(draft, event) {
    const item = assistantFor(draft, event, event.payload.message_id);
    if (event.payload.stop_reason === "error" && item.seq === undefined) return dropStreamed(draft, item.messageId);
    putItem(draft, { ...item, isStreaming: false });
  },
  agent_state_changed(draft, event) {
    draft.agentState = event.payload.to;
    if (event.payload.cause === "restart") dropStreamed(draft);
  },
  session_state_changed(draft, event) {
    retriesAfterState(draft, event);
    showNotice(draft, event);
  },
  subagent_state_changed: showNotice,
  user_message_queued(draft, event) {
    const { message_id, content, channel, sender_name, result_of, retry_of } = event.payload;
    if (retry_of !== undefined) return;
    stopWaiting(draft);
    const shown = plainContent(content);
    if (result_of !== undefined) return showResult(draft, event, shown.text);
    if (findItem(draft, `user:${message_id}`) !== undefined) return;
    addItem(draft, {
      ...base(event, `user:${message_id}`),
      kind: "user",
      messageId: message_id,
      ...shown,
      sender: channel === "webui" || sender_name === undefined ? undefined : withoutTurns(sender_name),
      status: "queued",
    });
  },
  user_message(draft, event) {
    const { message_id, content } = event.payload;
    closeFailures(draft);
    const key = `user:${message_id}`;
    const item = findItem(draft, key);
    const contextSeq = event.seq ?? undefined;
    if (item?.kind === "user") return takeUser(draft, { ...item, contextSeq }, event);
    if (item !== undefined) return;
    const shown = plainContent(content);
    addItem(draft, {
      ...base(event, key),
      kind: "user",
      messageId: message_id,
      ...shown,
      sender: undefined,
      status: "taken",
      contextSeq,
    });
  },
  assistant_message(draft, event) {
    const { message_id, content, partial, final, answers, model, usage, cost_usd: costUsd } = event.payload;
    if (answers !== undefined) takeWaiting(draft, [answers], event);
    const { text, files } = plainContent(content);
    const thinking = content.map((part) => (part.type === "thinking" ? part.text : "")).join("");
    const item = assistantFor(draft, event, message_id);
    const seq = event.seq ?? undefined;
    const names = files.map(({ filename }) => filename);
    putItem(draft, {
      ...item,
      seq,
      text,
      thinking,
      files: names,
      isStreaming: false,
      isPartial: partial,
      isFinal: final,
      ...(event.source === "gateway" || model === "" ? {} : { made: { model, usage, costUsd } }),
    });
    for (const part of content) if (part.type === "tool_use") takeToolUse(draft, event, part, message_id);
  },
  tool_execution_start(draft, event) {
    const { tool_call_id, tool_name, input } = event.payload;
    const item = toolFor(draft, event, tool_call_id, tool_name);
    const seq = event.seq ?? undefined;
    putItem(draft, { ...item, seq, name: tool_name, input: JSON.stringify(input, null, 2), status: "running" });
  },
  tool_execution_complete(draft, event) {
    const { tool_call_id, tool_name, output, is_error, duration_ms, summary } = event.payload;
    const item = toolFor(draft, event, tool_call_id, tool_name, undefined, true);
    const status = is_error ? "failed" : "done";
    putItem(draft, {
      ...item,
      seq: item.seq ?? event.seq ?? undefined,
      output,
      summary,
      status,
      durationMs: duration_ms,
    });
  },
  artifact_state_changed: showFile,
  turn_execution_start(draft, event) {
    draft.runningTurn = event.turn_id ?? "";
    takeRetry(draft, event);
    if (event.payload.attempt > 1) dropStreamed(draft);
    takeWaiting(draft, event.payload.message_ids, event);
  },
  turn_iteration_start: ignore,
  skill_matched: showNotice,
  context_compressed: showNotice,
  doom_loop_detected: showNotice,
  turn_execution_complete(draft, event) {
    endTurn(draft, event);
    const { message_id, usage, cost_usd: costUsd, duration_ms: durationMs, iterations: calls } = event.payload;
    const item = findItem(draft, `assistant:${message_id}`);
    if (item?.kind !== "assistant") return;
    putItem(draft, { ...item, turn: { usage, costUsd, durationMs, calls, endSeq: event.seq ?? 0 } });
  },
  turn_execution_failed: endTurn,
  turn_execution_cancelled: endTurn,
  session_title_generated(draft, event) {
    draft.title = event.payload.title;
  },
  human_input_asked(draft, event) {
    draft.question = questionOf(event.payload);
    showNotice(draft, event);
  },
  human_input_answered(draft, event) {
    if (draft.question?.requestId === event.payload.request_id) draft.question = undefined;
    // Typed in the chat, it is the message that it follows from.
    if (event.correlation_id !== undefined) takeWaiting(draft, [event.correlation_id], event);
    showNotice(draft, event);
  },
  gateway_state_changed: ignore,
  connection_state_changed: ignore,
  outbound_delivery_changed(draft, event) {
    const { status, content, outbound_id } = event.payload;
    if (status !== "queued") return showNotice(draft, event);
    // What a turn sends out is in the turn's own messages already, except for what its tools send.
    const isShown = event.turn_id !== undefined && !/^exe_\w+-n/.test(outbound_id);
    if (content === undefined || content.trim() === "" || isShown) return;
    const key = `said:${outbound_id}`;
    if (findItem(draft, key) !== undefined) return;
    addItem(draft, { ...newAssistant(event, key, outbound_id), text: content, isStreaming: false });
  },
  error_occurred(draft, event) {
    if (event.correlation_id !== undefined && !event.payload.recoverable)
      takeWaiting(draft, [event.correlation_id], event);
    showNotice(draft, event);
  },
  plan_updated(draft, event) {
    const { plan, change } = event.payload;
    draft.plans = [...draft.plans, { seq: event.seq ?? 0, plan: planOf(event.payload) }];
    const key = `plan:${event.turn_id ?? plan.goal}`;
    const steps = plan.steps.map((step) => ({ text: step.description, status: step.status }));
    const status = change === "exited" ? "left" : plan.status;
    const old = findItem(draft, key);
    if (old?.kind === "plan") return putItem(draft, { ...old, goal: plan.goal, status, steps });
    addItem(draft, { ...base(event, key), kind: "plan", goal: plan.goal, status, steps });
  },
  budget_exceeded: showNotice,
  environment_state_changed: showNotice,
  session_history_changed(draft, event) {
    const { kind, to_seq, messages } = event.payload;
    retriesAfter(draft, event);
    if (kind === "new" || kind === "deletion") draft.plans = [];
    if (kind === "undo") draft.plans = draft.plans.filter(({ seq }) => seq <= (to_seq ?? 0));
    if (kind === "undo") noteBefore(draft, to_seq ?? 0, event.turn_id);
    if (kind === "undo" || kind === "deletion")
      removeItems(draft, (item) => isUndone(item, to_seq ?? 0, event.turn_id));
    for (const [index, message] of (messages ?? []).entries()) importMessage(draft, event, message, index);
    // A command's own answer says it.
    const isOfTurn = event.turn_id !== undefined;
    const text = isOfTurn ? quietTexts[kind] : historyNotice(kind, noticeWords.t);
    if (text === undefined) return;
    const earlierSeq = kind === "undo" ? seqBeforeTurn(draft, event.turn_id) : undefined;
    addItem(draft, { ...base(event, `history:${event.event_id}`), kind: "divider", text, earlierSeq });
  },
  session_marks_changed: ignore,
  session_log_mended: showNotice,
  settings_changed: showNotice,
  schedule_run_changed: showNotice,
  context_compaction_needed: ignore,
  llm_retry_scheduled: ignore,
  node_asked: ignore,
  node_answered: ignore,
};

/** A line is enough where the answer is below it. */
const quietTexts: Readonly<Record<string, string>> = { new: "", undo: "" };

/** What a turn has taken back is there up to where the turn began. */
function seqBeforeTurn(draft: Draft, turnId: string | undefined): number | undefined {
  const turnSeq = firstOf(draft, turnId)?.turnSeq;
  return turnSeq === undefined ? undefined : turnSeq - 1;
}

/** The message that takes the place of another one has that one's past, which may have taken the place of yet another. */
function noteBefore(draft: Draft, toSeq: number, turnId: string | undefined): void {
  const own = firstOf(draft, turnId);
  const replaced = draft.items.find((item) => item?.kind === "user" && isUndone(item, toSeq, turnId));
  const beforeSeq = (replaced?.kind === "user" ? replaced.beforeSeq : undefined) ?? toSeq;
  if (own !== undefined) putItem(draft, { ...own, beforeSeq });
}

function firstOf(draft: Draft, turnId: string | undefined): UserItem | undefined {
  const found = draft.items.findLast((item) => item?.kind === "user" && item.turnId === turnId);
  return turnId !== undefined && found?.kind === "user" ? found : undefined;
}

/** What is shown after these events. Pure: the same state and events give the same view, and nothing is changed in place. */
export function applyEvents(state: ViewState, events: readonly GatewayEvent[]): ViewState {
  const draft = draftOf(state);
  for (const event of events) {
    if (event.seq !== null) {
      if (event.seq <= draft.lastSequence) continue;
      draft.lastSequence = event.seq;
    }
    draft.lastAt = event.timestamp;
    try {
      if (Object.hasOwn(handlers, event.type)) {
        // Each entry takes exactly the events of its own key, which the index access cannot express.
        (handlers[event.type] as (draft: Draft, event: GatewayEvent) => void)(draft, event);
      } else {
        showName(draft, event);
      }
    } catch {
      // A payload of another shape than this build knows: still one line, and the rest of the chat goes on.
      showName(draft, event);
    }
  }
  return finish(draft);
}

/** From now on the message is where its turn took it: what takes the turn back takes it along. */
function takeUser(draft: Draft, item: UserItem, event: GatewayEvent): void {
  moveItem(draft, { ...item, status: "taken", seq: event.seq ?? item.seq, turnId: event.turn_id });
}

function takeWaiting(draft: Draft, messageIds: readonly string[], event: GatewayEvent): void {
  for (const id of messageIds) {
    const item = findItem(draft, `user:${id}`);
    const turnSeq = event.type === "turn_execution_start" ? (event.seq ?? undefined) : undefined;
    if (item?.kind === "user" && item.status === "queued") takeUser(draft, { ...item, turnSeq }, event);
  }
}

/** What waits, waits on, and what asked for it is not undone. */
function isUndone(item: Item, toSeq: number, ownTurn: string | undefined): boolean {
  const isKept =
    item.kind === "user" && (item.status === "queued" || (ownTurn !== undefined && item.turnId === ownTurn));
  return (item.seq ?? 0) > toSeq && !isKept;
}

function endTurn(
  draft: Draft,
  event: EventOf<"turn_execution_complete"> | EventOf<"turn_execution_failed"> | EventOf<"turn_execution_cancelled">,
): void {
  draft.runningTurn = undefined;
  draft.question = undefined;
  draft.agentState = "idle";
  dropStreamed(draft);
  // A command never enters the context, and a message may end without it.
  takeWaiting(draft, event.payload.message_ids, event);
  for (const item of unsettledItems(draft)) {
    if (item.kind === "tool" && (item.status === "running" || item.status === "preparing")) {
      putItem(draft, { ...item, status: "unknown" });
    }
  }
  if (event.type === "turn_execution_failed") showFailure(draft, event);
  else showNotice(draft, event);
}
