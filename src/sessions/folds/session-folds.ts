import type { MutableSession } from "../resident-session.js";

/** What a session's events have come to, for a file; undefined in the middle of a turn. */
export function foldsOf(session: MutableSession) {
  const document = session.document.folded;
  if (document === undefined || session.openTurn.length > 0) return undefined;
  return {
    document,
    history: session.history.folded,
    turns: session.turns.folded,
    messages: session.messages.folded,
    spending: session.spending.folded,
    plan: session.plan.folded,
    retries: session.retries.folded,
    agentState: session.agentState,
    firstSequence: session.firstSequence,
    wanted: session.wanted,
    bytes: session.bytes,
    hasImport: session.logged.hasImport,
    hasToolRun: session.logged.hasToolRun,
  };
}

export type SessionFolds = NonNullable<ReturnType<typeof foldsOf>>;

/** Puts a session that is empty where these folds were. */
export function restoreFolds(session: MutableSession, folds: SessionFolds): void {
  session.document.restore(folds.document);
  session.history.restore(folds.history);
  session.turns.restore(folds.turns);
  session.messages.restore(folds.messages);
  session.spending.restore(folds.spending);
  session.plan.restore(folds.plan);
  session.retries.restore(folds.retries);
  session.agentState = folds.agentState;
  session.firstSequence = folds.firstSequence;
  session.wanted = folds.wanted;
  session.bytes = folds.bytes;
  session.logged.hasImport = folds.hasImport;
  session.logged.hasToolRun = folds.hasToolRun;
}
