import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { startFakeCollector } from "../../support/fakes/otel/fake-collector.js";
import { projectFile } from "../../support/project.js";
import { type MetricFamily, parsePrometheus } from "../../support/rules/prometheus-text.js";
import { openAIConfig, startGateway } from "../../support/worlds/gateway.js";

type Families = ReadonlyMap<string, MetricFamily>;

interface Scraped {
  readonly text: string;
  readonly families: Families;
}

/** What /metrics shows after a message with a tool call, one that fails at its second attempt, and one that nobody answers. */
async function scrape(): Promise<Scraped> {
  const token = "4242:metrics";
  await using telegram = await startFakeTelegram({ token });
  await using collector = await startFakeCollector();
  await using model = await startFakeOpenAI({
    answer: ({ index }) => {
      if (index === 0) return { toolCalls: [{ id: "call_1", name: "list_dir", input: { path: "." } }] };
      if (index === 1) return { text: "hello" };
      return { status: index === 2 ? 503 : 401 };
    },
  });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const more = {
    channels,
    telemetry: { otlpEndpoint: collector.url },
    prices: { "openai/test-model": { input: 1, output: 2 } },
  };
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase, more), modelRetryMs: 1 });
  const { api, address } = gateway.gateway;
  for (const count of [1, 2]) {
    telegram.pushText({ chatId: 987654321, userId: 987654321, text: `message ${count}` });
    await telegram.waitForSent(count);
    await until("it is at rest", async () => {
      const { inboundWaiting, outboundWaiting } = await api.status();
      return inboundWaiting + outboundWaiting === 0;
    });
  }
  const response = await fetch(`http://${address}/metrics`);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  return { text, families: parsePrometheus(text) };
}

function numberOf(families: Families, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const family = [...families].find(([of]) => name === of || name.startsWith(`${of}_`))?.[1];
  return family?.samples.find(
    (sample) =>
      sample.name === name &&
      Object.entries({ ...labels }).every(([key, value]) => sample.labels[key] === value) &&
      sample.labels.le === undefined,
  )?.value;
}

const dashboard = z.strictObject({
  uid: z.string().max(40),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  schemaVersion: z.number().int().min(36),
  version: z.number().int(),
  editable: z.boolean(),
  graphTooltip: z.number().int().max(2),
  refresh: z.string(),
  timezone: z.enum(["browser", "utc"]),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  timepicker: z.strictObject({}),
  annotations: z.strictObject({ list: z.array(z.never()) }),
  links: z.array(z.never()),
  templating: z.strictObject({
    list: z.array(z.looseObject({ name: z.string(), type: z.literal("datasource"), query: z.literal("prometheus") })),
  }),
  panels: z.array(
    z.strictObject({
      id: z.number().int().positive(),
      type: z.enum(["timeseries", "stat"]),
      title: z.string().min(1),
      datasource: z.strictObject({ type: z.literal("prometheus"), uid: z.string() }),
      gridPos: z.strictObject({ h: z.number(), w: z.number().max(24), x: z.number().max(23), y: z.number() }),
      fieldConfig: z.strictObject({ defaults: z.strictObject({ unit: z.string() }), overrides: z.array(z.never()) }),
      options: z.record(z.string(), z.unknown()),
      targets: z
        .array(
          z.strictObject({
            refId: z.string().regex(/^[A-Z]$/),
            datasource: z.strictObject({ type: z.literal("prometheus"), uid: z.string() }),
            expr: z.string().min(1),
            legendFormat: z.string(),
          }),
        )
        .min(1),
    }),
  ),
});

/** Every name in an expression that is neither a function, an operator nor a label. */
function metricsIn(expr: string): readonly string[] {
  const bare = expr.replaceAll(/\b(?:by|without)\s*\([^)]*\)/g, "").replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, "");
  return [...bare.matchAll(/\b[a-z][a-z0-9_]*\b(?!\s*\()/g)].map(([name]) => name).filter((name) => name.includes("_"));
}

test("/metrics shows each number of the gateway, the channels, the models and the process, and names no person and no chat", async () => {
  const { text, families } = await scrape();
  const value = (name: string, labels?: Readonly<Record<string, string>>) => numberOf(families, name, labels);
  const telegram = { channel: "telegram" };
  const openai = { provider: "openai" };
  assert.equal(value("maxclaw_build_info", { version: "0.0.0-test" }), 1);
  assert.equal(value("maxclaw_ready"), 1);
  assert.equal(value("maxclaw_journal_writable"), 1);
  assert.equal(value("maxclaw_messages_accepted_total", telegram), 2);
  assert.equal(value("maxclaw_turns_total", { end: "complete" }), 1);
  assert.equal(value("maxclaw_turns_total", { end: "failed" }), 1);
  assert.equal(value("maxclaw_model_retries_total"), 1);
  assert.equal(value("maxclaw_tool_calls_total", { result: "ok" }), 1);
  for (const queue of ["inbound", "outbound"]) {
    assert.equal(value("maxclaw_queue_messages", { queue }), 0);
    assert.equal(value("maxclaw_queue_oldest_age_seconds", { queue }), 0);
  }
  for (const name of ["maxclaw_dead_letters", "maxclaw_open_questions", "maxclaw_running_turns"])
    assert.equal(value(name), 0, name);
  assert.equal(value("maxclaw_channel_connected", telegram), 1);
  for (const what of ["last_inbound", "last_outbound", "last_seen"]) {
    const at = value(`maxclaw_channel_${what}_timestamp_seconds`, telegram) ?? 0;
    assert.ok(Math.abs(Date.now() / 1000 - at) < 60, what);
  }
  assert.equal(value("maxclaw_answer_duration_seconds_count", telegram), 1);
  assert.equal(value("maxclaw_delivery_duration_seconds_count", telegram), 2);
  assert.equal(value("maxclaw_model_call_duration_seconds_count", openai), 2);
  assert.equal(value("maxclaw_model_first_word_seconds_count", openai), 2);
  assert.ok((value("maxclaw_journal_sync_duration_seconds_count") ?? 0) > 2);
  assert.ok((value("maxclaw_cost_usd_total") ?? 0) > 0);
  assert.ok((value("process_resident_memory_bytes") ?? 0) > 10_000_000);
  assert.ok((value("nodejs_heap_size_used_bytes") ?? 0) > 1_000_000);
  const delay = value("nodejs_eventloop_lag_max_seconds") ?? -1;
  assert.ok(delay >= 0 && delay < 60, `${delay}`);
  assert.equal(value("maxclaw_trace_spans_total", { result: "dropped" }), 0);
  assert.ok(!text.includes("987654321"), "no chat and no sender");
});

test("the dashboard is one that Grafana takes, and asks only for metrics that there are", async () => {
  const found: unknown = JSON.parse(readFileSync(projectFile("docs/grafana/maxclaw.json"), "utf8"));
  const { panels } = dashboard.parse(found);
  const ids = panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const { families } = await scrape();
  const series = new Set([...families].flatMap(([, { samples }]) => samples.map(({ name }) => name)));
  const asked = new Set(panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr))));
  assert.deepEqual(
    [...asked].filter((name) => !series.has(name)),
    [],
  );
  const labels = panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr, legendFormat }) =>
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => [expr, label] as const),
    ),
  );
  for (const [expr, label] of labels) {
    const samples = metricsIn(expr).flatMap((name) =>
      [...families.values()].flatMap((family) => family.samples.filter((sample) => sample.name === name)),
    );
    assert.ok(
      samples.every((sample) => label in sample.labels),
      `${expr} has the label ${label}`,
    );
  }
  const shown = [...families.keys()].filter(
    (name) => ![...asked].some((one) => one === name || one.startsWith(`${name}_`)),
  );
  assert.deepEqual(shown, ["nodejs_eventloop_lag_mean_seconds"], "what the dashboard leaves out");
});
