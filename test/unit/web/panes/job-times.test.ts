import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, timesOf, wishOf } from "../../../../src/web/panes/jobs/times.js";

const fields = (schedule: string) => timesOf({ scheduleType: "cron", schedule });

test("five fields that people can say in words are found, and become the same fields again", () => {
  const said = [
    ["0 9 * * *", { kind: "days", time: "09:00", days: [] }],
    ["30 18 * * 1-5", { kind: "days", time: "18:30", days: [1, 2, 3, 4, 5] }, "30 18 * * 1,2,3,4,5"],
    ["5 7 * * 0,6", { kind: "days", time: "07:05", days: [0, 6] }],
    ["5 7 * * 6-7", { kind: "days", time: "07:05", days: [0, 6] }, "5 7 * * 0,6"],
    ["15 0 31 * *", { kind: "month", time: "00:15", day: 31 }],
  ] as const;
  for (const [expression, expected, again] of said) {
    const times = fields(expression);
    assert.deepEqual(times, expected, expression);
    assert.ok(times.kind === "days" || times.kind === "month");
    assert.equal(fieldsOf(times), again ?? expression);
  }
});

test("five fields that say more stay as they are", () => {
  const more = ["*/5 * * * *", "0 9 1 * 1", "0 9 * 2 *", "0 9 * * MON", "0 25 * * *", "0 9 * * 5-2", "0 9 0 * *"];
  for (const expression of more) {
    assert.deepEqual(fields(expression), { kind: "cron", expression });
    assert.deepEqual(wishOf(fields(expression)), { cron: expression });
  }
});

test("spans are said in the largest unit, and moments sent with their offset", () => {
  const span = (ms: number) => timesOf({ scheduleType: "every", schedule: String(ms) });
  assert.deepEqual(wishOf(span(5_400_000)), { every: "90m" });
  assert.deepEqual(wishOf(span(7_200_000)), { every: "2h" });
  assert.deepEqual(wishOf(span(86_400_000)), { every: "1d" });
  const once = timesOf({ scheduleType: "once", schedule: "2026-11-24T08:00:00Z" });
  assert.deepEqual(wishOf(once), { at: "2026-11-24T08:00:00.000Z" });
});
