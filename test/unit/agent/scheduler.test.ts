import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Cron } from "croner";
import { silentLog } from "../../../src/log.js";
import { readGoJobs } from "../../../src/schedule/import-jobs.js";
import type { Job, JobOwner } from "../../../src/schedule/job.js";
import { createScheduler } from "../../../src/schedule/scheduler.js";
import { createTimes } from "../../../src/schedule/times.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { shareRecords } from "../../support/engine/histories/shared-records.js";

const hour = 3_600_000;
const owner: JobOwner = { channel: "telegram", chatId: "7", senderId: "7", sessionKey: "telegram:7" };

/** A gateway's schedule whose clock is set by hand; what it keeps outlives it. */
function setUp() {
  const shared = { jobs: shareRecords(), runs: shareRecords() };
  const kept = { jobs: shared.jobs.node(), runs: shared.runs.node() };
  const state = {
    now: Date.parse("2026-11-21T12:00:00Z"),
    accepted: [] as string[],
    told: [] as string[],
    silent: [] as boolean[],
    alerts: 0,
    onAccept: async (): Promise<void> => {},
  };
  type End = { readonly status: "completed" | "failed"; readonly result: string };
  const ends = new Map<string, End>();
  const waiting = new Set<() => void>();
  const open = (own = kept) => {
    const stop = new AbortController();
    const scheduler = createScheduler({
      ...own,
      times: createTimes(Cron, () => "UTC"),
      async accept(messageId, job: Job, isFailureTold) {
        state.silent.push(isFailureTold);
        await state.onAccept();
        if (!state.accepted.includes(`${job.name} ${messageId}`)) state.accepted.push(`${job.name} ${messageId}`);
      },
      report: ({ job, status }) => void state.told.push(`${job.name} ${status}`),
      endOf: (messageId) =>
        new Promise((resolve) => {
          const look = (): void => {
            if (ends.has(messageId) || stop.signal.aborted) resolve(ends.get(messageId));
          };
          waiting.add(look);
          stop.signal.addEventListener("abort", look);
          look();
        }),
      alert: async () => {
        state.alerts += 1;
      },
      now: () => state.now,
      log: silentLog,
    });
    return { scheduler, stop };
  };
  /** Runs the schedule once over what is due. */
  const look = async (): Promise<void> => {
    const { scheduler, stop } = open();
    const running = scheduler.run(stop.signal);
    const before = JSON.stringify(kept.jobs.list());
    await until("it has looked", () => JSON.stringify(kept.jobs.list()) !== before, 200).catch(() => undefined);
    stop.abort();
    await running;
  };
  const { scheduler } = open();
  /** The run's turn ends; resolves once that is kept, by who saw its begin or by who runs next. */
  const end = async (jobId: string, messageId: string, how: End): Promise<void> => {
    ends.set(messageId, how);
    for (const one of waiting) one();
    const isKept = (): boolean =>
      scheduler.history(jobId).every((run) => run.messageId !== messageId || run.status !== "running");
    await until("the end is kept", isKept, 200).catch(look);
    assert.ok(isKept(), messageId);
  };
  /** Another node, which sees what is stored now. */
  const openNode = () => open({ jobs: shared.jobs.node(), runs: shared.runs.node() }).scheduler;
  return { state, shared, kept, look, end, scheduler, openNode };
}

test("a single time that is changed while the run of the one before begins, comes all the same", async () => {
  const t = setUp();
  const first = new Date(t.state.now + 1000).toISOString();
  const second = new Date(t.state.now + hour).toISOString();
  const { id } = await t.scheduler.add({ message: "tick", at: first }, owner);
  t.state.onAccept = async () => {
    t.state.onAccept = async () => {};
    await t.openNode().update(id, { message: "tick", at: second });
  };
  t.state.now += 2000;
  await t.look();
  t.state.now += hour;
  await t.look();
  assert.deepEqual(t.state.accepted, [`tick cron:${id}:${first}`, `tick cron:${id}:${second}`]);
});

test("each time runs once, however often the gateway is started", async () => {
  const t = setUp();
  const { id } = await t.scheduler.add({ message: "tick", every: "1h" }, owner);
  await t.look();
  assert.deepEqual(t.state.accepted, []);
  t.state.now += hour + 1000;
  await t.look();
  await t.look();
  assert.deepEqual(t.state.accepted, [`tick cron:${id}:2026-11-21T13:00:00.000Z`]);
  // A crash after the message was accepted and before that was noted.
  await t.kept.jobs.put(id, { ...(t.kept.jobs.get(id) as Job), lastDue: undefined });
  await t.look();
  assert.equal(t.state.accepted.length, 1);
  assert.deepEqual(t.state.told, ["tick started"]);
});

test("of the times that passed while it was down, all are made up for by one run, or skipped", async () => {
  const t = setUp();
  await t.scheduler.add({ name: "once", message: "x", every: "1h", missed: "once" }, owner);
  const skipped = await t.scheduler.add({ name: "skip", message: "x", every: "1h", missed: "skip" }, owner);
  t.state.now += 5 * hour + 30 * 60_000;
  await t.look();
  assert.equal(t.state.accepted.length, 1);
  assert.match(t.state.accepted[0] ?? "", /^once .*T17:00/);
  assert.deepEqual([...t.state.told].sort(), ["once started", "skip missed"]);
  assert.deepEqual(
    t.scheduler.history(skipped.id).map(({ status }) => status),
    ["missed"],
  );
});

test("a single time runs once and is off then; a job that is off or removed does not run", async () => {
  const t = setUp();
  const single = await t.scheduler.add({ name: "single", message: "x", at: "2026-11-21T13:00" }, owner);
  const off = await t.scheduler.add({ name: "off", message: "x", every: "1h" }, owner);
  const gone = await t.scheduler.add({ name: "gone", message: "x", every: "1h" }, owner);
  await t.scheduler.enable(off.id, false);
  await t.scheduler.remove(gone.id);
  t.state.now += 2 * hour;
  await t.look();
  t.state.now += 2 * hour;
  await t.look();
  assert.deepEqual(t.state.told, ["single started"]);
  assert.equal(t.scheduler.get(single.id).enabled, false);
  await t.scheduler.enable(off.id, true);
  await t.look();
  assert.deepEqual(t.state.told, ["single started"], "what passed while it was off is not made up for");
  assert.throws(() => t.scheduler.get(gone.id), /no scheduled job/);
});

test("a run's end is kept once; five failures in a row switch a job off, and its chat is told", async () => {
  const t = setUp();
  const { id } = await t.scheduler.add({ message: "x", every: "1h" }, owner);
  for (let n = 0; n < 5; n++) {
    const run = await t.scheduler.runNow(id);
    await t.end(id, run.messageId, { status: n === 0 ? "completed" : "failed", result: `r${n}` });
    await t.end(id, run.messageId, { status: "failed", result: "again" });
  }
  assert.deepEqual(
    t.scheduler.history(id).map(({ status, result }) => `${status} ${result}`),
    ["failed r4", "failed r3", "failed r2", "failed r1", "completed r0"],
  );
  assert.equal(t.scheduler.get(id).enabled, true);
  const run = await t.scheduler.runNow(id);
  await t.end(id, run.messageId, { status: "failed", result: "r5" });
  await until("it is off", () => !t.scheduler.get(id).enabled);
  assert.equal(t.state.alerts, 1);
});

test("the end of a run that an earlier process began is kept by the next one", async () => {
  const t = setUp();
  const { id } = await t.scheduler.add({ message: "x", every: "1h" }, owner);
  t.state.now += hour;
  await t.look();
  const [run] = t.scheduler.history(id);
  assert.equal(run?.status, "running");
  await t.end(id, run?.messageId ?? "", { status: "completed", result: "it rains" });
  assert.deepEqual(t.state.told, ["x started", "x completed"]);
  assert.equal(t.scheduler.history(id)[0]?.result, "it rains");
});

test("a job that is added again under its id, as after a kill, is left as it is", async () => {
  const t = setUp();
  await t.scheduler.add({ message: "x", every: "1h" }, owner, "job_same");
  const again = await t.scheduler.add({ message: "y", every: "2h" }, owner, "job_same");
  assert.deepEqual([again.message, t.scheduler.list().length], ["x", 1]);
});

test("a job that cannot be read is left alone and harms no other", async () => {
  const t = setUp();
  await t.kept.jobs.put("job_broken", { id: "job_broken", schedule: { kind: "sometimes" } });
  await t.scheduler.add({ name: "good", message: "x", every: "1h" }, owner);
  t.state.now += hour;
  await t.look();
  assert.deepEqual(t.state.told, ["good started"]);
});

test("jobs of the Go maxclaw are read; what cannot be used is named", async (t) => {
  const path = join(tempFolder(t), "jobs.json");
  const now = Date.parse("2026-11-21T12:00:00Z");
  assert.equal(await readGoJobs(path, now), undefined);
  await writeFile(path, "{broken");
  assert.match((await readGoJobs(path, now))?.problems[0] ?? "", /not JSON/);
  const base = { enabled: true, created: 1 };
  await writeFile(
    path,
    JSON.stringify({
      job_1: {
        ...base,
        name: "morning",
        schedule: { type: "cron", expr: "0 0 9 * * *" },
        payload: { message: "news", channels: ["telegram"], to: "42", deliver: true },
      },
      job_2: { ...base, schedule: { type: "every", everyMs: 1_800_000 }, payload: { message: "look" }, enabled: false },
      job_3: { ...base, schedule: { type: "once", atMs: 1000 }, payload: { message: "late" } },
      job_4: { schedule: "never" },
      job_5: {
        ...base,
        schedule: { type: "every", everyMs: 3_600_000 },
        payload: { message: "topic", channels: ["telegram"], to: "-1001", thread: "7" },
      },
    }),
  );
  const found = await readGoJobs(path, now);
  assert.deepEqual(
    found?.jobs.map(({ wish, owner: to, enabled }) => [wish.cron ?? wish.every, wish.message, to.sessionKey, enabled]),
    [
      ["0 9 * * *", "news", "telegram:42", true],
      ["1800", "look", "webui:scheduled", false],
      ["3600", "topic", "telegram:-1001:7", true],
    ],
  );
  assert.deepEqual(found?.jobs.at(-1)?.owner, {
    channel: "telegram",
    chatId: "-1001",
    senderId: "-1001",
    sessionKey: "telegram:-1001:7",
    thread: "7",
  });
  assert.equal(found?.problems.length, 2);
});

test("of runs that fail one after the other the chat hears about the first, and of one that somebody asked for", async () => {
  const t = setUp();
  const { id } = await t.scheduler.add({ message: "x", every: "1h" }, owner);
  for (const status of ["failed", "failed", "completed", "failed"] as const) {
    t.state.now += hour;
    await t.look();
    const [run] = t.scheduler.history(id);
    await t.end(id, run?.messageId ?? "", { status, result: "r" });
  }
  assert.deepEqual(t.state.silent, [false, true, true, false]);
  await t.scheduler.runNow(id);
  assert.equal(t.state.silent.at(-1), false);
});

test("a job that is changed keeps its place and its past, and begins with its new schedule", async () => {
  const t = setUp();
  const { id } = await t.scheduler.add({ message: "x", every: "1h", session: "alone" }, owner);
  t.state.now += 90 * 60_000;
  const changed = await t.scheduler.update(id, { message: "y", cron: "0 * * * *" });
  assert.deepEqual([changed.name, changed.session, changed.owner], ["y", "alone", owner]);
  await t.look();
  assert.deepEqual(t.state.accepted, [], "what the old schedule left undone is not made up for");
  t.state.now += 31 * 60_000;
  await t.look();
  assert.equal(t.state.accepted.length, 1);
  await assert.rejects(t.scheduler.update(id, { message: " ", every: "1h" }), /Say what is to be done/);
  await assert.rejects(t.scheduler.update("job_x", { message: "y", every: "1h" }), /no scheduled job/);
});

test("a change leaves alone what it does not name: schedule, zone, text, where that came from, chat, missed times", async () => {
  const t = setUp();
  const wish = {
    name: "Tea",
    message: "make tea",
    cron: "0 9 * * *",
    timeZone: "Europe/Berlin",
    missed: "skip",
  } as const;
  const { id } = await t.scheduler.add(
    { ...wish, session: "alone", outside: ["a page"], addresses: ["https://a.example/"] },
    owner,
  );
  const { nextDue: _, lastRun: __, ...before } = t.scheduler.get(id);
  const changes = [
    [{}, {}],
    [{ name: "Green tea" }, { name: "Green tea" }],
    [
      { timeZone: "Asia/Tokyo" },
      { schedule: { kind: "cron", expression: "0 9 * * *", timeZone: "Asia/Tokyo" }, lastDue: t.state.now },
    ],
    [{ cron: "0 8 * * *" }, { schedule: { kind: "cron", expression: "0 8 * * *", timeZone: "Asia/Tokyo" } }],
    [
      { session: "chat", missed: "once" },
      { session: "chat", missed: "once" },
    ],
  ] as const;
  let expected: object = before;
  for (const [change, differs] of changes) {
    expected = { ...expected, ...differs };
    const { nextDue: _, lastRun: __, ...after } = await t.scheduler.update(id, change);
    assert.deepEqual(after, expected, JSON.stringify(change));
  }
  const { outside, addresses, name } = await t.scheduler.update(id, { message: "make coffee" });
  assert.deepEqual([outside, addresses, name], [undefined, undefined, "Green tea"], "another text is another author's");
});

test("a job for one moment leaves the list when its run is over, and what it did can be looked up", async () => {
  const t = setUp();
  const { id } = await t.scheduler.add({ message: "once", at: "2026-11-21T12:30:00Z" }, owner);
  const off = await t.scheduler.add({ message: "off", at: "2026-11-21T12:30:00Z" }, owner);
  await t.scheduler.enable(off.id, false);
  t.state.now += hour;
  await t.look();
  assert.equal(t.state.accepted.length, 1);
  assert.deepEqual(
    t.scheduler.list().map((job) => job.id),
    [off.id],
  );
  assert.equal(t.scheduler.get(id).lastRun?.status, "running");
  assert.equal(t.scheduler.history(id).length, 1);
  t.state.now += 40 * 24 * hour;
  await t.scheduler.add({ message: "next", every: "1h" }, owner);
  assert.throws(() => t.scheduler.get(id), /no scheduled job/);
});

test("a node that has not seen yet what another one changed of a job does not undo it", async () => {
  const t = setUp();
  const { id } = await t.scheduler.add({ message: "tick", every: "1h" }, owner);
  const other = t.openNode();
  await other.update(id, { message: "tock" });
  const changed = await t.scheduler.enable(id, false);
  assert.deepEqual([changed.message, changed.enabled], ["tock", false]);
  t.shared.jobs.refresh();
  await Promise.all([other.update(id, { message: "both" }), t.scheduler.update(id, { name: "clock" })]);
  t.shared.jobs.refresh();
  const { message, name, enabled } = other.get(id);
  assert.deepEqual([message, name, enabled], ["both", "clock", false]);
  await other.remove(id);
  await assert.rejects(t.scheduler.enable(id, true), /There is no scheduled job/);
  t.shared.jobs.refresh();
  assert.deepEqual(t.scheduler.all(), [], "and it is not there again");
});

test("runs that two nodes begin at once are both kept, and the same one once", async () => {
  const t = setUp();
  const { id } = await t.scheduler.add({ message: "tick", every: "1h" }, owner);
  const other = t.openNode();
  const runs = await Promise.all([t.scheduler.runNow(id), other.runNow(id)]);
  t.shared.runs.refresh();
  const known = other.history(id).map(({ messageId }) => messageId);
  assert.deepEqual(known.sort(), runs.map(({ messageId }) => messageId).sort());
});
