import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { noUsage } from "../../../src/events/content.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { createSystemBus } from "../../../src/events/system-bus.js";
import { silentLog } from "../../../src/log.js";
import { createTypingReactor, type TypingSign } from "../../../src/reactors/typing.js";
import { makeEvent } from "../../support/engine/histories/events.js";
import { keepLog } from "../../support/log.js";

const session = "telegram:42";
const started = (session_key = session): GatewayEvent =>
  makeEvent("turn_execution_start", { message_ids: ["msg_1"], queued_ms: 0, attempt: 1 }, { session_key });
const cancelled = makeEvent(
  "turn_execution_cancelled",
  { message_ids: ["msg_1"], reason: "user_interrupt", mode: "stop" },
  { session_key: session },
);
const failed = makeEvent(
  "turn_execution_failed",
  {
    message_ids: ["msg_1"],
    code: "TIMEOUT",
    category: "driver",
    message: "x",
    recoverable: true,
    usage: noUsage,
    duration_ms: 1,
  },
  { session_key: session },
);
const complete = makeEvent(
  "turn_execution_complete",
  {
    message_ids: ["msg_1"],
    message_id: "msg_2",
    stop_reason: "end_turn",
    iterations: 1,
    usage: noUsage,
    duration_ms: 1,
    tool_calls: [],
    errors: [],
  },
  { session_key: session },
);
type Moment = "idle" | "thinking" | "awaiting_human";

const state = (from: Moment, to: Moment): GatewayEvent =>
  makeEvent("agent_state_changed", { from, to, cause: "test" }, { session_key: session });

function watch(t: TestContext, sign: Partial<TypingSign> = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const shown: string[] = [];
  const log = keepLog();
  const channel: TypingSign = {
    typingIntervalMs: 4500,
    showTyping: async (chatId, thread) => void shown.push(thread === undefined ? chatId : `${chatId}/${thread}`),
    ...sign,
  };
  const channels = new Map<string, TypingSign>([
    ["telegram", channel],
    ["email", {}],
  ]);
  const bus = createSystemBus({ log: silentLog });
  const reactor = createTypingReactor({ channels, log });
  reactor.start(bus.asConsumer());
  const pass = async (ms: number): Promise<void> => {
    for (let round = 0; round < 10; round += 1) await Promise.resolve();
    t.mock.timers.tick(ms);
    for (let round = 0; round < 10; round += 1) await Promise.resolve();
  };
  return { bus, reactor, shown, log, pass };
}

test("typing is shown after a moment, again before it fades, and not after the turn's end, whatever the end", async (t) => {
  for (const end of [complete, failed, cancelled]) {
    const { bus, shown, pass } = watch(t);
    bus.emit(started());
    await pass(299);
    assert.deepEqual(shown, []);
    await pass(1);
    assert.deepEqual(shown, ["42"]);
    await pass(4499);
    assert.equal(shown.length, 1);
    await pass(1);
    assert.equal(shown.length, 2);
    bus.emit(end);
    await pass(60_000);
    assert.equal(shown.length, 2);
    t.mock.timers.reset();
  }
});

test("an answer that comes at once needs no sign", async (t) => {
  const { bus, shown, pass } = watch(t);
  bus.emitBatch([started(), complete]);
  await pass(60_000);
  assert.deepEqual(shown, []);
});

test("typing goes to the topic, and to no chat of a client, of a channel that cannot, or of a sub-agent", async (t) => {
  const { bus, shown, pass } = watch(t);
  for (const key of ["telegram:-5:9", "telegram:-5:9:sub", "webui:abc", "email:a@example.org", "system:local"])
    bus.emit(started(key));
  await pass(300);
  assert.deepEqual(shown, ["-5/9"]);
});

test("the sign rests while a person is asked, and comes back with the work", async (t) => {
  const { bus, shown, pass } = watch(t);
  bus.emit(started());
  await pass(300);
  bus.emit(state("thinking", "awaiting_human"));
  await pass(60_000);
  assert.equal(shown.length, 1);
  bus.emit(state("awaiting_human", "thinking"));
  await pass(300);
  assert.equal(shown.length, 2);
  bus.emit(state("thinking", "idle"));
  await pass(60_000);
  assert.equal(shown.length, 2);
});

test("a turn that never ends does not type for ever, and the next one has its full time", async (t) => {
  const { bus, shown, pass } = watch(t);
  bus.emit(started());
  for (let second = 0; second < 700; second += 1) await pass(1000);
  const count = shown.length;
  assert.ok(count > 100 && count < 135, `${count} signs in ten minutes`);
  bus.emit(started());
  await pass(300);
  assert.equal(shown.length, count + 1);
});

test("a sign that fails is tried again at its time and told nobody; one that hangs ends with the turn", async (t) => {
  let calls = 0;
  const signals: AbortSignal[] = [];
  const { bus, log, pass } = watch(t, {
    showTyping(_chatId, _thread, signal) {
      calls += 1;
      signals.push(signal);
      return calls === 1 ? Promise.reject(new Error("429")) : new Promise(() => {});
    },
  });
  bus.emit(started());
  await pass(300);
  await pass(4500);
  assert.equal(calls, 2);
  assert.deepEqual(
    log.lines.map(({ level }) => level),
    ["debug"],
  );
  assert.equal(signals[1]?.aborted, false);
  bus.emit(complete);
  assert.equal(signals[1]?.aborted, true);
});

test("stopping takes every sign away, and listens no more", async (t) => {
  const { bus, reactor, shown, pass } = watch(t);
  bus.emit(started());
  await pass(300);
  reactor.stop();
  bus.emit(started("telegram:43"));
  await pass(60_000);
  assert.deepEqual(shown, ["42"]);
  reactor.stop();
});
