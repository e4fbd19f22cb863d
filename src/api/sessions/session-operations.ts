import type { RunningTurns } from "../../agent/turn/running-turns.js";
import type { Budgets } from "../../budgets/budgets.js";
import type { Engine } from "../../engine/engine.js";
import { RequestError } from "../../errors.js";
import type { MarkedSessions } from "../../sessions/marks/marks.js";
import type { UnreadCounts } from "../../sessions/marks/unread.js";
import type { ConversationSearch } from "../../sessions/search/search.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { type RetryPorts, retryTurn } from "../turns/retry-turn.js";
import { assertSession } from "./assert-session.js";
import { type BeginningPorts, beginSession, titleEvent } from "./beginning.js";
import type { DeletionPorts, Deletions } from "./deletions.js";
import type { Lifecycle } from "./lifecycle.js";
import { listSessions, told } from "./listed-sessions.js";
import { readSessionStatus, type SessionStatusPorts } from "./session-status.js";
import type { SessionsApi } from "./sessions-api.js";
import { toSessionUsage } from "./usage.js";

export interface SessionPorts extends Pick<RetryPorts, "again" | "maySpeak"> {
  readonly engine: Engine;
  readonly sessions: SessionStore;
  readonly running: RunningTurns;
  readonly tasks: DeletionPorts["tasks"] & {
    /** Resolves with how many there were. */
    stop(sessionKey: string): Promise<number>;
  };
  readonly snapshots: SessionStatusPorts["snapshots"];
  readonly lifecycle: Lifecycle;
  readonly begin: Pick<BeginningPorts, "chooseModel" | "workspace">;
  readonly deletions: Deletions;
  readonly budgets: Pick<Budgets, "limits">;
  readonly marks: MarkedSessions;
  readonly unread: Pick<UnreadCounts, "count">;
  readonly search: ConversationSearch;
}

/** The conversations: what there is, and where each begins and ends. */
export function createSessionOperations(ports: SessionPorts): SessionsApi {
  const { engine, sessions, running, tasks, lifecycle, marks } = ports;
  return {
    listSessions: (query) => listSessions(ports, query),
    searchSessions: (query) => ports.search.find(query),
    async markSession(key, wanted) {
      if (wanted.pinned === undefined && wanted.archived === undefined)
        throw new RequestError("Say pinned or archived, or both.", { status: 400, code: "bad_request" });
      await assertSession(sessions, key);
      return await told(ports, key, await marks.set(key, wanted));
    },
    async readSession(key, seq) {
      await assertSession(sessions, key);
      return await told(ports, key, await marks.read(key, Math.min(seq, await engine.lastSequence(key))));
    },
    createSession: (options) => beginSession({ ...ports.begin, engine, sessions }, options),
    async getSession(key) {
      await assertSession(sessions, key);
      return await sessions.document(key);
    },
    async exportSession(key, format) {
      await assertSession(sessions, key);
      return await sessions.export(key, format);
    },
    async deleteSession(key) {
      await assertSession(sessions, key);
      await ports.deletions.delete(key);
    },
    async renameSession(key, title) {
      if (title.trim() === "")
        throw new RequestError("A title needs at least one character", { status: 400, code: "bad_request" });
      await assertSession(sessions, key);
      await sessions.open(key);
      await engine.append(key, [titleEvent(title)], { durable: true });
    },
    async stopTurn(key) {
      await assertSession(sessions, key);
      // The turn stops what it has started; without one there may still be sub-agents at work.
      return { stopped: (await running.stopAnywhere(key, "stop")) || (await tasks.stop(key)) > 0 };
    },
    retryTurn: (wanted) => retryTurn(ports, wanted, "person"),
    abortSession: (key) => lifecycle.abort(key),
    completeSession: (key) => lifecycle.complete(key),
    forkSession: (key, at) => lifecycle.fork(key, at),
    async sessionStatus(key, options) {
      await assertSession(sessions, key);
      return await readSessionStatus(ports, key, options);
    },
    async sessionUsage(key) {
      await assertSession(sessions, key);
      return toSessionUsage(await sessions.open(key), ports.budgets.limits);
    },
  };
}
