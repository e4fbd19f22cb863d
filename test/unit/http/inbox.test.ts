import assert from "node:assert/strict";
import { test } from "node:test";
import { Inbox, type InboxPorts } from "../../../src/api/inbox/inbox.js";
import type { EventDraft } from "../../../src/events/event.js";
import type { Run } from "../../../src/schedule/job.js";
import type { JobState } from "../../../src/schedule/scheduler.js";

const noon = "2026-11-23T12:00:00.000Z";

function job(id: string, lastRun?: Partial<Run>): JobState {
  const owner = { channel: "telegram", chatId: "42", senderId: "42", sessionKey: "telegram:42" };
  const run: Run = { messageId: `${id}:1`, dueAt: noon, startedAt: noon, status: "failed", ...lastRun };
  const when = { kind: "every", everyMs: 60_000, anchor: 0 } as const;
  const kept = { session: "chat", missed: "once", enabled: true, createdAt: 0, nextDue: undefined } as const;
  return { id, name: `Job ${id}`, message: "go", schedule: when, owner, lastRun: run, ...kept };
}

function question(id: string, expires: string): ReturnType<InboxPorts["questions"]["list"]>[number] {
  return {
    sessionKey: "telegram:42:spawn:1",
    chatKey: "telegram:42",
    asker: { channel: "telegram", senderId: "42" },
    asked: {
      request_id: id,
      kind: "permission",
      question: "May I?",
      options: [{ id: "deny", label: "Deny", description: "nothing happens" }],
      allow_custom: false,
      timeout_seconds: 300,
      expires_at: expires,
    },
  };
}

function setUp(jobs: readonly JobState[], questions: readonly ReturnType<typeof question>[] = []) {
  const events: EventDraft[] = [];
  const looked = new Map<string, unknown>();
  const now = { jobs };
  const inbox = new Inbox({
    questions: { list: () => questions },
    pairing: { list: () => ({ waiting: [], paired: [] }) },
    scheduler: async () => ({ all: () => now.jobs }),
    dead: { list: async () => [] },
    sessions: { page: async () => ({ sessions: [{ key: "telegram:42", title: "Trip", messageCount: 1 }], total: 1 }) },
    looked: {
      get: (id) => looked.get(id),
      put: async (id, value) => void looked.set(id, value),
      delete: async (id) => void looked.delete(id),
      list: () => [...looked].map(([id, value]) => ({ id, value })),
      update: () => assert.fail("nothing here is changed by what it was"),
    },
    logEvent: async (event) => void events.push(event),
  });
  return { inbox, now, looked, events };
}

test("of each job only the newest run counts, and only if it has failed", async () => {
  const { inbox } = setUp([
    job("a", { result: "no such model", endedAt: "2026-11-23T12:01:00.000Z" }),
    job("b", { status: "completed" }),
    job("c", { status: "running" }),
    job("d", { status: "missed" }),
  ]);
  const { count, items } = await inbox.list();
  assert.equal(count, 1);
  assert.deepEqual(items, [
    {
      id: "failed_job:a:1",
      kind: "failed_job",
      title: "Job a",
      text: "no such model",
      at: "2026-11-23T12:01:00.000Z",
      channel: "telegram",
      jobId: "a",
      sessionKey: "telegram:42",
    },
  ]);
});

test("a run that was looked at is gone until the job fails again; notes of jobs that are gone go too", async () => {
  const { inbox, now, looked, events } = setUp([job("a"), job("b")]);
  await inbox.dismiss("failed_job:a:1");
  assert.deepEqual(
    (await inbox.list()).items.map(({ id }) => id),
    ["failed_job:b:1"],
  );
  assert.deepEqual(
    events.map(({ type, payload }) => [type, payload]),
    [["settings_changed", { scope: "gateway", key: "inbox", to: "failed_job:a:1" }]],
  );
  await assert.rejects(inbox.dismiss("failed_job:a:1"), { status: 404 });
  await assert.rejects(inbox.dismiss("dead:a:1"), { status: 400 });
  now.jobs = [job("b", { messageId: "b:2" })];
  await inbox.dismiss("failed_job:b:2");
  assert.deepEqual([...looked], [["b", "failed_job:b:2"]]);
});

test("a question of a sub-agent names its chat, since when it waits, and what its answers mean", async () => {
  const { inbox } = setUp([job("a")], [question("q1", "2026-11-23T12:10:00.000Z")]);
  const [first, second] = (await inbox.list()).items;
  assert.ok(first?.kind === "approval" && second?.kind === "failed_job", "newest first");
  assert.deepEqual(
    [first.title, first.sessionKey, first.chatKey, first.at],
    ["Trip", "telegram:42:spawn:1", "telegram:42", "2026-11-23T12:05:00.000Z"],
  );
  assert.deepEqual(first.options, [{ id: "deny", label: "Deny", description: "nothing happens" }]);
});

test("a list that would be too long keeps the newest, and the count says how many there are", async () => {
  const at = (n: number): string => new Date(Date.parse(noon) + n * 1000).toISOString();
  const { inbox } = setUp(Array.from({ length: 201 }, (_, n) => job(`j${n}`, { startedAt: at(n) })));
  const { count, items } = await inbox.list();
  assert.deepEqual([count, items.length, items[0]?.id], [201, 200, "failed_job:j200:1"]);
});
