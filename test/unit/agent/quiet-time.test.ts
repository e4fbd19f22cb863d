import assert from "node:assert/strict";
import { test } from "node:test";
import { continuesBurst, looksUnfinished, quietLeftMs } from "../../../src/agent/questions/quiet-time.js";
import type { InboundMessage } from "../../../src/bus/messages.js";

function message(content: string, receivedAt: number, more: Partial<InboundMessage> = {}): InboundMessage {
  const from = { channel: "telegram", chatId: "42", senderId: "42", sessionKey: "telegram:42" };
  return { id: `msg_${receivedAt}`, ...from, content, attachments: [], receivedAt, ...more };
}

const unfinished = { ms: 600, after: "unfinished" } as const;
const every = { ms: 600, after: "every" } as const;

test("a text goes on when it ends in the middle, and not because it has no full stop", () => {
  for (const text of [
    "well,",
    "two things:",
    "so ...",
    "so…",
    "like this (",
    "```js\nconst a",
    "milk and",
    "or",
    "这个，",
    "还有",
    "比如：",
  ])
    assert.equal(looksUnfinished(text), text !== "or", text);
  for (const text of [
    "hello",
    "hello.",
    "what?",
    "and",
    "sand",
    "a, b",
    "```js\ncode\n```",
    "好",
    "1.",
    ":)",
    ":(",
    ":-(",
    "",
  ])
    assert.ok(!looksUnfinished(text), text);
});

test("only what plainly goes on is waited for, unless every text is", () => {
  const hello = message("hello", 1000);
  const open = message("hello,", 1000);
  assert.equal(quietLeftMs([hello], unfinished, 1000), 0);
  assert.equal(quietLeftMs([open], unfinished, 1000), 600);
  assert.equal(quietLeftMs([open], unfinished, 1500), 100);
  assert.equal(quietLeftMs([open], unfinished, 9000), 0);
  assert.equal(quietLeftMs([hello], every, 1200), 400);
  assert.equal(quietLeftMs([open], { ms: 0, after: "every" }, 1000), 0);
  assert.equal(quietLeftMs([message("hello,", 1000, { mode: "next" })], every, 1000), 0);
  assert.equal(quietLeftMs([message("hello,", 1000, { internal: true })], every, 1000), 0);
});

test("who never ends is answered all the same, after ten quiet times", () => {
  const burst = Array.from({ length: 30 }, (_, n) => message("and,", 1000 + n * 500));
  assert.equal(quietLeftMs(burst.slice(0, 12), unfinished, 6500), 500);
  assert.equal(quietLeftMs(burst.slice(0, 13), unfinished, 7000), 0);
});

test("the next message belongs to a burst while the one before goes on and it came in time", () => {
  assert.ok(continuesBurst(message("a,", 1000), message("b", 1600), unfinished));
  assert.ok(!continuesBurst(message("a,", 1000), message("b", 1601), unfinished));
  assert.ok(!continuesBurst(message("a", 1000), message("b", 1001), unfinished));
  assert.ok(continuesBurst(message("a", 1000), message("b", 1001), every));
});
