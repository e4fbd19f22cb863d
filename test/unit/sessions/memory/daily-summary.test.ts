import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../../../src/log.js";
import { type DayOfSession, summariseMissedDays } from "../../../../src/memory/daily-summary.js";
import { tempFolder } from "../../../support/engine/engine-kit.js";

const signal = new AbortController().signal;
const talk: DayOfSession = {
  key: "webui:1",
  title: "Tea",
  messages: [
    { role: "user", content: "I like tea" },
    { role: "assistant", content: "Noted." },
  ],
};

function setUp(
  t: TestContext,
  days: Readonly<Record<string, readonly DayOfSession[]>>,
  withModel = true,
  whileAsked = (): void => {},
) {
  const root = tempFolder(t);
  const name = "memory/HISTORY.md";
  const state: { last: string | undefined; today: Date; asked: string[] } = {
    last: undefined,
    today: new Date(2026, 10, 21, 9),
    asked: [],
  };
  const run = (): Promise<void> =>
    summariseMissedDays(
      {
        file: { root, name },
        read: async (from) => days[`${new Date(from).getMonth() + 1}-${new Date(from).getDate()}`] ?? [],
        async summarise(day, text) {
          state.asked.push(`${day} ${text}`);
          whileAsked();
          return withModel ? `- talked (${day}): ${/# (.+)/.exec(text)?.[1]}` : undefined;
        },
        lastDay: {
          get: () => state.last,
          set: async (day) => {
            state.last = day;
          },
        },
        now: () => state.today,
        log: silentLog,
      },
      signal,
    );
  return { state, run, text: () => readFile(join(root, name), "utf8").catch(() => "") };
}

test("yesterday is summarised once, however often it is looked at, also when the record of it was lost", async (t) => {
  const place = setUp(t, { "11-20": [talk] });
  await place.run();
  await place.run();
  place.state.last = undefined;
  await place.run();
  assert.equal(await place.text(), "## 2026-11-20\n\n- talked (2026-11-20): Tea\n");
  assert.equal(place.state.asked.length, 1);
  assert.match(place.state.asked[0] ?? "", /# Tea\nuser: I like tea\nassistant: Noted\./);
});

test("days that were missed follow in order, seven at most, and days without a word leave no trace", async (t) => {
  const place = setUp(t, { "11-10": [talk], "11-16": [talk], "11-20": [talk] });
  place.state.last = "2026-11-01";
  await place.run();
  assert.deepEqual((await place.text()).match(/## .*/g), ["## 2026-11-16", "## 2026-11-20"]);
  assert.equal(place.state.last, "2026-11-20");
});

test("without a model each conversation has its line", async (t) => {
  const place = setUp(t, { "11-20": [talk, { key: "telegram:7", messages: talk.messages }] }, false);
  await place.run();
  assert.equal(
    await place.text(),
    "## 2026-11-20\n\n- Tea (webui:1, 2 messages)\n- I like tea (telegram:7, 2 messages)\n",
  );
});

test("the day on which clocks change has one summary", async (t) => {
  const place = setUp(t, { "10-25": [talk] });
  place.state.today = new Date(2026, 9, 26, 9);
  await place.run();
  assert.match(await place.text(), /^## 2026-10-25\n/);
});

test("what is deleted while the model reads it is in no summary", async (t) => {
  const days: Record<string, readonly DayOfSession[]> = { "11-20": [talk, { ...talk, key: "webui:2", title: "Milk" }] };
  const place = setUp(t, days, true, () => {
    days["11-20"] = (days["11-20"] ?? []).filter(({ key }) => key !== talk.key);
  });
  await place.run();
  assert.equal(await place.text(), "## 2026-11-20\n\n- talked (2026-11-20): Milk\n");
});
