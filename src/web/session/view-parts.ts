import { type Notice, noticeOf, sizeOf } from "../../client/notices.js";
import type { ContentPart } from "../../events/content.js";
import type { EventOf, GatewayEvent } from "../../events/event.js";
import { visibleFields } from "../../util/text/visible.js";
import { ownWords, permissionLine, permissionText } from "../failures/said.js";
import { addItem, type Draft, findItem, putItem, removeUnsettled } from "./view-draft.js";
import type { AssistantItem, Item, OpenPlan, OpenQuestion, SentFile, ToolItem } from "./view-state.js";
import { noticeWords } from "./words.js";

export function base(event: GatewayEvent, key: string): Pick<Item, "key" | "at" | "seq" | "turnId"> {
  return { key, at: event.timestamp, seq: event.seq ?? undefined, turnId: event.turn_id };
}

export function newAssistant(event: GatewayEvent, key: string, messageId: string): AssistantItem {
  const flags = { isStreaming: true, isPartial: false, isFinal: false };
  return { ...base(event, key), kind: "assistant", messageId, text: "", thinking: "", files: [], ...flags };
}

export function assistantFor(draft: Draft, event: GatewayEvent, messageId: string): AssistantItem {
  const key = `assistant:${messageId}`;
  const found = findItem(draft, key);
  if (found?.kind === "assistant") return found;
  return addItem(draft, { ...newAssistant(event, key, messageId), seq: undefined });
}

/** The line of a call. Models may use one call id again: a call that is over gets no second start. */
export function toolFor(
  draft: Draft,
  event: GatewayEvent,
  callId: string,
  name: string,
  messageId?: string,
  takesFinished = false,
): ToolItem {
  const key = `tool:${event.turn_id ?? ""}:${callId}`;
  const found = findItem(draft, key);
  const isOver = found?.kind === "tool" && found.status !== "preparing" && found.status !== "running";
  if (found?.kind === "tool" && (!isOver || takesFinished)) return found;
  const item: ToolItem = {
    ...base(event, found === undefined ? key : `${key}:${event.event_id}`),
    seq: undefined,
    kind: "tool",
    callId,
    messageId,
    name,
    input: "",
    output: "",
    summary: "",
    status: "preparing",
    durationMs: undefined,
  };
  return addItem(draft, item, key);
}

export function takeToolUse(
  draft: Draft,
  event: EventOf<"assistant_message">,
  part: Extract<ContentPart, { type: "tool_use" }>,
  messageId: string,
): void {
  const item = toolFor(draft, event, part.id, part.name, messageId);
  if (item.status !== "preparing") return;
  const input = part.invalid_json ?? JSON.stringify(part.input, null, 2);
  putItem(draft, { ...item, seq: item.seq ?? event.seq ?? undefined, name: part.name, messageId, input });
}

/** Takes away what was streamed and never stored: of one message, or all of it. */
export function dropStreamed(draft: Draft, messageId?: string): void {
  removeUnsettled(
    draft,
    (item) =>
      (item.kind === "assistant" || item.kind === "tool") &&
      item.seq === undefined &&
      (messageId === undefined || item.messageId === messageId),
  );
}

export function showNotice(draft: Draft, event: GatewayEvent): void {
  const notice = noticeOf(permissionInWords(event), noticeWords.t);
  if (notice !== undefined) addNotice(draft, event, inPageLanguage(event, notice));
}

function permissionInWords(event: GatewayEvent): GatewayEvent {
  if (event.type === "human_input_asked" && event.payload.kind === "permission") {
    const { question } = permissionText(questionOf(event.payload));
    return { ...event, payload: { ...event.payload, question } };
  }
  if (event.type === "human_input_answered" && event.payload.kind === "permission")
    return { ...event, payload: { ...event.payload, answer: permissionLine(event.payload.answer) } };
  return event;
}

/** What the gateway has said about a failure is behind the page's own words, where it is in another language. */
function inPageLanguage(event: GatewayEvent, notice: Notice): Notice {
  if (event.type !== "turn_execution_failed" && event.type !== "error_occurred") return notice;
  const text = ownWords(event.payload.code);
  if (text === undefined) return notice;
  return { ...notice, text, detail: [notice.text, notice.detail].filter((part) => part !== undefined).join("\n") };
}

/** An event that this build has no words for: its bare name, so that the reader knows that something happened. */
export function showName(draft: Draft, event: GatewayEvent): void {
  addNotice(draft, event, { tone: "plain", text: event.type });
}

export function addNotice(draft: Draft, event: GatewayEvent, { tone, text, detail, subject }: Notice): void {
  const key = `notice:${subject ?? event.event_id}`;
  const old = findItem(draft, key);
  if (old?.kind === "notice") putItem(draft, { ...old, tone, text, detail });
  else addItem(draft, { ...base(event, key), kind: "notice", tone, text, detail });
}

/** A sub-agent's result is not in the reader's own words: one line, with all of it behind. */
export function showResult(draft: Draft, event: EventOf<"user_message_queued">, text: string): void {
  const key = `user:${event.payload.message_id}`;
  if (findItem(draft, key) !== undefined) return;
  const [line = "", ...rest] = text.split("\n");
  const detail = rest.join("\n").trim();
  addItem(draft, { ...base(event, key), kind: "notice", tone: "plain", text: line.replace(/^\[|\]$/g, ""), detail });
}

export function showFile(draft: Draft, event: EventOf<"artifact_state_changed">): void {
  const {
    artifact_id: artifactId,
    status,
    filename,
    mime_type: mimeType,
    size_bytes: sizeBytes,
    error,
  } = event.payload;
  const key = `file:${artifactId}`;
  const size = sizeBytes === undefined ? "" : sizeOf(sizeBytes);
  const old = findItem(draft, key);
  const now = { artifactId, status, filename, mimeType, sizeBytes, size, error };
  if (old?.kind === "file") putItem(draft, { ...old, ...now });
  else addItem(draft, { ...base(event, key), kind: "file", ...now });
}

export function importMessage(
  draft: Draft,
  event: EventOf<"session_history_changed">,
  message: { readonly role: string; readonly content: string; readonly timestamp?: string | undefined },
  index: number,
): void {
  const messageId = `${event.event_id}:${index}`;
  const at = message.timestamp ?? event.timestamp;
  const common = { ...base(event, `import:${messageId}`), at };
  if (message.role === "user") {
    addItem(draft, {
      ...common,
      kind: "user",
      messageId,
      text: message.content,
      files: [],
      sender: undefined,
      status: "taken",
    });
  } else if (message.role === "assistant") {
    const flags = { isStreaming: false, isFinal: true };
    addItem(draft, { ...newAssistant(event, common.key, messageId), at, text: message.content, ...flags });
  } else {
    const tone = message.role === "error" ? "error" : "plain";
    addItem(draft, { ...common, kind: "notice", tone, text: message.content, detail: undefined });
  }
}

export function questionOf(asked: EventOf<"human_input_asked">["payload"]): OpenQuestion {
  return {
    requestId: asked.request_id,
    kind: asked.kind,
    question: asked.question,
    input: visibleFields(asked.input ?? {}),
    options: asked.options.map(({ id, label, description, recommended = false }) => {
      return { id, label, description, isRecommended: recommended };
    }),
    allowCustom: asked.allow_custom,
    fields: asked.fields ?? [],
    expiresAt: asked.expires_at,
  };
}

/** What of a plan is worth a place of its own; undefined for one that has come to its end. */
export function planOf({ plan, change }: EventOf<"plan_updated">["payload"]): OpenPlan | undefined {
  const { goal, status } = plan;
  if (change === "exited" || status === "completed" || status === "failed") return undefined;
  return {
    goal,
    status,
    steps: plan.steps.map(({ description, ...step }) => ({
      text: description,
      status: step.status,
      result: step.result,
    })),
  };
}

export function plainContent(parts: readonly ContentPart[]): {
  readonly text: string;
  readonly files: readonly SentFile[];
} {
  if (!Array.isArray(parts)) throw new TypeError("content is not a list");
  let text = "";
  const files: SentFile[] = [];
  for (const part of parts) {
    if (part.type === "text") text += part.text;
    if (part.type === "file" || part.type === "image") {
      const storedAs = part.path.split(/[/\\]/).at(-1) ?? part.path;
      files.push({ filename: part.filename ?? storedAs, mimeType: part.mime_type, storedAs });
    }
  }
  return { text, files };
}
