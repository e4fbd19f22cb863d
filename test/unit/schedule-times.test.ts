import assert from "node:assert/strict";
import { test } from "node:test";
import { Cron } from "croner";
import fc from "fast-check";
import { createTimes, describeSchedule } from "../../src/schedule/times.js";

const times = createTimes(Cron, "Europe/Zurich");
const now = Date.parse("2026-11-21T12:00:00Z");
const iso = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString().slice(0, 16);

/** Expression, time zone, from, and the next three times. Clocks go forward on 29 March and back on 25 October 2026. */
const daylight: readonly (readonly [string, string, string, readonly string[]])[] = [
  ["30 2 * * *", "Europe/Zurich", "2026-03-28T02:00", ["2026-03-29T01:00", "2026-03-30T00:30", "2026-03-31T00:30"]],
  ["30 2 * * *", "Europe/Zurich", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30", "2026-10-27T01:30"]],
  ["0 9 * * *", "Europe/Zurich", "2026-03-28T09:00", ["2026-03-29T07:00", "2026-03-30T07:00", "2026-03-31T07:00"]],
  ["0 9 * * *", "Europe/Zurich", "2026-10-24T09:00", ["2026-10-25T08:00", "2026-10-26T08:00", "2026-10-27T08:00"]],
  ["0 9 * * 1-5", "Asia/Shanghai", "2026-11-20T02:00", ["2026-11-23T01:00", "2026-11-24T01:00", "2026-11-25T01:00"]],
  ["0 0 1 * *", "America/New_York", "2026-10-15T00:00", ["2026-11-01T04:00", "2026-12-01T05:00", "2027-01-01T05:00"]],
  ["0 12 29 2 *", "UTC", "2026-01-01T00:00", ["2028-02-29T12:00", "2032-02-29T12:00", "2036-02-29T12:00"]],
];

test("expressions follow the clock of their time zone, also on the days on which it changes", () => {
  for (const [expression, timeZone, from, expected] of daylight) {
    const schedule = { kind: "cron" as const, expression, timeZone };
    let at: number | undefined = Date.parse(`${from}:00Z`);
    const found: (string | undefined)[] = [];
    while (found.length < 3 && at !== undefined) {
      at = times.next(schedule, at);
      found.push(iso(at));
    }
    assert.deepEqual(found, expected, `${expression} ${timeZone}`);
  }
});

test("the last time before a moment is the one whose next is after it", () => {
  const expressions = ["* * * * *", "*/7 3 * * *", "30 2 * * *", "0 9 * * 1-5", "15 10 1,15 * *"];
  fc.assert(
    fc.property(
      fc.constantFrom(...expressions),
      fc.constantFrom("UTC", "Europe/Zurich", "America/New_York", "Asia/Kolkata"),
      fc.integer({ min: Date.parse("2026-01-02"), max: Date.parse("2027-01-02") }),
      (expression, timeZone, until) => {
        const schedule = { kind: "cron" as const, expression, timeZone };
        const last = times.last(schedule, until);
        assert.ok(last !== undefined && last <= until);
        const next = times.next(schedule, last);
        assert.ok(next !== undefined && next > until, `${iso(last)} … ${iso(next)}`);
      },
    ),
    { numRuns: 300 },
  );
});

test("intervals are counted from where they began, so that a restart does not move them", () => {
  const schedule = { kind: "every" as const, everyMs: 3_600_000, anchor: now };
  assert.equal(times.last(schedule, now + 3_599_999), undefined);
  assert.equal(times.next(schedule, now), now + 3_600_000);
  assert.equal(times.next(schedule, now + 5 * 3_600_000 + 1), now + 6 * 3_600_000);
  assert.equal(times.last(schedule, now + 5 * 3_600_000 + 1), now + 5 * 3_600_000);
});

test("people's words become times: local unless they say otherwise", () => {
  const at = (text: string, timeZone?: string) => {
    const schedule = times.parse({ at: text, timeZone }, now);
    return schedule.kind === "at" ? iso(schedule.at) : undefined;
  };
  assert.equal(at("2026-11-22T09:00"), "2026-11-22T08:00");
  assert.equal(at("2026-11-22 09:00", "Asia/Shanghai"), "2026-11-22T01:00");
  assert.equal(at("2026-11-22T09:00:30Z"), "2026-11-22T09:00");
  assert.equal(at("2026-11-22T09:00+05:30"), "2026-11-22T03:30");
  assert.equal(at("2026-12-24"), "2026-12-23T23:00");
  assert.deepEqual(times.parse({ every: "90m" }, now), { kind: "every", everyMs: 5_400_000, anchor: now });
  assert.equal(describeSchedule(times.parse({ every: "86400" }, now)), "every 1 d");
  assert.equal(describeSchedule(times.parse({ cron: " 0 9 * * 1 " }, now)), "0 9 * * 1 (Europe/Zurich)");
});

test("what is no time is refused with a sentence that says what one looks like", () => {
  const wrong: readonly (readonly [Parameters<typeof times.parse>[0], RegExp])[] = [
    [{}, /exactly one/],
    [{ at: "2026-11-22T09:00", every: "2h" }, /exactly one/],
    [{ at: "tomorrow" }, /is no time/],
    [{ at: "2026-13-45T09:00" }, /is no time/],
    [{ at: "2026-11-20T09:00" }, /has passed/],
    [{ at: "2026-11-22T09:00", timeZone: "Mars/Olympus" }, /is no time zone/],
    [{ every: "often" }, /is no length/],
    [{ every: "5s" }, /one minute/],
    [{ cron: "61 * * * *" }, /five fields/],
    [{ cron: "* * * * * *" }, /five fields/],
    [{ cron: "0 0 31 2 *" }, /never comes/],
  ];
  for (const [wish, message] of wrong) assert.throws(() => times.parse(wish, now), message, JSON.stringify(wish));
});
