import type { AgentState } from "../events/catalogue.js";
import type { StoredEvent } from "../events/event.js";
import { newId } from "../util/ids.js";
import { DocumentFold } from "./document/document.js";
import { DocumentPace } from "./document/document-pace.js";
import { History } from "./history/history.js";
import { PlanTrail } from "./history/plan-trail.js";
import { TurnTrail } from "./history/turn-trail.js";
import type { SessionSummary } from "./session.js";
import type { StoredSession } from "./session-repository.js";
import { Spending } from "./spending.js";

/** A session in memory: everything in it is a fold over its events, kept up to date while it lives here. */
export interface ResidentSession {
  readonly key: string;
  /** A new one each time the session comes into memory. */
  readonly agentId: string;
  readonly history: History;
  readonly document: DocumentFold;
  /** The machine's state as last told. */
  readonly agentState: AgentState;
  /** Stored events of the last turn that has begun; empty once it has ended. */
  readonly openTurn: readonly StoredEvent[];
  readonly lastSequence: number;
  /** Above 1 when an earlier life of the session was deleted; 0 as long as there are no events. */
  readonly firstSequence: number;
  /** What an undo can take back. */
  readonly turns: TurnTrail;
  /** Messages that waited when the session was aborted, and have not ended yet. */
  readonly abortedMessages: ReadonlySet<string>;
  /** Event ids of the accepted messages whose turn has not ended, by message id. */
  readonly queuedEvents: ReadonlyMap<string, string>;
  /** Messages that stand in the context because they had joined a turn that was given up; their own turn is to come. */
  readonly enteredMessages: ReadonlySet<string>;
  /** The model that was chosen for this session, if one was. */
  readonly model: string | undefined;
  /** How much it is to think, in the words of `/model`, if that was chosen. */
  readonly thinking: string | undefined;
  readonly spending: Spending;
  readonly plan: PlanTrail;
}

/** The same for the store, which keeps it up to date. */
export interface MutableSession extends ResidentSession {
  agentState: AgentState;
  openTurn: StoredEvent[];
  lastSequence: number;
  firstSequence: number;
  readonly abortedMessages: Set<string>;
  readonly queuedEvents: Map<string, string>;
  readonly enteredMessages: Set<string>;
  model: string | undefined;
  thinking: string | undefined;
  /** Events that arrived while the past was being read. */
  early: StoredEvent[] | undefined;
  changed: boolean;
  readonly pace: DocumentPace;
  usedAt: number;
  timer: NodeJS.Timeout | undefined;
}

export function newSession(key: string): MutableSession {
  return {
    key,
    agentId: newId("agent"),
    history: new History(),
    document: new DocumentFold(key),
    agentState: "idle",
    openTurn: [],
    lastSequence: 0,
    firstSequence: 0,
    turns: new TurnTrail(),
    abortedMessages: new Set(),
    queuedEvents: new Map(),
    enteredMessages: new Set(),
    model: undefined,
    thinking: undefined,
    spending: new Spending(),
    plan: new PlanTrail(),
    early: [],
    changed: false,
    pace: new DocumentPace(),
    usedAt: Date.now(),
    timer: undefined,
  };
}

/** Takes one stored event into everything that is kept of the session. */
export function apply(session: MutableSession, event: StoredEvent): void {
  if (session.firstSequence === 0) session.firstSequence = event.seq;
  session.lastSequence = event.seq;
  session.history.apply(event);
  session.document.apply(event);
  session.turns.apply(event);
  session.spending.apply(event);
  session.plan.apply(event);
  if (event.type === "session_state_changed" && event.payload.to === "aborted")
    for (const id of session.queuedEvents.keys()) session.abortedMessages.add(id);
  if (event.type === "agent_state_changed") session.agentState = event.payload.to;
  if (event.type === "user_message_queued") session.queuedEvents.set(event.payload.message_id, event.event_id);
  if (event.type === "user_message") session.enteredMessages.add(event.payload.message_id);
  // A fresh or shorter context may be without them.
  if (event.type === "session_history_changed") session.enteredMessages.clear();
  if (event.type === "error_occurred" && event.correlation_id !== undefined && !event.payload.recoverable)
    endMessages(session, [event.correlation_id]);
  if (event.type === "settings_changed" && event.payload.key === "model") session.model = event.payload.to || undefined;
  if (event.type === "settings_changed" && event.payload.key === "thinking")
    session.thinking = event.payload.to || undefined;
  if (event.type === "turn_execution_start" && session.openTurn[0]?.turn_id !== event.turn_id) session.openTurn = [];
  if (event.turn_id === undefined) return;
  if (
    event.type === "turn_execution_complete" ||
    event.type === "turn_execution_failed" ||
    event.type === "turn_execution_cancelled"
  ) {
    session.openTurn = [];
    endMessages(session, event.payload.message_ids);
  } else if (event.type === "turn_execution_start" || session.openTurn[0]?.turn_id === event.turn_id)
    session.openTurn.push(event);
}

function endMessages(session: MutableSession, messageIds: readonly string[]): void {
  for (const id of messageIds) {
    session.queuedEvents.delete(id);
    session.abortedMessages.delete(id);
    session.enteredMessages.delete(id);
  }
}

export function summaryOf(session: ResidentSession): SessionSummary {
  const { title, summary, messageCount, lastMessage } = session.document;
  return {
    key: session.key,
    ...(title === undefined ? {} : { title }),
    ...(summary === undefined ? {} : { summary }),
    messageCount,
    ...(lastMessage === undefined
      ? {}
      : { lastMessageAt: lastMessage.timestamp, lastMessage: lastMessage.content.slice(0, 200) }),
  };
}

export function toStored(session: ResidentSession): StoredSession {
  return { document: session.document.toDocument(), summary: summaryOf(session) };
}
