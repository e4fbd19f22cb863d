import assert from "node:assert/strict";
import { test } from "node:test";
import { createSystemBus } from "../../../src/events/bus/system-bus.js";
import { noUsage } from "../../../src/events/content.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { silentLog } from "../../../src/log.js";
import { createLogReactor } from "../../../src/reactors/log-events.js";
import { createMetricsReactor } from "../../../src/reactors/metrics.js";
import { Spread } from "../../../src/util/spread.js";
import { emitAll, makeEvent } from "../../support/engine/histories/events.js";
import { keepLog } from "../../support/log.js";
import { parsePrometheus } from "../../support/rules/prometheus-text.js";

const usage = { input_tokens: 100, output_tokens: 20, cache_read_tokens: 300, cache_write_tokens: 4 };

const complete = (duration_ms: number): GatewayEvent =>
  makeEvent(
    "turn_execution_complete",
    {
      message_ids: ["msg_1"],
      message_id: "msg_2",
      stop_reason: "end_turn",
      iterations: 2,
      usage,
      cost_usd: 0.5,
      duration_ms,
      tool_calls: [{ id: "call_1", name: "exec", is_error: false, duration_ms: 5 }],
      errors: [],
    },
    { turn_id: "turn_1" },
  );
const failed = makeEvent("turn_execution_failed", {
  message_ids: ["msg_3"],
  code: "RATE_LIMIT",
  category: "driver",
  message: "429 from the provider",
  recoverable: true,
  usage: noUsage,
  duration_ms: 40,
});
const cancelled = makeEvent("turn_execution_cancelled", {
  message_ids: ["msg_4"],
  reason: "user_interrupt",
  mode: "cancel",
});
const delivery = (status: "queued" | "sending" | "sent" | "unknown" | "dead_letter", error?: string): GatewayEvent =>
  makeEvent("outbound_delivery_changed", {
    outbound_id: "out_1#0",
    channel: "telegram",
    chat_id: "42",
    status,
    attempt: 1,
    content: "what the assistant said",
    ...(error === undefined ? {} : { error }),
  });

test("the log tells each end of a turn, each trouble and each connection in one line, and nothing that people wrote", () => {
  const log = keepLog();
  const bus = createSystemBus({ log: silentLog });
  const reactor = createLogReactor({ log });
  reactor.start(bus.asConsumer());
  emitAll(bus, [
    makeEvent("text_delta", { message_id: "m", text: "secret words" }),
    makeEvent("user_message", { message_id: "m", content: [{ type: "text", text: "secret words" }], iteration: 1 }),
    complete(1234),
    failed,
    cancelled,
    delivery("queued"),
    delivery("sending"),
    delivery("sent"),
    delivery("unknown"),
    delivery("dead_letter", "chat not found"),
    makeEvent("connection_state_changed", { peer: "channel", name: "telegram", from: "connecting", to: "connected" }),
    makeEvent("connection_state_changed", {
      peer: "channel",
      name: "telegram",
      from: "connected",
      to: "reconnecting",
      delay_ms: 1000,
      reason: "409",
    }),
    makeEvent("gateway_state_changed", { from: "starting", to: "ready", version: "1.2.3" }),
    makeEvent("gateway_state_changed", { from: "ready", to: "draining", version: "1.2.3" }),
  ]);
  assert.deepEqual(
    log.lines.map(({ level, message }) => `${level}: ${message}`),
    [
      "info: Turn complete",
      "warn: Turn failed",
      "info: Turn cancelled",
      "warn: It is not known whether a reply was sent",
      "error: A reply could not be delivered",
      "info: The channel telegram is connected",
      "warn: The channel telegram is reconnecting",
      "info: The gateway is ready",
      "debug: The gateway is draining",
    ],
  );
  assert.deepEqual(log.lines[0]?.fields, {
    session: "test:1",
    turn: "turn_1",
    stop_reason: "end_turn",
    iterations: 2,
    duration_ms: 1234,
    input_tokens: 404,
    output_tokens: 20,
    tools: 1,
    cost_usd: 0.5,
  });
  assert.deepEqual(log.lines[6]?.fields, { from: "connected", to: "reconnecting", delay_ms: 1000, reason: "409" });
  const everything = JSON.stringify(log.lines);
  assert.ok(!everything.includes("secret words") && !everything.includes("what the assistant said"));
  reactor.stop();
  bus.asProducer().emit(failed);
  assert.equal(log.lines.length, 9);
});

test("metrics count turns, failures, deliveries, tools, tokens, cost and durations until they are stopped", () => {
  const bus = createSystemBus({ log: silentLog });
  const metrics = createMetricsReactor();
  metrics.stop();
  metrics.start(bus.asConsumer());
  const tool = (is_error: boolean): GatewayEvent =>
    makeEvent("tool_execution_complete", {
      tool_execution_id: "exe_1",
      tool_call_id: "call_1",
      tool_name: "exec",
      output: "",
      is_error,
      duration_ms: 1,
      summary: "",
    });
  emitAll(bus, [
    complete(200),
    complete(3000),
    failed,
    cancelled,
    delivery("sent"),
    delivery("sent"),
    delivery("unknown"),
  ]);
  emitAll(bus, [tool(false), tool(false), tool(true)]);
  bus.asProducer().emit(makeEvent("llm_retry_scheduled", { attempt: 1, delay_ms: 5, code: "TIMEOUT" }));
  assert.deepEqual(metrics.snapshot(), {
    messagesAccepted: 0,
    turns: { complete: 2, failed: 1, cancelled: 1 },
    failures: { RATE_LIMIT: 1 },
    deliveries: { sent: 2, unknown: 1 },
    toolCalls: { ok: 2, failed: 1 },
    modelRetries: 1,
    usage: { input_tokens: 200, output_tokens: 40, cache_read_tokens: 600, cache_write_tokens: 8 },
    costUsd: 1,
    turnDurations: { count: 3, sumMs: 3240, maxMs: 3000 },
  });
  metrics.stop();
  bus.asProducer().emit(failed);
  assert.equal(metrics.snapshot().turns.failed, 1);
});

test("metrics are shown in Prometheus' text format: help, type, one line for each number, labels escaped", () => {
  const bus = createSystemBus({ log: silentLog });
  const metrics = createMetricsReactor();
  metrics.start(bus.asConsumer());
  emitAll(bus, [complete(200), complete(3000)]);
  bus.asProducer().emit(
    makeEvent("user_message_queued", {
      message_id: "msg_1",
      channel: 'odd"name\n\\',
      chat_id: "1",
      sender_id: "1",
      content: [],
      mode: "next",
      position: 0,
    }),
  );
  const lines = metrics.prometheusText(false).split("\n");
  assert.equal(lines.at(-1), "");
  const families = parsePrometheus(metrics.prometheusText(false));
  assert.equal(families.get("maxclaw_messages_accepted_total")?.samples[0]?.labels.channel, 'odd"name\n\\');
  assert.ok(lines.includes("# TYPE maxclaw_turns_total counter"));
  assert.ok(lines.includes('maxclaw_turns_total{end="complete"} 2'));
  assert.ok(lines.includes('maxclaw_tokens_total{kind="cache_read"} 600'));
  assert.ok(lines.includes('maxclaw_messages_accepted_total{channel="odd\\"name\\n\\\\"} 1'));
  const buckets = lines.filter((line) => line.startsWith("maxclaw_turn_duration_seconds_bucket"));
  assert.deepEqual(buckets.slice(0, 3), [
    'maxclaw_turn_duration_seconds_bucket{le="0.1"} 0',
    'maxclaw_turn_duration_seconds_bucket{le="0.25"} 1',
    'maxclaw_turn_duration_seconds_bucket{le="0.5"} 1',
  ]);
  assert.equal(buckets.at(-1), 'maxclaw_turn_duration_seconds_bucket{le="+Inf"} 2');
  assert.ok(lines.includes("maxclaw_turn_duration_seconds_sum 3.2"));
  assert.ok(lines.includes("maxclaw_turn_duration_seconds_count 2"));
});

test("a label with ever new values does not make ever new series", () => {
  const bus = createSystemBus({ log: silentLog });
  const metrics = createMetricsReactor();
  metrics.start(bus.asConsumer());
  for (let i = 0; i < 500; i += 1) {
    emitAll(bus, [makeEvent("llm_retry_scheduled", { attempt: 1, delay_ms: 5, code: `CODE_${i}` })]);
    metrics.noteModelCall({ provider: `p${i}`, firstMs: 10, totalMs: 20 });
  }
  metrics.stop();
  const families = parsePrometheus(metrics.prometheusText(false));
  const retries = families.get("maxclaw_model_retries_total")?.samples ?? [];
  assert.equal(retries.length, 65);
  assert.equal(retries.find(({ labels }) => labels.code === "other")?.value, 436);
  const counts = families
    .get("maxclaw_model_first_word_seconds")
    ?.samples.filter(({ name }) => name === "maxclaw_model_first_word_seconds_count");
  assert.equal(counts?.length, 65);
  assert.equal(metrics.snapshot().modelRetries, 500);
});

test("a queue's age is that of its oldest message, and a channel that is away is shown as such", () => {
  const now = 1_800_000_000_000;
  const spread = new Spread([0.001, 0.1]);
  for (const seconds of [0.0005, 0.05, 3]) spread.observe(seconds);
  const metrics = createMetricsReactor(
    () => ({
      version: "1.2.3",
      isReady: false,
      isWritable: false,
      queues: { inbound: { waiting: 3, oldestAt: now - 90_500 }, outbound: { waiting: 0, oldestAt: undefined } },
      deadLetters: 2,
      syncSeconds: spread.read(),
      openQuestions: 4,
      runningTurns: 5,
      channels: [{ name: "telegram", isConnected: false, lastSeenAt: now - 1000 }],
      spans: { sent: 7, dropped: 1 },
    }),
    () => now,
  );
  const text = metrics.prometheusText(false);
  parsePrometheus(text);
  for (const line of [
    "maxclaw_ready 0",
    "maxclaw_journal_writable 0",
    'maxclaw_queue_oldest_age_seconds{queue="inbound"} 90.5',
    'maxclaw_queue_oldest_age_seconds{queue="outbound"} 0',
    "maxclaw_dead_letters 2",
    "maxclaw_open_questions 4",
    "maxclaw_running_turns 5",
    'maxclaw_channel_connected{channel="telegram"} 0',
    'maxclaw_channel_last_seen_timestamp_seconds{channel="telegram"} 1799999999',
    'maxclaw_journal_sync_duration_seconds_bucket{le="0.1"} 2',
    "maxclaw_journal_sync_duration_seconds_count 3",
    'maxclaw_trace_spans_total{result="dropped"} 1',
  ])
    assert.ok(text.includes(`${line}\n`), line);
});
