import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createBudgets } from "../../../src/budgets/budgets.js";
import { createCalendar, nextDayAt } from "../../../src/budgets/calendar.js";
import { countsOf, usageKind } from "../../../src/budgets/counters.js";
import { type BudgetLimits, findExceeded, nothing } from "../../../src/budgets/limits.js";
import { SharedTurns, sharedTurnsKind } from "../../../src/budgets/shared-turns.js";
import type { Engine, Records } from "../../../src/engine/engine.js";
import { noUsage } from "../../../src/events/content.js";
import { draft } from "../../../src/events/event.js";
import { silentLog } from "../../../src/log.js";
import { openIn, sessionOf, tempFolder, until } from "../../support/engine/engine-kit.js";

describe("days", () => {
  const at = (time: string): number => Date.parse(time);

  test("begin at their owner's midnight", () => {
    const auckland = createCalendar("Pacific/Auckland");
    assert.equal(auckland.dayOf(at("2026-11-20T10:59:59Z")), "2026-11-20");
    assert.equal(auckland.dayOf(at("2026-11-20T11:00:00Z")), "2026-11-21");
    const newYork = createCalendar("America/New_York");
    assert.equal(newYork.dayOf(at("2026-11-21T04:59:59Z")), "2026-11-20");
    assert.equal(newYork.dayOf(at("2026-11-21T05:00:00Z")), "2026-11-21");
    assert.equal(createCalendar("Asia/Kathmandu").dayOf(at("2026-11-20T18:15:00Z")), "2026-11-21");
  });

  test("are counted back without a gap, also over a change of the clocks", () => {
    const berlin = createCalendar("Europe/Berlin");
    const days = ["2026-10-26", "2026-10-25", "2026-10-24"];
    assert.deepEqual(berlin.daysBefore(at("2026-10-25T23:30:00Z"), 3), days);
    assert.deepEqual(berlin.daysBefore(at("2026-10-26T22:59:00Z"), 3), days);
    assert.deepEqual(berlin.daysBefore(at("2026-03-01T12:00:00Z"), 2), ["2026-03-01", "2026-02-28"]);
  });
});

describe("the next day", () => {
  test("begins at midnight there, also on days of 23 and 25 hours", () => {
    const berlin = createCalendar("Europe/Berlin");
    const next = (time: string) => new Date(nextDayAt(berlin, Date.parse(time))).toISOString();
    assert.equal(next("2026-11-21T12:34:56Z"), "2026-11-21T23:00:00.000Z");
    assert.equal(next("2026-11-21T23:00:00Z"), "2026-11-22T23:00:00.000Z");
    assert.equal(next("2026-10-24T22:00:00Z"), "2026-10-25T23:00:00.000Z");
    assert.equal(next("2026-03-28T23:00:00Z"), "2026-03-29T22:00:00.000Z");
  });
});

describe("a limit", () => {
  const day = (limits: BudgetLimits[keyof BudgetLimits], used = {}) => [
    { scope: "day" as const, limits: limits ?? {}, used: { ...nothing, ...used } },
  ];
  const unitOf = (...args: Parameters<typeof findExceeded>) => findExceeded(...args)?.unit;

  test("is passed when it is reached, or when what comes next would go beyond", () => {
    assert.equal(unitOf(day({ tokens: 100 }, { tokens: 99 }), nothing), undefined);
    assert.equal(unitOf(day({ tokens: 100 }, { tokens: 100 }), nothing), "tokens");
    assert.equal(unitOf(day({ usd: 1 }, { usd: 0.9 }), { ...nothing, usd: 0.1 }), undefined);
    assert.equal(unitOf(day({ usd: 1 }, { usd: 0.9 }), { ...nothing, usd: 0.2 }), "usd");
    assert.equal(unitOf(day({ turns: 3 }, { turns: 2 }), { ...nothing, turns: 1 }), undefined);
    assert.equal(unitOf(day({ turns: 0 }), nothing), "turns");
    assert.equal(unitOf(day({}, { tokens: 1e9, usd: 1e9 }), { tokens: 1e9, usd: 1e9, turns: 1 }), undefined);
  });

  test("that is met first is told, with what was used and what is needed", () => {
    const measured = [...day({ turns: 9 }), { ...day({ usd: 1 }, { usd: 0.5 })[0], scope: "sender", subject: "x:1" }];
    const exceeded = findExceeded(measured as Parameters<typeof findExceeded>[0], { tokens: 0, usd: 0.7, turns: 0 });
    assert.deepEqual(exceeded, {
      scope: "sender",
      unit: "usd",
      limit: 1,
      used: 0.5,
      needed: 0.7,
      subject: "x:1",
      period: undefined,
    });
  });
});

const message = (text = "hi") =>
  draft("user_message", { message_id: "m", content: [{ type: "text", text }], iteration: 1 }, { source: "agent" });
const answer = (input_tokens: number, cost_usd?: number, model = "acme/m") =>
  draft(
    "assistant_message",
    {
      message_id: "a",
      content: [{ type: "text", text: "x" }],
      model,
      iteration: 1,
      stop_reason: "end_turn",
      usage: { ...noUsage, input_tokens },
      cost_usd,
      final: true,
      partial: false,
    },
    { source: "provider:acme" },
  );
const fresh = { usage: noUsage, costUsd: 0, turns: 0 };

interface World {
  readonly engine: Engine;
  readonly usage: Records;
  readonly clock: { now: number };
  open(limits: BudgetLimits, shared?: SharedTurns): ReturnType<typeof createBudgets>;
}

async function world(folder: string): Promise<World & AsyncDisposable> {
  const { engine } = await openIn(folder);
  const clock = { now: Date.parse("2026-11-21T12:00:00Z") };
  const usage = await engine.records.open(usageKind);
  return {
    engine,
    usage,
    clock,
    open: (limits, shared) =>
      createBudgets({
        limits,
        shared,
        records: usage,
        calendar: createCalendar("Europe/Berlin"),
        log: silentLog,
        now: () => clock.now,
      }),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}

describe("budgets", () => {
  const turn = { turnId: "turn_1", sender: "telegram:7", job: undefined, conversation: fresh };
  const none = { usage: noUsage, costUsd: undefined };

  test("turns side by side do not pass a limit together, and one that ends without a word gives its place back", async (t) => {
    await using w = await world(tempFolder(t));
    const budgets = w.open({ day: { turns: 2 } });
    const [a, b, c] = [budgets.open(turn), budgets.open(turn), budgets.open(turn)];
    assert.equal(await a.begin("msg_1"), undefined);
    assert.equal(await b.begin("msg_1"), undefined);
    assert.equal((await c.begin("msg_1"))?.scope, "day");
    b[Symbol.dispose]();
    assert.equal(await c.begin("msg_1"), undefined);
    await w.engine.append(sessionOf, [message()], { durable: false, counts: a.counts([message()]) });
    a[Symbol.dispose]();
    a[Symbol.dispose]();
    assert.equal((await budgets.open(turn).begin("msg_9"))?.used, 2, "one is counted, one is held");
    c[Symbol.dispose]();
    assert.equal(await budgets.open(turn).begin("msg_9"), undefined);
  });

  test("where nodes share a limit, a message that was let in stays so, and one that begins no turn gives its place back", async (t) => {
    await using w = await world(tempFolder(t));
    const nodes = await Promise.all(
      ["one", "other"].map(async () => new SharedTurns(await w.engine.records.open(sharedTurnsKind), silentLog)),
    );
    const limits = { day: { turns: 2 }, sender: { turns: 1 } };
    const [one, other] = nodes.map((shared) => w.open(limits, shared));
    assert.ok(one !== undefined && other !== undefined);
    const begin = async (budgets: typeof one, id: string, sender: string): Promise<string | undefined> =>
      (await budgets.open({ ...turn, sender }).begin(id))?.scope;
    assert.equal(await begin(one, "msg_1", "x:1"), undefined);
    // The node is killed before the turn has begun: the other one takes the message.
    assert.equal(await begin(other, "msg_1", "x:1"), undefined);
    assert.equal(await begin(other, "msg_2", "x:1"), "sender");
    const left = other.open({ ...turn, sender: "x:2" });
    assert.equal(await left.begin("msg_3"), undefined);
    assert.equal(await begin(one, "msg_4", "x:3"), "day");
    left[Symbol.dispose]();
    await until("the place is free", async () => (await begin(w.open(limits, nodes[0]), "msg_4", "x:3")) === undefined);
    const shared = await w.engine.records.open(sharedTurnsKind);
    w.clock.now += 5 * 86_400_000;
    one.open(turn);
    await until("days that are over are forgotten", () => shared.list().length === 0);
  });

  test("what a call needs is held until its answer is counted", async (t) => {
    await using w = await world(tempFolder(t));
    const budgets = w.open({ sender: { tokens: 1000 } });
    const [a, b] = [budgets.open(turn), budgets.open(turn)];
    assert.equal(a.admit({ tokens: 600, usd: 0 }, none), undefined);
    assert.deepEqual(
      [b.admit({ tokens: 600, usd: 0 }, none)?.used, b.admit({ tokens: 300, usd: 0 }, none)],
      [600, undefined],
    );
    const said = [answer(650)];
    await w.engine.append(sessionOf, said, { durable: false, counts: a.counts(said) });
    assert.equal(b.admit({ tokens: 300, usd: 0 }, none), undefined, "an own hold is replaced");
    assert.equal(b.admit({ tokens: 400, usd: 0 }, none)?.used, 650);
    const other = budgets.open({ ...turn, sender: "telegram:8" });
    assert.equal(other.admit({ tokens: 900, usd: 0 }, none), undefined, "another sender has a budget of their own");
  });

  test("a job has its own budget and its sender none; the day counts both", async (t) => {
    await using w = await world(tempFolder(t));
    const budgets = w.open({ job: { turns: 1 }, sender: { turns: 1 }, day: { turns: 3 } });
    const run = async (account: object): Promise<string | undefined> => {
      using budget = budgets.open({ ...turn, ...account });
      const refused = await budget.begin("msg_1");
      if (refused === undefined)
        await w.engine.append(sessionOf, [message()], { durable: false, counts: budget.counts([message()]) });
      return refused?.scope;
    };
    const job = { sender: undefined, job: "daily report" };
    assert.deepEqual([await run(job), await run(job), await run({})], [undefined, "job", undefined]);
    assert.deepEqual(
      [await run({}), await run({ sender: "x:1" }), await run({ sender: "x:2" })],
      ["sender", undefined, "day"],
    );
    assert.deepEqual(
      budgets.report(1).days[0]?.jobs.map(({ job: name, turns }) => [name, turns]),
      [["daily report", 1]],
    );
  });

  test("a new day begins at nothing, old details go, and the days stay for the report", async (t) => {
    await using w = await world(tempFolder(t));
    const budgets = w.open({ day: { turns: 1 } });
    const day = 86_400_000;
    const start = w.clock.now;
    for (const passed of [0, 1, 100]) {
      w.clock.now = start + passed * day;
      using budget = budgets.open(turn);
      assert.equal(await budget.begin("msg_1"), undefined, `day ${passed}`);
      const said = [message(), answer(10, 0.5), answer(5)];
      await w.engine.append(sessionOf, said, { durable: false, counts: budget.counts(said) });
      assert.equal((await budgets.open({ ...turn, sender: "x:1" }).begin("msg_9"))?.scope, "day");
    }
    const ids = () => w.usage.list().map(({ id }) => id);
    await until("senders of long ago are forgotten", () => ids().filter((id) => id.startsWith("sender")).length === 1);
    const report = budgets.report(110);
    assert.deepEqual(
      report.days.map(({ day: name, turns, costUsd, unpricedCalls, senders, models }) => [
        name,
        turns,
        costUsd,
        unpricedCalls,
        senders.length,
        models[0]?.calls,
      ]),
      [
        ["2027-03-01", 1, 0.5, 1, 1, 2],
        ["2026-11-22", 1, 0.5, 1, 0, 2],
        ["2026-11-21", 1, 0.5, 1, 0, 2],
      ],
    );
    assert.deepEqual([report.total.usage.input_tokens, report.total.costUsd, report.models[0]?.calls], [45, 1.5, 6]);
    assert.deepEqual(budgets.report(99).days.length, 1, "only the days that were asked for");
    w.clock.now += 401 * day;
    budgets.open(turn);
    await until("years are not kept", () => ids().length === 0);
  });

  test("the report adds up who used what, and says when a budget starts again", async (t) => {
    await using w = await world(tempFolder(t));
    const { usage: records, clock } = w;
    const budgets = createBudgets({
      limits: { day: { usd: 5 }, sender: { turns: 9 }, job: { usd: 1 } },
      jobs: { own: { usd: 3 } },
      records,
      calendar: createCalendar("Europe/Berlin"),
      log: silentLog,
      now: () => clock.now,
    });
    const spend = async (account: object, usd: number | undefined): Promise<void> => {
      using budget = budgets.open({ ...turn, ...account });
      const said = [message(), answer(10, usd)];
      await w.engine.append(sessionOf, said, { durable: false, counts: budget.counts(said) });
    };
    await spend({ sender: "telegram:7" }, 0.25);
    clock.now += 86_400_000;
    await spend({ sender: "telegram:7" }, 0.25);
    await spend({ sender: "telegram:8" }, undefined);
    await spend({ sender: "webui:owner" }, 1);
    for (const job of ["own", "other"]) await spend({ sender: undefined, job }, 0.5);
    const { channels, senders, jobs, total, budgets: left } = budgets.report(7);
    const amounts = (row: { readonly turns: number; readonly costUsd: number; readonly unpricedCalls: number }) => [
      row.turns,
      row.costUsd,
      row.unpricedCalls,
    ];
    assert.deepEqual(
      channels.map((row) => [row.channel, ...amounts(row)]),
      [
        ["webui", 1, 1, 0],
        ["telegram", 3, 0.5, 1],
      ],
    );
    assert.deepEqual(
      senders.map((row) => [row.sender, ...amounts(row)]),
      [
        ["webui:owner", 1, 1, 0],
        ["telegram:7", 2, 0.5, 0],
        ["telegram:8", 1, 0, 1],
      ],
    );
    assert.deepEqual(
      jobs.map((row) => [row.job, ...amounts(row)]),
      [
        ["other", 1, 0.5, 0],
        ["own", 1, 0.5, 0],
      ],
    );
    assert.deepEqual(amounts(total), [6, 2.5, 1]);
    const midnight = "2026-11-22T23:00:00.000Z";
    assert.deepEqual(
      left.map(({ scope, subject, limit, used, startsAgainAt }) => [scope, subject, limit, used, startsAgainAt]),
      [
        ["day", undefined, 5, 2.25, midnight],
        ["sender", "telegram:7", 9, 1, midnight],
        ["sender", "telegram:8", 9, 1, midnight],
        ["sender", "webui:owner", 9, 1, midnight],
        ["job", "own", 3, 0.5, midnight],
        ["job", "other", 1, 0.5, midnight],
      ],
    );
  });

  test("what is counted is what the events say", () => {
    const counts = countsOf([message(), answer(3, 0.1), answer(4), answer(0)], "2026-11-21", {
      sender: "a:1",
      job: undefined,
    });
    assert.deepEqual(
      counts.map(({ id, add }) => [id, add]),
      [
        ["day 2026-11-21", { turns: 1 }],
        ["sender 2026-11-21 a:1", { turns: 1 }],
        ["day 2026-11-21", { calls: 1, input_tokens: 3, usd: 0.1 }],
        ["model 2026-11-21 acme/m", { calls: 1, input_tokens: 3, usd: 0.1 }],
        ["sender 2026-11-21 a:1", { calls: 1, input_tokens: 3, usd: 0.1 }],
        ["day 2026-11-21", { calls: 1, input_tokens: 4, unpriced: 1 }],
        ["model 2026-11-21 acme/m", { calls: 1, input_tokens: 4, unpriced: 1 }],
        ["sender 2026-11-21 a:1", { calls: 1, input_tokens: 4, unpriced: 1 }],
      ],
    );
  });
});
