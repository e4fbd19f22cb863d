import assert from "node:assert/strict";
import { test } from "node:test";
import { textForChat } from "../../../src/agent/turn/ending/silence.js";
import { createBudgets } from "../../../src/budgets/budgets.js";
import { createCalendar } from "../../../src/budgets/calendar.js";
import { findExceeded } from "../../../src/budgets/limits.js";
import { silentLog } from "../../../src/log.js";
import { hasTasks, isActive, runHeartbeat } from "../../../src/schedule/heartbeat/heartbeat.js";
import { until } from "../../support/engine/engine-kit.js";

const minute = 60_000;
const halfHour = 30 * minute;

/** A heartbeat whose clock is set by hand; what it keeps outlives it. */
function setUp(more: { activeHours?: string; timeZone?: string } = {}) {
  const state = {
    now: Date.parse("2026-11-21T12:00:05Z"),
    last: undefined as number | undefined,
    accepted: [] as string[],
    tasks: "- water the plants" as string | undefined,
    busy: false,
    refuses: 0,
    losesNote: false,
  };
  let looks = 0;
  const look = async (): Promise<void> => {
    const stop = new AbortController();
    const seen = looks;
    const running = runHeartbeat(
      {
        everyMs: halfHour,
        activeHours: more.activeHours,
        timeZone: more.timeZone ?? "UTC",
        tasks: async () => state.tasks,
        isBusy: async () => state.busy,
        async accept(due) {
          if (state.refuses-- > 0) throw new Error("the disk is full");
          const id = new Date(due).toISOString();
          if (!state.accepted.includes(id)) state.accepted.push(id);
        },
        lastDue: {
          get() {
            looks += 1;
            return state.last;
          },
          async set(due) {
            if (!state.losesNote) state.last = due;
          },
        },
        now: () => state.now,
        log: silentLog,
      },
      stop.signal,
    );
    await until("it has looked", () => looks > seen);
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await running;
  };
  return { state, look };
}

test("a beat comes once for each half hour, also when the process ends before it has noted that", async () => {
  const t = setUp();
  await t.look();
  await t.look();
  assert.deepEqual(t.state.accepted, ["2026-11-21T12:00:00.000Z"]);
  t.state.now += halfHour;
  t.state.losesNote = true;
  await t.look();
  await t.look();
  assert.deepEqual(t.state.accepted, ["2026-11-21T12:00:00.000Z", "2026-11-21T12:30:00.000Z"]);
});

test("a beat that passed while nothing ran is left out, one that was refused is tried again", async () => {
  const t = setUp();
  t.state.now += 10 * minute;
  await t.look();
  assert.deepEqual(t.state.accepted, []);
  t.state.now += 20 * minute;
  t.state.refuses = 1;
  await t.look();
  assert.deepEqual(t.state.accepted, []);
  await t.look();
  assert.deepEqual(t.state.accepted, ["2026-11-21T12:30:00.000Z"]);
});

test("there is no beat without anything to do, while the last one runs, or outside of the active hours", async () => {
  const idle = setUp();
  idle.state.tasks = "# Heartbeat\n\n- [x] done";
  await idle.look();
  const busy = setUp();
  busy.state.busy = true;
  await busy.look();
  busy.state.busy = false;
  await busy.look();
  const night = setUp({ activeHours: "08:00-12:00" });
  await night.look();
  assert.deepEqual(
    [idle, busy, night].map(({ state }) => state.accepted),
    [[], [], []],
  );
  const day = setUp({ activeHours: "08:00-12:00", timeZone: "Europe/London" });
  day.state.now -= halfHour;
  await day.look();
  assert.equal(day.state.accepted.length, 1);
});

test("active hours follow the clock on the wall, over midnight and over changes of the clock", () => {
  const cases: readonly (readonly [string, string, string, boolean])[] = [
    ["2026-11-21T07:59:00Z", "08:00-22:00", "UTC", false],
    ["2026-11-21T08:00:00Z", "08:00-22:00", "UTC", true],
    ["2026-11-21T22:00:00Z", "08:00-22:00", "UTC", false],
    ["2026-11-21T23:30:00Z", "08:00-24:00", "UTC", true],
    ["2026-11-21T02:00:00Z", "22:00-06:00", "UTC", true],
    ["2026-11-21T12:00:00Z", "22:00-06:00", "UTC", false],
    ["2026-11-21T12:00:00Z", "09:00-09:00", "UTC", true],
    // 08:00 in Berlin is 07:00 UTC in winter and 06:00 in summer; the clocks change on 29 March and 25 October.
    ["2026-03-28T06:30:00Z", "08:00-22:00", "Europe/Berlin", false],
    ["2026-03-29T06:30:00Z", "08:00-22:00", "Europe/Berlin", true],
    ["2026-10-24T06:30:00Z", "08:00-22:00", "Europe/Berlin", true],
    ["2026-10-25T06:30:00Z", "08:00-22:00", "Europe/Berlin", false],
    ["2026-11-21T00:30:00Z", "08:00-22:00", "Asia/Shanghai", true],
  ];
  for (const [at, hours, zone, expected] of cases)
    assert.equal(isActive(Date.parse(at), hours, zone), expected, `${at} ${hours} ${zone}`);
});

test("a list of tasks has something to do, or has not", () => {
  const nothing = [
    undefined,
    "",
    "\n  \n",
    "# Heartbeat\n\n## Later\n",
    "<!-- check the mail\nevery day -->",
    "<!-- never closed\n- check the mail",
    "- [x] water the plants\n* [X] call Ann\n  on Monday\n  - [x] her number\n    - it is on the fridge",
    "---\n\n- - -\n***",
    "-\n- [ ]\n1.\n",
  ];
  for (const text of nothing) assert.equal(hasTasks(text), false, JSON.stringify(text));
  const something = [
    "check the mail",
    "# Heartbeat\n- check the mail",
    "- [ ] check the mail",
    "- [x] done\n- [ ] open",
    "- [x] done\n  - [ ] open below it",
    "- [x] done\nand a sentence",
    "1. check the mail",
    "#no-heading",
    "<!-- a --> 看邮件",
  ];
  for (const text of something) assert.equal(hasTasks(text), true, JSON.stringify(text));
});

test("only an answer with something in it is said", () => {
  const silence = { failures: true, word: "HEARTBEAT_OK" };
  const said = (text: string) => textForChat({ silence }, "answered", text);
  for (const text of ["HEARTBEAT_OK", " HEARTBEAT_OK.\n", "**HEARTBEAT_OK**", "`HEARTBEAT_OK`", "HEARTBEAT_OK。"])
    assert.equal(said(text), undefined, text);
  assert.equal(said("HEARTBEAT_OK\n\n**Water** the plants."), "**Water** the plants.");
  assert.equal(said("Water the plants.\nHEARTBEAT_OK"), "Water the plants.");
  assert.equal(said("I say HEARTBEAT_OK when nothing is due."), "I say HEARTBEAT_OK when nothing is due.");
  assert.equal(textForChat({ silence }, "notice", "The answer was empty."), undefined);
  assert.equal(textForChat({ silence: { failures: true } }, "failed", "no"), undefined);
  assert.equal(textForChat({ silence: { failures: true } }, "notice", "cut"), "cut");
  assert.equal(textForChat({}, "failed", "no"), "no");
});

test("a job with a budget of its own has that one instead of the jobs' budget", () => {
  const budgets = createBudgets({
    limits: { job: { turns: 1 } },
    jobs: { heartbeat: { turns: 3 }, free: {} },
    records: {
      get: (id) => (id.startsWith("job:") ? { turns: 2 } : undefined),
      delete: async () => undefined,
      list: () => [],
    },
    calendar: createCalendar("UTC"),
    log: silentLog,
  });
  const limitOf = (job: string) => budgets.measure({ sender: undefined, job }, undefined)[0]?.limits.turns;
  assert.deepEqual(["heartbeat", "free", "job_1", "toString"].map(limitOf), [3, undefined, 1, 1]);
  assert.equal(
    findExceeded(budgets.measure({ sender: undefined, job: "free" }, undefined), { tokens: 9, usd: 9, turns: 9 }),
    undefined,
  );
});
