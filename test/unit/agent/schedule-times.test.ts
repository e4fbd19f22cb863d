import assert from "node:assert/strict";
import { test } from "node:test";
import { Cron } from "croner";
import fc from "fast-check";
import { createTimes, describeSchedule } from "../../../src/schedule/times.js";
import { fuzzOptions } from "../../support/fuzz.js";

const times = createTimes(Cron, () => "Europe/Zurich");
const now = Date.parse("2026-11-21T12:00:00Z");
const iso = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString().slice(0, 16);

/**
 * Expression, time zone, from, and the next times. In 2026 clocks go forward on 29 March in Europe, on 8 March in New York, on
 * 4 October in Sydney and on Lord Howe (by half an hour), at midnight of 6 September in Santiago; and back on 25 October,
 * 1 November, 5 April and 5 April, at midnight of 5 April in Santiago.
 */
const daylight: readonly (readonly [string, string, string, readonly string[]])[] = [
  // A time that does not exist, and one that comes twice.
  ["30 2 * * *", "Europe/Zurich", "2026-03-28T02:00", ["2026-03-29T01:00", "2026-03-30T00:30", "2026-03-31T00:30"]],
  ["30 2 * * *", "Europe/Zurich", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30", "2026-10-27T01:30"]],
  ["30 2 * * *", "America/New_York", "2026-03-07T12:00", ["2026-03-08T07:00", "2026-03-09T06:30", "2026-03-10T06:30"]],
  ["30 1 * * *", "America/New_York", "2026-10-31T12:00", ["2026-11-01T05:30", "2026-11-02T06:30", "2026-11-03T06:30"]],
  ["30 2 * * *", "Australia/Sydney", "2026-10-03T00:00", ["2026-10-03T16:00", "2026-10-04T15:30", "2026-10-05T15:30"]],
  ["30 2 * * *", "Australia/Sydney", "2026-04-04T00:00", ["2026-04-04T15:30", "2026-04-05T16:30", "2026-04-06T16:30"]],
  ["15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00", ["2026-10-03T15:30", "2026-10-04T15:15"]],
  ["45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00", ["2026-04-04T14:45", "2026-04-05T15:15"]],
  ["0 0 * * *", "America/Santiago", "2026-09-05T12:00", ["2026-09-06T04:00", "2026-09-07T03:00"]],
  ["30 23 * * *", "America/Santiago", "2026-04-03T12:00", ["2026-04-04T02:30", "2026-04-05T02:30", "2026-04-06T03:30"]],
  // Other times of those days.
  ["0 9 * * *", "Europe/Zurich", "2026-03-28T09:00", ["2026-03-29T07:00", "2026-03-30T07:00", "2026-03-31T07:00"]],
  ["0 9 * * *", "Europe/Zurich", "2026-10-24T09:00", ["2026-10-25T08:00", "2026-10-26T08:00", "2026-10-27T08:00"]],
  ["0 9 * * *", "Australia/Sydney", "2026-10-03T00:00", ["2026-10-03T22:00", "2026-10-04T22:00"]],
  ["0 9 * * *", "Australia/Sydney", "2026-04-04T00:00", ["2026-04-04T23:00", "2026-04-05T23:00"]],
  // Every hour that passes, none twice and none left out.
  ["0 * * * *", "Europe/Zurich", "2026-03-29T00:00", ["2026-03-29T01:00", "2026-03-29T02:00", "2026-03-29T03:00"]],
  ["0 * * * *", "Europe/Zurich", "2026-10-25T00:00", ["2026-10-25T01:00", "2026-10-25T02:00", "2026-10-25T03:00"]],
  ["0 * * * *", "Australia/Sydney", "2026-04-04T15:00", ["2026-04-04T16:00", "2026-04-04T17:00"]],
  ["0 9 * * 1-5", "Asia/Shanghai", "2026-11-20T02:00", ["2026-11-23T01:00", "2026-11-24T01:00", "2026-11-25T01:00"]],
  ["0 0 1 * *", "America/New_York", "2026-10-15T00:00", ["2026-11-01T04:00", "2026-12-01T05:00", "2027-01-01T05:00"]],
  ["0 12 29 2 *", "UTC", "2026-01-01T00:00", ["2028-02-29T12:00", "2032-02-29T12:00", "2036-02-29T12:00"]],
];

test("expressions follow the clock of their time zone, also on the days on which it changes", () => {
  for (const [expression, timeZone, from, expected] of daylight) {
    const schedule = { kind: "cron" as const, expression, timeZone };
    let at: number | undefined = Date.parse(`${from}:00Z`);
    const found: (string | undefined)[] = [];
    while (found.length < expected.length && at !== undefined) {
      at = times.next(schedule, at);
      found.push(iso(at));
    }
    assert.deepEqual(found, expected, `${expression} ${timeZone}`);
  }
});

test("no time comes twice or is left out, whenever the clock is looked at on those days", () => {
  const minute = 60_000;
  for (const [expression, timeZone, from, expected] of daylight.filter(([each]) => !each.includes("29 2"))) {
    const schedule = { kind: "cron" as const, expression, timeZone };
    const seen: (string | undefined)[] = [];
    const begin = Date.parse(`${from}:00Z`);
    const end = Math.min(Date.parse(`${expected.at(-1)}:00Z`), begin + 4 * 24 * 60 * minute);
    for (let now = begin; now <= end; now += 15 * minute) {
      const last = times.last(schedule, now);
      if (last !== undefined && last > begin && iso(last) !== seen.at(-1)) seen.push(iso(last));
    }
    assert.deepEqual(seen, expected.slice(0, seen.length), `${expression} ${timeZone}`);
    assert.ok(seen.length > 0 || end < Date.parse(`${expected[0]}:00Z`), `${expression} ${timeZone}`);
  }
});

test("the last time before a moment is the one whose next is after it", (t) => {
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
    fuzzOptions(t, 300),
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
  assert.equal(describeSchedule(times.parse({ every: "86400" }, now), "Asia/Shanghai"), "every 1 d");
  assert.equal(
    describeSchedule(times.parse({ cron: " 0 9 * * 1 " }, now), "Asia/Shanghai"),
    "0 9 * * 1 (Europe/Zurich)",
  );
  const once = times.parse({ at: "2026-11-22T23:40Z" }, now);
  assert.equal(describeSchedule(once, "Europe/Berlin"), "once at 2026-11-23 00:40 (Europe/Berlin)");
});

test("a single local time that does not exist is as much later, and one that comes twice is the first", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["2027-03-28T02:30", "Europe/Zurich", "2027-03-28T01:30"],
    ["2027-10-31T02:30", "Europe/Zurich", "2027-10-31T00:30"],
    ["2027-03-14T02:30", "America/New_York", "2027-03-14T07:30"],
    ["2027-11-07T01:30", "America/New_York", "2027-11-07T05:30"],
    ["2027-10-03T02:30", "Australia/Sydney", "2027-10-02T16:30"],
    ["2027-04-04T02:30", "Australia/Sydney", "2027-04-03T15:30"],
    ["2027-10-03T02:15", "Australia/Lord_Howe", "2027-10-02T15:45"],
    ["2027-04-04T01:45", "Australia/Lord_Howe", "2027-04-03T14:45"],
    ["2027-09-05T00:00", "America/Santiago", "2027-09-05T04:00"],
    // An offset says which one is meant.
    ["2027-10-31T02:30+01:00", "Europe/Zurich", "2027-10-31T01:30"],
  ];
  for (const [at, timeZone, expected] of cases) {
    const schedule = times.parse({ at, timeZone }, now);
    assert.equal(schedule.kind === "at" ? iso(schedule.at) : undefined, expected, `${at} ${timeZone}`);
  }
});

test("what is not a time is refused with a sentence that says what one looks like", () => {
  const wrong: readonly (readonly [Parameters<typeof times.parse>[0], RegExp])[] = [
    [{}, /exactly one/],
    [{ at: "2026-11-22T09:00", every: "2h" }, /exactly one/],
    [{ at: "tomorrow" }, /is not a time/],
    [{ at: "2026-13-45T09:00" }, /2026-13-45 is not a day of the calendar/],
    [{ at: "2031-02-30T09:00" }, /2031-02-30 is not a day of the calendar/],
    [{ at: "2031-02-30T09:00+01:00" }, /2031-02-30 is not a day of the calendar/],
    [{ at: "2026-11-20T09:00" }, /2026-11-20 09:00 \(Europe\/Zurich\) has passed/],
    [{ at: "2026-11-22T09:00", timeZone: "Mars/Olympus" }, /is not a time zone/],
    [{ every: "often" }, /is not a length/],
    [{ every: "5s" }, /one minute/],
    [{ cron: "61 * * * *" }, /five fields/],
    [{ cron: "* * * * * *" }, /five fields/],
    [{ cron: "0 0 31 2 *" }, /never comes/],
  ];
  for (const [wish, message] of wrong) assert.throws(() => times.parse(wish, now), message, JSON.stringify(wish));
});
