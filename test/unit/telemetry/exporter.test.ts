import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { type ExporterOptions, SpanExporter } from "../../../src/telemetry/exporter.js";
import { type Span, spanIdOf, toAttributes, traceIdOf } from "../../../src/telemetry/span.js";
import { until } from "../../support/engine/engine-kit.js";
import { factsOf, startFakeCollector } from "../../support/fakes/otel/fake-collector.js";
import { protocolProblems, readProtocol } from "../../support/fakes/otel/proto-json.js";
import { keepLog } from "../../support/log.js";

const spanOf = (name: string): Span => ({
  traceId: traceIdOf("turn_1"),
  spanId: spanIdOf(name),
  name,
  kind: 1,
  startTimeUnixNano: "1767225600000000000",
  endTimeUnixNano: "1767225600005000000",
  attributes: toAttributes({ text: "a", whole: 7, part: 0.5, yes: true, list: ["x", "y"], absent: undefined }),
});

function exporterTo(url: string, more: Partial<ExporterOptions> = {}) {
  const log = keepLog();
  const base = { headers: {}, resource: { "service.name": "maxclaw" }, isCompressed: false, timeoutMs: 5000 };
  const short = { waitMs: 1, retryMs: 1, lastMs: 2000 };
  const exporter = new SpanExporter({ ...base, ...short, url: `${url}/v1/traces`, version: "1.2.3", log, ...more });
  return { exporter, log };
}

test("the published definitions refuse what is misspelt or of another type", () => {
  const protocol = readProtocol();
  const problemsOf = (span: object): readonly string[] =>
    protocolProblems(protocol, "ExportTraceServiceRequest", { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const good = spanOf("one");
  assert.deepEqual(problemsOf(good), []);
  const bad: readonly object[] = [
    { trace_id: good.traceId },
    { ...good, traceId: good.spanId },
    { ...good, kind: "SPAN_KIND_CLIENT" },
    { ...good, kind: 9 },
    { ...good, startTimeUnixNano: 5 },
    { ...good, attributes: { a: 1 } },
    { ...good, attributes: [{ key: "a", value: "text" }] },
    { ...good, attributes: [{ key: "a", value: { intValue: 5 } }] },
    { ...good, attributes: [{ key: "a", value: { intValue: "5", stringValue: "5" } }] },
    { ...good, status: { code: "ERROR" } },
  ];
  for (const span of bad) assert.equal(problemsOf(span).length, 1, JSON.stringify(span));
});

test("spans go out in batches, with the resource and the headers, as the definitions want them", async () => {
  await using collector = await startFakeCollector();
  const { exporter } = exporterTo(collector.url, { headers: { "X-Key": "k" }, resource: { "service.name": "home" } });
  for (let i = 0; i < 300; i += 1) exporter.add(spanOf(`s${i}`));
  await exporter[Symbol.asyncDispose]();
  assert.deepEqual(collector.problems, []);
  assert.deepEqual(
    collector.exports.map(({ spans }) => spans.length),
    [256, 44],
  );
  const [first] = collector.exports;
  assert.equal(first?.headers["x-key"], "k");
  assert.deepEqual(first?.resource, { "service.version": "1.2.3", "service.name": "home" });
  const list = '{"values":[{"stringValue":"x"},{"stringValue":"y"}]}';
  const facts = factsOf(collector.taken()[0]?.attributes ?? []);
  assert.deepEqual(facts, { text: "a", whole: "7", part: "0.5", yes: "true", list });
  assert.deepEqual(exporter.counts, { sent: 300, dropped: 0 });
});

test("a batch can be compressed", async () => {
  await using collector = await startFakeCollector();
  const { exporter } = exporterTo(collector.url, { isCompressed: true });
  exporter.add(spanOf("one"));
  await until("it is sent", () => exporter.counts.sent === 1);
  assert.equal(collector.exports[0]?.headers["content-encoding"], "gzip");
  assert.deepEqual(collector.problems, []);
  await exporter[Symbol.asyncDispose]();
});

test("a batch is sent again after an answer that passes, and dropped after one that does not", async () => {
  const answers = [{ status: 503 }, { status: 429, headers: { "retry-after": "0" } }, {}, { status: 400 }];
  await using collector = await startFakeCollector((index) => answers[index] ?? {});
  const { exporter, log } = exporterTo(collector.url);
  exporter.add(spanOf("one"));
  await until("it is sent", () => exporter.counts.sent === 1);
  exporter.add(spanOf("two"));
  await until("it is dropped", () => exporter.counts.dropped === 1);
  assert.deepEqual(
    collector.exports.map(({ spans }) => spans[0]?.name),
    ["one", "one", "one", "two"],
  );
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    [
      "The collector did not take traces: it answered with status 503",
      "the collector takes traces again",
      "The collector did not take traces: it answered with status 400",
    ],
  );
  await exporter[Symbol.asyncDispose]();
});

test("spans that the collector rejects count as dropped", async () => {
  const body = '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}';
  await using collector = await startFakeCollector(() => ({ body }));
  const { exporter } = exporterTo(collector.url);
  for (const name of ["a", "b", "c"]) exporter.add(spanOf(name));
  await exporter[Symbol.asyncDispose]();
  assert.deepEqual(exporter.counts, { sent: 1, dropped: 2 });
});

test("a collector that hangs makes nobody wait: what finds no room is dropped, and a stop takes no longer than its limit", async () => {
  await using collector = await startFakeCollector(() => ({ hangs: true }));
  const { exporter } = exporterTo(collector.url, { timeoutMs: 60_000, lastMs: 50 });
  for (let i = 0; i < 5000; i += 1) exporter.add(spanOf(`s${i}`));
  // One batch is on its way.
  assert.equal(exporter.counts.dropped, 5000 - 256 - 2048);
  const begunAt = performance.now();
  await exporter[Symbol.asyncDispose]();
  assert.ok(performance.now() - begunAt < 20_000);
  assert.deepEqual(exporter.counts, { sent: 0, dropped: 5000 });
  exporter.add(spanOf("late"));
  assert.equal(exporter.counts.dropped, 5001);
});

test("a request that gets no answer is given up after its limit and sent again", async () => {
  await using collector = await startFakeCollector((index) => ({ hangs: index === 0 }));
  const { exporter, log } = exporterTo(collector.url, { timeoutMs: 30 });
  exporter.add(spanOf("one"));
  await until("it is sent", () => exporter.counts.sent === 1);
  assert.equal(collector.exports.length, 2);
  assert.match(log.lines[0]?.message ?? "", /did not take traces: No answer within 30 ms/);
  await exporter[Symbol.asyncDispose]();
});

test("without a collector spans are dropped, and the log says so once", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  await new Promise((resolve) => server.close(resolve));
  const { exporter, log } = exporterTo(`http://127.0.0.1:${port}`);
  exporter.add(spanOf("one"));
  await until("it is dropped", () => exporter.counts.dropped === 1);
  exporter.add(spanOf("two"));
  await until("it is dropped", () => exporter.counts.dropped === 2);
  assert.equal(log.lines.length, 1);
  assert.match(log.lines[0]?.message ?? "", /did not take traces: connect ECONNREFUSED/);
  await exporter[Symbol.asyncDispose]();
});
