import type { EventConsumer, Unsubscribe } from "../events/bus/system-bus.js";
import type { DeliveryStatus } from "../events/catalogue.js";
import { addUsage, noUsage, type Usage } from "../events/content.js";
import { type GatewayReadings, gatewayText } from "./gateway-metrics.js";
import { LagMetrics } from "./lag-metrics.js";
import { ProcessMetrics } from "./process-metrics.js";
import { createCounter, createHistogram } from "./prometheus.js";
import type { Reactor } from "./reactor.js";

/** How long one model call took that was answered. */
export interface ModelTiming {
  readonly provider: string;
  readonly firstMs: number;
  readonly totalMs: number;
}

/** What has happened since the start. */
export interface MetricsSnapshot {
  readonly messagesAccepted: number;
  readonly turns: { readonly complete: number; readonly failed: number; readonly cancelled: number };
  /** Failed turns by error code. */
  readonly failures: Readonly<Record<string, number>>;
  readonly deliveries: Readonly<Partial<Record<DeliveryStatus, number>>>;
  readonly toolCalls: { readonly ok: number; readonly failed: number };
  readonly modelRetries: number;
  readonly usage: Usage;
  readonly costUsd: number;
  /** Of turns that completed or failed. */
  readonly turnDurations: { readonly count: number; readonly sumMs: number; readonly maxMs: number };
}

/** Counts in memory, and shows the counts to anyone who asks. */
export interface Metrics extends Reactor {
  snapshot(): MetricsSnapshot;
  noteModelCall(timing: ModelTiming): void;
  /** In Prometheus' text format, version 0.0.4. `isReady`: messages are taken, as `GET /ready` says. */
  prometheusText(isReady: boolean): string;
}

const durationBucketsSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

function createFamilies() {
  return {
    messages: createCounter("maxclaw_messages_accepted_total", "Messages that were accepted.", "channel"),
    turns: createCounter("maxclaw_turns_total", "Turns that ended.", "end"),
    failures: createCounter("maxclaw_turn_failures_total", "Turns that failed.", "code"),
    deliveries: createCounter("maxclaw_deliveries_total", "Changes in the delivery of replies.", "status"),
    toolCalls: createCounter("maxclaw_tool_calls_total", "Tool calls that ended.", "result"),
    retries: createCounter("maxclaw_model_retries_total", "Model calls that are tried again.", "code"),
    tokens: createCounter("maxclaw_tokens_total", "Tokens of turns that ended.", "kind"),
    cost: createCounter("maxclaw_cost_usd_total", "Cost of completed turns, where prices are configured."),
    durations: createHistogram(
      "maxclaw_turn_duration_seconds",
      "Time from a turn's start to its end.",
      durationBucketsSeconds,
    ),
    modelCalls: createHistogram(
      "maxclaw_model_call_duration_seconds",
      "Time of a model call that was answered.",
      durationBucketsSeconds,
      "provider",
    ),
    firstWords: createHistogram(
      "maxclaw_model_first_word_seconds",
      "Time from a model call's start to the first piece of its answer.",
      durationBucketsSeconds,
      "provider",
    ),
  };
}

/** `read`: how the gateway is at the moment; without it only what happens is counted. */
export function createMetricsReactor(
  read?: (isReady: boolean) => GatewayReadings,
  now: () => number = Date.now,
): Metrics {
  const families = createFamilies();
  const { messages, turns, failures, deliveries, toolCalls, retries, tokens, cost, durations } = families;
  const lags = new LagMetrics();
  const ofProcess = new ProcessMetrics();
  let usage = noUsage;
  let longestMs = 0;
  let undo: readonly Unsubscribe[] = [];

  const countTurn = (end: "complete" | "failed", used: Usage, durationMs: number): void => {
    turns.add(1, end);
    usage = addUsage(usage, used);
    for (const [name, count] of Object.entries(used)) tokens.add(count, name.replace(/_tokens$/, ""));
    durations.observe(durationMs / 1000);
    longestMs = Math.max(longestMs, durationMs);
  };

  const listen = (bus: EventConsumer): readonly Unsubscribe[] => [
    bus.on("user_message_queued", ({ payload }) => messages.add(1, payload.channel)),
    bus.on("turn_execution_complete", ({ payload }) => {
      countTurn("complete", payload.usage, payload.duration_ms);
      cost.add(payload.cost_usd ?? 0);
    }),
    bus.on("turn_execution_failed", ({ payload }) => {
      countTurn("failed", payload.usage, payload.duration_ms);
      failures.add(1, payload.code);
    }),
    bus.on("turn_execution_cancelled", () => turns.add(1, "cancelled")),
    bus.on("tool_execution_complete", ({ payload }) => toolCalls.add(1, payload.is_error ? "failed" : "ok")),
    bus.on("outbound_delivery_changed", ({ payload }) => deliveries.add(1, payload.status)),
    bus.on("llm_retry_scheduled", ({ payload }) => retries.add(1, payload.code)),
  ];

  return {
    name: "metrics",
    start(bus) {
      undo = [...listen(bus), ...lags.listen(bus), () => ofProcess[Symbol.dispose]()];
    },
    stop() {
      for (const stop of undo) stop();
      undo = [];
    },
    snapshot: () => ({
      messagesAccepted: messages.total(),
      turns: {
        complete: turns.value("complete"),
        failed: turns.value("failed"),
        cancelled: turns.value("cancelled"),
      },
      failures: failures.values(),
      deliveries: deliveries.values(),
      toolCalls: { ok: toolCalls.value("ok"), failed: toolCalls.value("failed") },
      modelRetries: retries.total(),
      usage,
      costUsd: cost.total(),
      turnDurations: { count: durations.count(), sumMs: durations.sum() * 1000, maxMs: longestMs },
    }),
    noteModelCall({ provider, firstMs, totalMs }) {
      families.firstWords.observe(firstMs / 1000, provider);
      families.modelCalls.observe(totalMs / 1000, provider);
    },
    prometheusText(isReady) {
      const counted = [...Object.values(families), ...lags.families].map((family) => family.text()).join("");
      return counted + (read === undefined ? "" : gatewayText(read(isReady), now())) + ofProcess.text();
    },
  };
}
