import assert from "node:assert/strict";
import { catalogue, type EventType, specOf } from "../../../src/events/catalogue.js";
import { textOf } from "../../../src/events/content.js";
import { type GatewayEvent, isStored, type StoredEvent } from "../../../src/events/event.js";
import { deltaTypes, terminalTypes } from "../../../src/events/sets.js";

/** What is not over in a copy of a log is ended by the gateway. */
const endsInCopy = /^(agent|gateway)$/;

/** Who may be the source of what; all that is not named here can come from anywhere. */
const sources: Partial<Record<EventType, RegExp>> = {
  assistant_message: /^(provider:.+|gateway)$/,
  user_message_queued: /^channel:.+$/,
  user_message: /^agent$/,
  agent_state_changed: endsInCopy,
  tool_execution_start: /^agent$/,
  turn_execution_start: /^agent$/,
  turn_iteration_start: /^agent$/,
  turn_execution_complete: /^agent$/,
  turn_execution_failed: /^agent$/,
  turn_execution_cancelled: endsInCopy,
  skill_matched: /^agent$/,
  session_title_generated: /^(agent|client|gateway)$/,
  session_state_changed: /^(agent|client|gateway)$/,
  session_history_changed: /^(agent|client|gateway)$/,
  gateway_state_changed: /^gateway$/,
  connection_state_changed: /^(channel:.+|provider:.+|mcp:.+|client)$/,
  settings_changed: /^(client|agent|gateway)$/,
  llm_retry_scheduled: /^agent$/,
};
const anySource = /^(agent|client|gateway|(channel|provider|tool|mcp):.+)$/;
const withDeltaIndex: readonly EventType[] = ["text_delta", "thinking_delta", "tool_input_delta"];
const envelope = [
  ...["schema_version", "event_id", "type", "session_key", "seq", "after_seq", "delta_index", "timestamp", "source"],
  ...["turn_id", "correlation_id", "causation_id", "payload", "metadata"],
];

export interface EventRules {
  /** What the log held before the first of these events. */
  readonly past?: readonly StoredEvent[];
  /** Details are told and not stored. */
  readonly withoutDetail?: boolean;
}

/**
 * What must hold of everything that one process told on its system bus, in the order of telling: every envelope and
 * payload, the order within each session, and the story of each turn.
 */
export function assertEvents(events: readonly GatewayEvent[], rules: EventRules = {}): void {
  for (const event of events) assertAlone(event, rules);
  for (const key of new Set(events.map((event) => event.session_key))) {
    const past = (rules.past ?? []).filter((event) => event.session_key === key);
    const own = events.filter((event) => event.session_key === key);
    assertOrder(own, past);
    if (!key.startsWith("system:")) assertTurns([...past, ...own], past.length + copiedOf(own));
  }
}

/** How many of these events a copy of another log began with: they were not streamed here. */
function copiedOf(events: readonly GatewayEvent[]): number {
  return events.findLastIndex((event) => event.type === "session_history_changed" && event.payload.kind === "fork") + 1;
}

/** What can be said about an event without looking at others. */
function assertAlone(event: GatewayEvent, { withoutDetail = false }: EventRules): void {
  const { type, seq, source, metadata } = event;
  const about = `${type} ${event.event_id}`;
  assert.ok(Object.hasOwn(catalogue, type), about);
  const spec = specOf(type);
  assert.deepEqual(
    Object.keys(event).filter((key) => !envelope.includes(key)),
    [],
    about,
  );
  assert.equal(event.schema_version, "1.0", about);
  assert.match(event.event_id, /^evt_[0-9a-f]{20}$/, about);
  assert.match(event.session_key, /^(system:[a-z0-9-]+|[a-z0-9-]+:.+)$/, about);
  assert.match(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, about);
  assert.match(source, sources[type] ?? anySource, about);
  if (deltaTypes.has(type)) assert.match(source, /^provider:/, about);
  assert.deepEqual(spec.payload.parse(event.payload), event.payload, about);
  assertFrozen(event, about);
  assert.match(metadata.instance_id, /^gw_/, about);
  if (/^(agent|provider|tool)/.test(source) && type !== "connection_state_changed")
    assert.match(metadata.agent_id ?? "", /^agent_/, about);
  // A session that was deleted has no log any more in which this could be.
  if (spec.stored && !(spec.detail && withoutDetail) && !isDeletion(event)) {
    assert.ok(Number.isInteger(seq) && Number(seq) >= 1, about);
    assert.equal(event.after_seq, undefined, about);
  } else {
    assert.equal(seq, null, about);
    assert.ok(Number.isInteger(event.after_seq), about);
  }
  assert.equal(event.delta_index !== undefined, withDeltaIndex.includes(type), about);
}

function isDeletion(event: GatewayEvent): boolean {
  return event.type === "session_state_changed" && event.payload.to === "deleted";
}

function assertFrozen(value: unknown, about: string): void {
  if (typeof value !== "object" || value === null) return;
  assert.ok(Object.isFrozen(value), `${about} is frozen`);
  for (const inner of Object.values(value)) assertFrozen(inner, about);
}

/** Places and times within one session. */
function assertOrder(events: readonly GatewayEvent[], past: readonly StoredEvent[]): void {
  let last = past.at(-1)?.seq ?? 0;
  let time = past.at(-1)?.timestamp ?? "";
  const ids = new Set<string>(past.map((event) => event.event_id));
  for (const event of events) {
    const about = `${event.type} ${event.event_id}`;
    assert.ok(!ids.has(event.event_id), `${about}: its id is its own`);
    ids.add(event.event_id);
    assert.ok(event.timestamp >= time, `${about}: time never goes back`);
    time = event.timestamp;
    if (isStored(event)) {
      assert.equal(event.seq, last + 1, `${about}: places follow each other`);
      last = event.seq;
    } else assert.equal(event.after_seq, last, about);
  }
}

interface OpenTurn {
  readonly id: string;
  readonly correlation: string;
  /** Its last stored event. */
  cause: string;
  /** What was last told about a reply on its way. */
  delivered?: string;
  /** Executions that have begun and not ended, by execution id. */
  readonly running: Map<string, Extract<GatewayEvent, { type: "tool_execution_start" }>>;
  /** Ids of the calls that a model has asked for. */
  readonly calls: Map<string, string>;
  stream: { readonly messageId: string; deltas: number; text: string; isOpen: boolean } | undefined;
}

/** The story of a session's turns. Events before `first` are from an earlier process. */
function assertTurns(events: readonly GatewayEvent[], first: number): void {
  const byId = new Map(events.map((event) => [event.event_id, event]));
  const queued = new Map<string, string>();
  const ended = new Set<string>();
  let turn: OpenTurn | undefined;
  let state = "idle";
  for (const [index, event] of events.entries()) {
    const about = `${event.type} ${event.event_id}`;
    if (event.type === "user_message_queued") {
      queued.set(event.payload.message_id, event.event_id);
      assert.equal(event.correlation_id, event.payload.message_id, about);
    }
    if (event.type === "turn_execution_start" && turn === undefined) turn = begin(event, queued);
    if (isDeletion(event)) {
      // What ran goes with the session.
      turn = undefined;
      state = "idle";
    }
    if (event.causation_id !== undefined) {
      const cause = byId.get(event.causation_id);
      assert.ok(cause !== undefined && isStored(cause), `${about}: its cause is a stored event`);
      assert.ok(cause.seq <= (event.seq ?? event.after_seq ?? 0), `${about}: its cause came before`);
    }
    if (event.type === "outbound_delivery_changed") {
      const root = rootOf(event, byId);
      assert.equal(root.type, "user_message_queued", `${about}: leads back to the message`);
      if (event.payload.status !== "queued") {
        if (turn !== undefined && turn.id === event.turn_id) turn.delivered = event.event_id;
        continue;
      }
    }
    if (event.turn_id === undefined) {
      assert.ok(!belongsToTurn(event), `${about}: has its turn's id`);
      continue;
    }
    assert.ok(turn !== undefined && turn.id === event.turn_id, `${about}: between its turn's start and its end`);
    assert.ok(!ended.has(turn.id), `${about}: nothing comes after the end of a turn`);
    // An answer to a question names the message that it was.
    if (event.type !== "human_input_answered") assert.equal(event.correlation_id, turn.correlation, about);
    // Another attempt goes on from the last one in the log, what happened to its replies included.
    if (event.causation_id !== turn.delivered)
      assert.equal(event.causation_id, turn.cause, `${about}: its cause is the stored event before it`);
    if (isStored(event)) turn.cause = event.event_id;
    if (event.type === "agent_state_changed") {
      assert.equal(event.payload.from, state, about);
      assert.notEqual(event.payload.to, state, about);
      state = event.payload.to;
    }
    if (index >= first) follow(event, turn, about);
    else if (event.type === "assistant_message") noteCalls(event, turn);
    else if (event.type === "tool_execution_start") turn.running.set(event.payload.tool_execution_id, event);
    else if (event.type === "tool_execution_complete") turn.running.delete(event.payload.tool_execution_id);
    if (!terminalTypes.has(event.type)) continue;
    assert.deepEqual([...turn.running.keys()], [], `${about}: every tool that was started has ended`);
    assert.equal(rootOf(event, byId).type, "user_message_queued", about);
    assert.equal(state, "idle", about);
    ended.add(turn.id);
    turn = undefined;
  }
}

function begin(
  event: Extract<GatewayEvent, { type: "turn_execution_start" }>,
  queued: ReadonlyMap<string, string>,
): OpenTurn {
  const [correlation = ""] = event.payload.message_ids;
  const cause = queued.get(correlation);
  assert.ok(event.turn_id !== undefined && cause !== undefined, "a turn begins with a message that was queued");
  return { id: event.turn_id, correlation, cause, running: new Map(), calls: new Map(), stream: undefined };
}

/** Whether an event can only come from inside a turn. */
function belongsToTurn(event: GatewayEvent): boolean {
  if (event.type === "user_message_queued") return false;
  // A plan that was taken over.
  if (event.type === "plan_updated" && event.source === "gateway") return false;
  const { layer } = specOf(event.type);
  return (
    layer === "stream" || layer === "message" || layer === "turn" || /^(agent$|provider:|tool:)/.test(event.source)
  );
}

function rootOf(event: GatewayEvent, byId: ReadonlyMap<string, GatewayEvent>): GatewayEvent {
  let root = event;
  for (let cause = root.causation_id; cause !== undefined; cause = root.causation_id) {
    const next = byId.get(cause);
    assert.ok(next !== undefined, `${root.type}: its cause is there`);
    root = next;
  }
  return root;
}

function noteCalls(event: Extract<GatewayEvent, { type: "assistant_message" }>, turn: OpenTurn): void {
  for (const part of event.payload.content) if (part.type === "tool_use") turn.calls.set(part.id, part.name);
}

/** Streams and tools. */
function follow(event: GatewayEvent, turn: OpenTurn, about: string): void {
  const { stream } = turn;
  switch (event.type) {
    case "message_stream_start":
      assert.ok(stream?.isOpen !== true, `${about}: one stream at a time`);
      turn.stream = { messageId: event.payload.message_id, deltas: 0, text: "", isOpen: true };
      return;
    case "text_delta":
    case "thinking_delta":
    case "tool_input_delta":
    case "tool_call_start":
    case "message_stream_end":
      assert.ok(stream?.isOpen, `${about}: within its stream`);
      if ("message_id" in event.payload) assert.equal(event.payload.message_id, stream.messageId, about);
      if (event.delta_index !== undefined) assert.equal(event.delta_index, stream.deltas++, about);
      if (event.type === "text_delta") stream.text += event.payload.text;
      if (event.type === "message_stream_end") stream.isOpen = false;
      return;
    case "assistant_message":
      noteCalls(event, turn);
      if (event.source === "gateway") return;
      assert.ok(stream !== undefined && !stream.isOpen, `${about}: after its stream`);
      assert.equal(event.payload.message_id, stream.messageId, about);
      assert.equal(textOf(event.payload.content), stream.text, `${about}: its text is what was streamed`);
      return;
    case "tool_execution_start": {
      const { tool_execution_id, tool_call_id, tool_name } = event.payload;
      assert.equal(turn.calls.get(tool_call_id), tool_name, `${about}: a model has asked for it`);
      turn.running.set(tool_execution_id, event);
      return;
    }
    case "tool_execution_complete": {
      const { tool_execution_id, tool_call_id, tool_name, is_error, error_code } = event.payload;
      const start = turn.running.get(tool_execution_id);
      assert.ok(start !== undefined, `${about}: one end for each start`);
      assert.deepEqual([start.payload.tool_call_id, start.payload.tool_name], [tool_call_id, tool_name], about);
      assert.equal(event.source, `tool:${tool_name}`, about);
      assert.equal(error_code !== undefined, is_error, about);
      turn.running.delete(tool_execution_id);
      return;
    }
    default:
      return;
  }
}
