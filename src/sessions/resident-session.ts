import type { AgentState, Payload } from "../events/catalogue.js";
import type { StoredEvent } from "../events/event.js";
import { RetryTrail } from "../events/retries/trail.js";
import { newId } from "../util/ids.js";
import { DocumentFold } from "./document/document.js";
import { DocumentPace, sizeOf } from "./document/document-pace.js";
import { History } from "./history/history.js";
import { MessageTrail } from "./history/message-trail.js";
import { PlanTrail } from "./history/plan-trail.js";
import { TurnTrail } from "./history/turn-trail.js";
import type { SessionSummary } from "./session.js";
import type { StoredSession } from "./session-repository.js";
import { Spending } from "./spending.js";

/** What people have chosen with `/model`. */
export interface WantedModel {
  readonly label: string | undefined;
  /** How much it is to think, in the words of `/model`. */
  readonly thinking: string | undefined;
}

/** What the session's turns have left. */
interface Trails {
  /** What an undo can take back. */
  readonly turns: TurnTrail;
  /** Accepted messages whose turn has not ended. */
  readonly messages: MessageTrail;
  /** Whether the last turn can be tried again. */
  readonly retries: RetryTrail;
}

/** A session in memory: everything in it is a fold over its events, kept up to date while it lives here. */
export interface ResidentSession extends Trails {
  readonly key: string;
  /** A new one each time the session comes into memory. */
  readonly agentId: string;
  readonly history: History;
  readonly document: DocumentFold;
  /** The machine's state as last told. */
  readonly agentState: AgentState;
  /** Stored events of the last turn that has begun; empty once it has ended. */
  readonly openTurn: readonly StoredEvent[];
  /** Above 1 when an earlier life of the session was deleted; 0 as long as there are no events. */
  readonly firstSequence: number;
  /** What was chosen for this session. */
  readonly wanted: WantedModel;
  readonly spending: Spending;
  readonly plan: PlanTrail;
}

/** What the store knows of a session's log. */
export interface LoggedFacts {
  /** An older history was taken over. */
  hasImport: boolean;
  hasToolRun: boolean;
  lastEventId: string;
  /** The file of its folds shows it up to here; 0 when there is none. */
  foldedSeq: number;
  /** Its document was compared with its log when its folds were made. */
  isCompared: boolean;
}

/** The same for the store, which keeps it up to date. */
export interface MutableSession extends ResidentSession {
  agentState: AgentState;
  openTurn: StoredEvent[];
  firstSequence: number;
  wanted: WantedModel;
  /** Events that arrived while the past was being read. */
  early: StoredEvent[] | undefined;
  changed: boolean;
  readonly logged: LoggedFacts;
  /** About how much memory it takes. */
  bytes: number;
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
    firstSequence: 0,
    turns: new TurnTrail(),
    messages: new MessageTrail(),
    wanted: { label: undefined, thinking: undefined },
    spending: new Spending(),
    plan: new PlanTrail(),
    retries: new RetryTrail(),
    early: [],
    changed: false,
    logged: { hasImport: false, hasToolRun: false, lastEventId: "", foldedSeq: 0, isCompared: false },
    bytes: restBytes,
    pace: new DocumentPace(),
    usedAt: Date.now(),
    timer: undefined,
  };
}

/** Of a session without messages, and of each event whose text stays. */
const restBytes = 4800;
const entryBytes = 300;
/** Their texts stay in memory. */
const keptTexts: ReadonlySet<string> = new Set([
  "user_message_queued",
  "user_message",
  "assistant_message",
  "tool_execution_complete",
  "session_history_changed",
  "context_compressed",
]);

/** Takes one stored event into everything that is kept of the session. */
export function apply(session: MutableSession, event: StoredEvent): void {
  if (session.firstSequence === 0) session.firstSequence = event.seq;
  session.logged.lastEventId = event.event_id;
  session.logged.hasImport ||= event.type === "session_history_changed" && event.payload.kind === "import";
  session.logged.hasToolRun ||= event.type === "tool_execution_start";
  if (keptTexts.has(event.type)) session.bytes += entryBytes + sizeOf(event.payload);
  session.history.apply(event);
  session.document.apply(event);
  session.turns.apply(event);
  session.messages.apply(event);
  session.spending.apply(event);
  session.plan.apply(event);
  session.retries.apply(event);
  if (event.type === "agent_state_changed") session.agentState = event.payload.to;
  if (event.type === "settings_changed") session.wanted = wantedAfter(session.wanted, event.payload);
  if (event.type === "turn_execution_start" && session.openTurn[0]?.turn_id !== event.turn_id) session.openTurn = [];
  if (event.turn_id === undefined) return;
  if (
    event.type === "turn_execution_complete" ||
    event.type === "turn_execution_failed" ||
    event.type === "turn_execution_cancelled"
  )
    session.openTurn = [];
  else if (event.type === "turn_execution_start" || session.openTurn[0]?.turn_id === event.turn_id)
    session.openTurn.push(event);
}

function wantedAfter(wanted: WantedModel, { key, to }: Payload<"settings_changed">): WantedModel {
  if (key === "model") return { ...wanted, label: to || undefined };
  return key === "thinking" ? { ...wanted, thinking: to || undefined } : wanted;
}

export function summaryOf(session: ResidentSession): SessionSummary {
  const { title, summary, messageCount, lastMessage, lastMessageAt } = session.document;
  return {
    key: session.key,
    ...(title === undefined ? {} : { title }),
    ...(summary === undefined ? {} : { summary }),
    messageCount,
    ...(lastMessageAt === undefined ? {} : { lastMessageAt }),
    ...(lastMessage === undefined ? {} : { lastMessage: lastMessage.content.slice(0, 200) }),
  };
}

export function toStored(session: ResidentSession): StoredSession {
  return { document: session.document.toDocument(), summary: summaryOf(session) };
}
