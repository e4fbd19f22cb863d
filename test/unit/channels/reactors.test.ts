import assert from "node:assert/strict";
import { test } from "node:test";
import { noUsage } from "../../../src/events/content.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { createSystemBus } from "../../../src/events/system-bus.js";
import { silentLog } from "../../../src/log.js";
import { createLogReactor } from "../../../src/reactors/log-events.js";
import { createMetricsReactor } from "../../../src/reactors/metrics.js";
import { makeEvent } from "../../support/engine/histories/events.js";
import { keepLog } from "../../support/log.js";

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
  bus.emitBatch([
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
  bus.emit(failed);
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
  bus.emitBatch([
    complete(200),
    complete(3000),
    failed,
    cancelled,
    delivery("sent"),
    delivery("sent"),
    delivery("unknown"),
  ]);
  bus.emitBatch([tool(false), tool(false), tool(true)]);
  bus.emit(makeEvent("llm_retry_scheduled", { attempt: 1, delay_ms: 5, code: "TIMEOUT" }));
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
  bus.emit(failed);
  assert.equal(metrics.snapshot().turns.failed, 1);
});

test("metrics are shown in Prometheus' text format: help, type, one line for each number, labels escaped", () => {
  const bus = createSystemBus({ log: silentLog });
  const metrics = createMetricsReactor();
  metrics.start(bus.asConsumer());
  bus.emitBatch([complete(200), complete(3000)]);
  bus.emit(
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
  const lines = metrics.prometheusText().split("\n");
  assert.equal(lines.at(-1), "");
  for (const line of lines.slice(0, -1)) {
    assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="([^"\\\n]|\\["\\n])*"\})? [0-9.e+-]+)$/, line);
  }
  assert.ok(lines.includes("# TYPE maxclaw_turns_total counter"));
  assert.ok(lines.includes('maxclaw_turns_total{end="complete"} 2'));
  assert.ok(lines.includes('maxclaw_tokens_total{kind="cache_read"} 600'));
  assert.ok(lines.includes('maxclaw_messages_accepted_total{channel="odd\\"name\\n\\\\"} 1'));
  const buckets = lines.filter((line) => line.includes("_bucket"));
  assert.deepEqual(buckets.slice(0, 3), [
    'maxclaw_turn_duration_seconds_bucket{le="0.1"} 0',
    'maxclaw_turn_duration_seconds_bucket{le="0.25"} 1',
    'maxclaw_turn_duration_seconds_bucket{le="0.5"} 1',
  ]);
  assert.equal(buckets.at(-1), 'maxclaw_turn_duration_seconds_bucket{le="+Inf"} 2');
  assert.ok(lines.includes("maxclaw_turn_duration_seconds_sum 3.2"));
  assert.ok(lines.includes("maxclaw_turn_duration_seconds_count 2"));
});
