import type { SessionsApi } from "../../../../../src/api/sessions/sessions-api.js";
import { RequestError } from "../../../../../src/errors.js";
import { noUsage } from "../../../../../src/events/content.js";
import { exportOf } from "../../../../../src/sessions/document/export.js";
import type { SessionDocument } from "../../../../../src/sessions/session.js";
import type { MemoryLogs } from "./logs.js";
import { nothingUsed } from "./status.js";

export function memorySessions(sessions: MemoryLogs): SessionsApi {
  const { logs, titles } = sessions;
  return {
    async listSessions({ limit, offset }) {
      const keys = [...logs.keys()].filter((key) => !key.startsWith("system:"));
      const page = keys
        .slice(offset, offset + limit)
        .map((key) => ({ key, messageCount: 0, pinned: false, archived: false, unread: 0, lastSequence: 0 }));
      return { sessions: page, total: keys.length };
    },
    async createSession({ key = "webui:00000001" }) {
      const reused = logs.has(key);
      sessions.of(key);
      return { key, reused };
    },
    searchSessions: async () => ({ hits: [], isComplete: true }),
    async markSession(key, { pinned = false, archived = false }) {
      sessions.mustExist(key);
      return { pinned, archived };
    },
    async readSession(key, readSeq) {
      sessions.mustExist(key);
      return { pinned: false, archived: false, readSeq };
    },
    exportSession: async (key, format) => exportOf(documentOf(sessions, key), format),
    getSession: async (key) => documentOf(sessions, key),
    async deleteSession(key) {
      sessions.mustExist(key);
      logs.delete(key);
    },
    async renameSession(key, title) {
      sessions.mustExist(key);
      titles.set(key, title);
    },
    stopTurn: async (key) => ({ stopped: sessions.mustExist(key).length > 0 }),
    async retryTurn({ sessionKey, messageId = "msg_retry_1" }) {
      sessions.mustExist(sessionKey);
      return { messageId, status: "accepted" };
    },
    async abortSession(key) {
      sessions.mustExist(key);
    },
    async completeSession(key) {
      sessions.mustExist(key);
      throw new RequestError(`${key} is active`, { status: 409, code: "wrong_state", state: "active" });
    },
    async forkSession(key, at) {
      return { key: "webui:fork-00000001", forkedFrom: { key, seq: at ?? sessions.mustExist(key).length } };
    },
    async sessionStatus(key, { includeRecovery, fromSequence = 0 }) {
      const lastSequence = sessions.mustExist(key).length;
      const streamExists = sessions.snapshots.snapshotOf(key) !== undefined;
      const recovery = {
        canRecover: true,
        streamExists,
        recoverySource: streamExists ? ("stream" as const) : ("journal" as const),
        missedEventsCount: lastSequence - fromSequence,
      };
      const state = { state: "active", agentState: "idle", isRunning: streamExists };
      const status = { sessionKey: key, ...state, firstSequence: Math.min(1, lastSequence), lastSequence };
      return includeRecovery ? { ...status, recovery } : status;
    },
    async sessionUsage(key) {
      sessions.mustExist(key);
      return { usage: noUsage, unpricedCalls: 0, conversation: nothingUsed, budgets: [] };
    },
  };
}

function documentOf(sessions: MemoryLogs, key: string): SessionDocument {
  const log = sessions.mustExist(key);
  const title = sessions.titles.get(key);
  return {
    key,
    messages: log.flatMap((event) =>
      event.type === "user_message_queued"
        ? [{ role: "user" as const, content: String(event.payload.message_id), timestamp: event.timestamp }]
        : [],
    ),
    metadata: {
      state: "active",
      createdAt: "2026-01-01T00:00:00.000Z",
      lastActivity: "2026-01-01T00:00:00.000Z",
      usage: noUsage,
      lastSequence: log.length,
    },
    ...(title === undefined ? {} : { title }),
  };
}
