import assert from "node:assert/strict";
import { test } from "node:test";
import { Notifications } from "../../../src/api/settings/notifications.js";

test("a question keeps the time at which it was seen first, also after very many others", async () => {
  let now = Date.parse("2026-01-01T00:00:00Z");
  let asked = "q0";
  const question = {
    sessionKey: "webui:1",
    kind: "decision",
    question: "May I?",
    options: [],
    fields: [],
    allowCustom: true,
  } as const;
  const expiresAt = "2026-02-01T00:00:00Z";
  const notifications = new Notifications({
    questions: () => [{ ...question, requestId: asked, expiresAt }],
    runs: async () => [],
    now: () => now,
  });
  for (let n = 0; n < 1100; n += 1) {
    asked = `q${n}`;
    await notifications.pending();
  }
  asked = "last";
  const [first] = await notifications.pending();
  now += 60_000;
  const [again] = await notifications.pending();
  assert.equal(again?.createdAt, first?.createdAt);
  notifications.markDelivered("last");
  assert.deepEqual(await notifications.pending(), []);
});
