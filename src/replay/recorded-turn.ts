import type { InboundMessage } from "../bus/messages.js";
import type { EventType, Payload } from "../events/catalogue.js";
import type { EventOf, StoredEvent } from "../events/event.js";
import { messageIn } from "../events/queued-message.js";
import { clientChannels, depthOf } from "../events/session-key.js";
import { terminalTypes } from "../events/sets.js";
import type { SessionLog } from "./find-turn.js";

/** A finished turn as its session's log tells it, with what is needed to run it again. */
export interface RecordedTurn {
  readonly turnId: string;
  readonly sessionKey: string;
  /** The log before the turn. */
  readonly before: readonly StoredEvent[];
  /** Everything that the turn wrote, up to its end. */
  readonly events: readonly StoredEvent[];
  readonly end: Payload<"turn_execution_complete">;
  readonly message: InboundMessage;
  /** What was added in mid-turn, by the iteration that saw it first. */
  readonly additions: ReadonlyMap<number, readonly InboundMessage[]>;
}

/** Why a turn cannot be run again: one sentence for people. */
export class NotReplayable extends Error {
  override readonly name = "NotReplayable";
}

/** What a turn can write without anybody or anything besides the model and its tools having a hand in it. */
const playable: ReadonlySet<EventType> = new Set([
  "turn_execution_start",
  "session_state_changed",
  "session_history_changed",
  "skill_matched",
  "user_message",
  "agent_state_changed",
  "turn_iteration_start",
  "context_compressed",
  "plan_updated",
  "assistant_message",
  "tool_execution_start",
  "tool_execution_complete",
  "outbound_delivery_changed",
  "session_title_generated",
  "turn_execution_complete",
]);

/** @throws {NotReplayable} for a turn that is not over, was not told in one piece, or is not all in the log */
export function readRecordedTurn({ sessionKey, events: log }: SessionLog, turnId: string): RecordedTurn {
  // How its replies fare on their way is another's story, and told in between or later.
  const own = log.filter((event) => event.turn_id === turnId && !isUnderWay(event));
  const endIndex = own.findIndex(({ type }) => terminalTypes.has(type));
  const terminal = own[endIndex];
  if (terminal === undefined)
    throw new NotReplayable(`${turnId} is not over: there is no end to compare with. Try again when it is.`);
  const events = own.slice(0, endIndex + 1);
  const end = endOf(terminal, turnId);
  const attempts = events.filter(({ type }) => type === "turn_execution_start").length;
  if (attempts !== 1)
    throw new NotReplayable(
      `${turnId} was interrupted by a restart and took ${attempts} attempts: only turns without a restart can be run again.`,
    );
  if (end.errors.length > 0)
    throw new NotReplayable(
      `${turnId} had to ask the model again after a failure (${end.errors.join(", ")}), and failed calls are not in the log: it cannot be run again.`,
    );
  const strange = events.find(({ type }) => !playable.has(type));
  if (strange !== undefined) throw new NotReplayable(whyNotRepeated(turnId, strange));
  const before = log.slice(
    0,
    log.findIndex((event) => event.turn_id === turnId),
  );
  const gap = log.find(({ seq }, index) => seq <= terminal.seq && index > 0 && seq !== (log[index - 1]?.seq ?? 0) + 1);
  if (gap !== undefined) {
    const why = gap.metadata.dropped === undefined ? "" : ", whose details were left out after events.detailDays";
    throw new NotReplayable(
      `The log of ${sessionKey} lacks events before ${gap.seq}${why}: ${turnId} cannot be run again.`,
    );
  }
  return { turnId, sessionKey, before, events, end, ...messagesOf(sessionKey, log, events, end) };
}

function whyNotRepeated(turnId: string, { type, seq }: StoredEvent): string {
  if (type === "human_input_asked" || type === "human_input_answered")
    return `In ${turnId} a person was asked something. A turn that waited for people cannot be played again.`;
  return `${turnId} holds ${type} (event ${seq}), which cannot be repeated.`;
}

function isUnderWay(event: StoredEvent): boolean {
  return event.type === "outbound_delivery_changed" && event.payload.status !== "queued";
}

function endOf(terminal: StoredEvent, turnId: string): Payload<"turn_execution_complete"> {
  if (terminal.type === "turn_execution_complete") return terminal.payload;
  if (terminal.type === "turn_execution_failed")
    throw new NotReplayable(`${turnId} failed (${terminal.payload.code}): there is no whole answer to play again.`);
  if (terminal.type === "turn_execution_cancelled")
    throw new NotReplayable(
      `${turnId} was interrupted (${terminal.payload.reason}, ${terminal.payload.mode}): where exactly is not in the log, so it cannot be run again.`,
    );
  throw new TypeError(`${terminal.type} does not end a turn`);
}

function messagesOf(
  sessionKey: string,
  log: readonly StoredEvent[],
  events: readonly StoredEvent[],
  end: Payload<"turn_execution_complete">,
): Pick<RecordedTurn, "message" | "additions"> {
  const queued = new Map(
    log.flatMap((event) => (event.type === "user_message_queued" ? [[event.payload.message_id, event] as const] : [])),
  );
  const isSilent = !events.some(({ type }) => type === "outbound_delivery_changed");
  /** The result of a sub-agent, or with its task, and was others' in part. */
  const mixedIn = (id: string): readonly string[] | undefined => {
    const isOfTask =
      depthOf(sessionKey) > 0 || queued.get(id)?.payload.result_of !== undefined || id.startsWith("cron:");
    const entry = events.find((event) => event.type === "user_message" && event.payload.message_id === id);
    const outside = entry?.type === "user_message" ? entry.payload.outside : undefined;
    return isOfTask && outside !== undefined ? [outside] : undefined;
  };
  const inbound = (id: string): InboundMessage => {
    const event = queued.get(id);
    if (event === undefined) throw new NotReplayable(`The log of ${sessionKey} lacks the message ${id}.`);
    const message = { ...toInbound(sessionKey, event), mixed: mixedIn(id) };
    return isSilent && !clientChannels.has(message.channel) ? { ...message, internal: true } : message;
  };
  const [first = "", ...later] = end.message_ids;
  const additions = new Map<number, InboundMessage[]>();
  for (const id of later) {
    const entry = events.find((event) => event.type === "user_message" && event.payload.message_id === id);
    if (entry?.type !== "user_message")
      throw new NotReplayable(`The message ${id} ended with the turn without entering it: it cannot be run again.`);
    const { iteration } = entry.payload;
    additions.set(iteration, [...(additions.get(iteration) ?? []), inbound(id)]);
  }
  return { message: inbound(first), additions };
}

function toInbound(sessionKey: string, event: EventOf<"user_message_queued">): InboundMessage {
  // The log does not tell `next` from no mode at all; what was taken into a turn had none.
  return { ...messageIn(sessionKey, event), mode: undefined, resultOf: event.payload.result_of };
}
