import { specOf } from "../../../events/catalogue.js";
import type { StoredEvent } from "../../../events/event.js";
import type { EventReport, EventTrace, TracedPosition } from "../../../offline/events.js";
import { counted } from "../../../util/text/counted.js";
import { harmless } from "../output.js";

/** A line for each problem, then one that sums up. */
export function reportLines({ sessions, events, problems, problemCount }: EventReport): readonly string[] {
  const lines = problems.map(({ sessionKey, file, message }) => {
    const where = sessionKey ?? file;
    return harmless(where === undefined ? message : `${where}: ${message}`);
  });
  if (problemCount > problems.length) lines.push(`… and ${problemCount - problems.length} more`);
  const files = [...new Set(problems.flatMap(({ file }) => (file === undefined ? [] : [file])))].slice(0, 10);
  if (files.length > 0) lines.push(`In ${files.join(", ")}`);
  const found = problemCount === 0 ? "no problem" : problemCount === 1 ? "1 problem" : `${problemCount} problems`;
  lines.push(`${counted(sessions, "session")}, ${counted(events, "event")}: ${found}`);
  return lines;
}

const indent = "            ";

/** The life of an event: created, stored, published, what it follows from, what it led to, delivered. */
export function traceLines(trace: EventTrace): readonly string[] {
  const { event, lastSeq, places: positions, causes, missingCause, effects, deliveries, message } = trace;
  const agent = event.metadata.agent_id === undefined ? "" : `, ${event.metadata.agent_id}`;
  const lines = [
    `${event.event_id}  ${summary(event)}`,
    row("created", `${event.timestamp} by ${event.source}, ${event.metadata.instance_id}${agent}`),
    row("stored", `as ${event.seq} of ${lastSeq} in ${event.session_key}`),
    ...positions.map((position) => indent + positionText(position)),
    row("published", publishedText(event)),
    ...rows("follows", causes.map(chainLine), "from nothing: it begins a chain"),
    ...(missingCause === undefined ? [] : [`${indent}${missingCause}, which is not stored: the chain is broken`]),
    ...rows("led to", effects.map(chainLine), "nothing"),
    ...(message === undefined ? [] : [row("message", messageText(message))]),
    ...rows("delivered", deliveries.flatMap(deliveryLines), "nothing was sent to a platform for it"),
  ];
  return lines.map(harmless);
}

function row(name: string, text: string): string {
  return `${name.padEnd(indent.length)}${text}`;
}

function rows(name: string, texts: readonly string[], none: string): readonly string[] {
  return texts.length === 0 ? [row(name, none)] : texts.map((text, index) => row(index === 0 ? name : "", text));
}

function positionText(position: TracedPosition): string {
  if ("line" in position) return `${position.file}, line ${position.line}, byte ${position.byte}`;
  const safety = position.isSynced ? "safe on the disk" : "written";
  return `${position.file}, transaction ${position.transaction}, byte ${position.byte}, ${safety}`;
}

function publishedText({ type, seq }: StoredEvent): string {
  // A newer version may have stored types that this one does not know.
  const spec: ReturnType<typeof specOf> | undefined = specOf(type);
  if (spec?.goesTo === "nobody") return "to nobody: it is internal";
  const chat = spec?.goesTo === "clients and chat" ? "; the chat gets a message too" : "";
  return `to clients, right after it was written; readers from ${seq - 1} on get it again${chat}`;
}

function chainLine(event: StoredEvent): string {
  return `${String(event.seq).padStart(4)}  ${event.event_id}  ${summary(event)}`;
}

function messageText(message: NonNullable<EventTrace["message"]>): string {
  if (message === "waiting") return "accepted, and waits for its answer";
  return message === "done" ? "accepted, and its turn has ended" : "put aside as a dead letter after its attempts";
}

function deliveryLines({ outboundId, changes, state }: EventTrace["deliveries"][number]): readonly string[] {
  const first = changes[0]?.payload;
  const to = first === undefined ? "" : ` to ${first.channel} ${first.chat_id}`;
  const now = state === "done" ? "" : `: ${state === "waiting" ? "waits to be sent" : "a dead letter"}`;
  return [
    `${outboundId}${to}${now}`,
    ...changes.map(({ timestamp, payload }) => {
      const { status, attempt, platform_message_id: receipt, maybe_duplicate: mayRepeat, error } = payload;
      const details = [
        ...(attempt > 0 ? [`attempt ${attempt}`] : []),
        ...(receipt === undefined ? [] : [`receipt ${receipt}`]),
        ...(mayRepeat === true ? ["may be a repeat"] : []),
        ...(error === undefined ? [] : [error]),
      ];
      return `  ${timestamp} ${status}${details.length === 0 ? "" : ` (${details.join(", ")})`}`;
    }),
  ];
}

/** The type and what is most telling about it. */
function summary(event: StoredEvent): string {
  const detail = detailOf(event).replaceAll(/\s+/g, " ");
  return detail === "" ? event.type : `${event.type}: ${detail.length > 60 ? `${detail.slice(0, 60)}…` : detail}`;
}

function detailOf(event: StoredEvent): string {
  switch (event.type) {
    case "user_message_queued":
    case "user_message":
    case "assistant_message":
      return event.payload.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
    case "tool_execution_start":
      return event.payload.tool_name;
    case "tool_execution_complete":
      return event.payload.summary;
    case "agent_state_changed":
    case "session_state_changed":
    case "gateway_state_changed":
      return `${event.payload.from} → ${event.payload.to}`;
    case "outbound_delivery_changed":
      return event.payload.status;
    case "turn_execution_failed":
    case "error_occurred":
      return event.payload.message;
    default:
      return "";
  }
}
