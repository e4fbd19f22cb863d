import assert from "node:assert/strict";
import { test } from "node:test";
import type { Span } from "../../../src/telemetry/span.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { type CollectorAnswer, factsOf, startFakeCollector } from "../../support/fakes/otel/fake-collector.js";
import { openAIConfig, startGateway } from "../../support/worlds/gateway.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

interface Traced {
  readonly spans: readonly Span[];
  readonly text: string;
  readonly problems: readonly string[];
  readonly requests: number;
}

const token = "4242:traces";
const secret = "sk-abcdefghijklmnopqrstuvwxyz";

/** Sends one message on Telegram, stops the gateway, and gives what the collector got. */
async function trace(
  answer: AnswerScript,
  telemetry: Record<string, unknown> = {},
  collect?: (index: number) => CollectorAnswer,
): Promise<Traced> {
  await using collector = await startFakeCollector(collect);
  await using telegram = await startFakeTelegram({ token });
  await using model = await startFakeOpenAI({ answer });
  const config = openAIConfig(model.apiBase, {
    channels: { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } },
    telemetry: { otlpEndpoint: collector.url, ...telemetry },
  });
  await using gateway = await startGateway({ config, modelRetryMs: 1 });
  telegram.pushText({ chatId: 987654321, userId: 987654321, text: `private words and ${secret}` });
  await telegram.waitForSent(1);
  await gateway.gateway.drain(2000);
  await gateway.gateway[Symbol.asyncDispose]();
  const text = collector.exports.map((one) => one.text).join("\n");
  return { spans: collector.taken(), text, problems: collector.problems, requests: collector.exports.length };
}

const withTool: AnswerScript = ({ index }) =>
  index === 0
    ? { toolCalls: [{ id: "call_1", name: "list_dir", input: { path: "." } }] }
    : { text: "an answer in confidence" };

/** Each span below its parent, by name. */
function treeOf(spans: readonly Span[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return spans
    .map((span) => {
      const path = [span.name];
      for (let up = byId.get(span.parentSpanId ?? ""); up !== undefined; up = byId.get(up.parentSpanId ?? ""))
        path.unshift(up.name);
      return path.join(" > ");
    })
    .sort();
}

test("a turn is one trace: below it its model calls and the delivery, below a model call the tool that it asked for", async () => {
  const { spans, text, problems } = await trace(withTool);
  assert.deepEqual(problems, []);
  const turn = "invoke_agent maxclaw";
  assert.deepEqual(treeOf(spans), [
    turn,
    `${turn} > chat test-model`,
    `${turn} > chat test-model`,
    `${turn} > chat test-model > execute_tool list_dir`,
    `${turn} > send telegram`,
  ]);
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
  assert.equal(spans.filter(({ parentSpanId }) => parentSpanId === undefined).length, 1);
  const factsBy = (name: string) => factsOf(spans.find((span) => span.name === name)?.attributes ?? []);
  const chat = factsBy("chat test-model");
  assert.equal(chat["gen_ai.operation.name"], "chat");
  assert.equal(chat["gen_ai.provider.name"], "openai");
  assert.equal(chat["gen_ai.request.model"], "test-model");
  assert.match(chat["gen_ai.usage.input_tokens"] ?? "", /^\d+$/);
  const tool = factsBy("execute_tool list_dir");
  assert.equal(tool["gen_ai.tool.name"], "list_dir");
  assert.equal(tool["gen_ai.tool.call.id"]?.length !== 0, true);
  assert.equal(factsBy(turn)["gen_ai.operation.name"], "invoke_agent");
  assert.ok(spans.every(({ status }) => status === undefined));
  for (const word of ["private words", "in confidence", secret, "987654321", token])
    assert.ok(!text.includes(word), `${word} stays here`);
});

test("with content, messages and tools go along without their secrets", async () => {
  const { spans, text, problems } = await trace(withTool, { content: true });
  assert.deepEqual(problems, []);
  assert.ok(text.includes("private words and ***") && text.includes("an answer in confidence"));
  assert.ok(!text.includes(secret));
  const tool = factsOf(spans.find(({ name }) => name.startsWith("execute_tool"))?.attributes ?? []);
  assert.equal(tool["gen_ai.tool.call.arguments"], '{"path":"."}');
  assert.ok(tool["gen_ai.tool.call.result"] !== undefined);
});

test("what fails is marked with its code, each attempt by itself", async () => {
  const { spans, problems } = await trace(({ index }) => ({ status: index === 0 ? 503 : 401 }));
  assert.deepEqual(problems, []);
  const failed = spans.filter(({ status }) => status?.code === 2);
  assert.deepEqual(failed.map(({ name }) => name).sort(), [
    "chat test-model",
    "chat test-model",
    "invoke_agent maxclaw",
  ]);
  const types = failed.map(({ attributes }) => factsOf(attributes)["error.type"]);
  assert.ok(
    types.every((type) => /^[A-Z_]+$/.test(type ?? "")),
    types.join(),
  );
  assert.notEqual(types[0], types[1]);
});

test("a collector that hangs delays neither the answer nor the stop beyond its limit", async () => {
  const begunAt = performance.now();
  const { spans, requests } = await trace(withTool, {}, () => ({ hangs: true }));
  assert.ok(performance.now() - begunAt < 9000);
  assert.deepEqual([spans.length, requests], [0, 1]);
});

test("the variables of OpenTelemetry alone switch traces on", async () => {
  await using collector = await startFakeCollector();
  await using model = await startFakeOpenAI({ answer: { text: "hi" } });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: "mine" };
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase), env });
  await gateway.ask("hello");
  await gateway.gateway.drain(2000);
  await gateway.gateway[Symbol.asyncDispose]();
  assert.deepEqual(collector.problems, []);
  assert.equal(collector.exports[0]?.resource["service.name"], "mine");
  assert.ok(collector.taken().some(({ name }) => name === "invoke_agent maxclaw"));
});
