import type { RunningTurns } from "../../agent/turn/running-turns.js";
import type { Engine } from "../../engine/engine.js";
import type { StreamSnapshots } from "../../events/folds/stream-snapshots.js";
import type { SessionStore } from "../../sessions/session-store.js";
import type { SessionStatus, SessionsApi } from "./sessions-api.js";

export interface SessionStatusPorts {
  readonly engine: Pick<Engine, "events">;
  readonly sessions: Pick<SessionStore, "open">;
  readonly snapshots: StreamSnapshots;
  readonly running: Pick<RunningTurns, "has">;
}

/** How a session is, and with `includeRecovery` what a client that comes back has missed. */
export async function readSessionStatus(
  { engine, sessions, snapshots, running }: SessionStatusPorts,
  key: string,
  { includeRecovery, fromSequence = 0 }: Parameters<SessionsApi["sessionStatus"]>[1],
): Promise<SessionStatus> {
  const { document, agentState, firstSequence } = await sessions.open(key);
  const { lastSequence } = document;
  const snapshot = snapshots.snapshotOf(key);
  const status: SessionStatus = {
    sessionKey: key,
    state: document.state,
    agentState,
    isRunning: running.has(key),
    firstSequence,
    lastSequence,
    ...(snapshot === undefined ? {} : { currentMessageId: snapshot.messageId }),
  };
  if (!includeRecovery) return status;
  // A log does not begin at 1 after a deletion: only what is in it can be missed.
  const next = (await engine.events(key, { afterSeq: fromSequence, limit: 1 })).events[0];
  return {
    ...status,
    recovery: {
      canRecover: lastSequence > 0,
      streamExists: snapshot !== undefined,
      recoverySource: snapshot !== undefined ? "stream" : lastSequence > 0 ? "journal" : "none",
      missedEventsCount: next === undefined ? 0 : lastSequence - next.seq + 1,
    },
  };
}
