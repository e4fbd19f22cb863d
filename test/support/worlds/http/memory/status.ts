import type { StatusApi } from "../../../../../src/api/status/status-api.js";
import { noUsage } from "../../../../../src/events/content.js";

export const nothingUsed = { turns: 0, calls: 0, usage: noUsage, costUsd: 0, unpricedCalls: 0 };
const nothingGuessed = { guessedTokens: 0, guessedUsd: 0 };

export function memoryStatus(isReady: () => boolean): StatusApi {
  return {
    status: async () => ({
      version: "0.0.0",
      state: "ready",
      instanceId: "gw_test",
      pid: process.pid,
      startedAt: "2026-01-01T00:00:00.000Z",
      home: "/home/me/.maxclaw",
      workspace: "/home/me/.maxclaw/workspace",
      model: "offline",
      provider: "offline",
      channels: [],
      problems: [],
      missing: [],
      inboundWaiting: 0,
      outboundWaiting: 0,
      deadLetters: 0,
      stuckChats: [],
      rssBytes: 1,
    }),
    isReady,
    whyStuck: () => undefined,
    whyNotReady: () => (isReady() ? undefined : "The gateway is draining."),
    metrics: () => "maxclaw_turns_total 1\n",
    usage: () => ({
      timeZone: "UTC",
      days: [],
      models: [],
      channels: [],
      senders: [],
      jobs: [],
      total: { ...nothingUsed, ...nothingGuessed },
      budgets: [],
    }),
    ledger: async () => [{ messageId: "msg_1", sessionKey: "webui:1", acceptedSeq: 1, end: "answered", endSeq: 9 }],
  };
}
