import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { callThenDone, startWorld } from "../../support/worlds/channels/chat-world.js";
import { openAIConfig, startGateway, startWithModel, tempHome } from "../../support/worlds/gateway.js";
import { setLive } from "../../support/worlds/live-edit.js";

const hello = { text: "hello" };
const megabyte = 1024 * 1024;

test("how many model calls a turn has, and whether it may start sub-agents, follows the file", async () => {
  await using w = await startWithModel(callThenDone("list_dir", { path: "." }));
  assert.match((await w.gateway.ask("look")).response, /^done/);
  assert.deepEqual((await setLive(w.gateway, { "agents.defaults.maxToolIterations": 1 })).restart, []);
  const calls = w.model.requests.length;
  await w.gateway.ask("look again");
  assert.equal(w.model.requests.length, calls + 1);
  await setLive(w.gateway, { "agents.defaults.maxToolIterations": 5, "agents.spawn.depth": 0 });
  w.model.setAnswer(callThenDone("spawn", { action: "start", task: "count to ten", label: "count" }));
  assert.match((await w.gateway.ask("let somebody count")).response, /agents\.spawn\.depth/);
});

test("how long the next of several quick texts is waited for follows the file", async () => {
  await using w = await startWorld(hello, {
    config: { agents: { defaults: { model: "openai/test-model", quietMs: 10_000, quietAfter: "every" } } },
  });
  assert.deepEqual((await setLive(w.gateway, { "agents.defaults.quietMs": 0 })).restart, []);
  const from = performance.now();
  w.say(1, "are you there?");
  await w.shown("hello");
  assert.ok(performance.now() - from < 9000);
});

test("a conversation is summarised from where the file says", async () => {
  const long = "all that was said before, ".repeat(900);
  await using w = await startWithModel(
    { ...hello, usage: { input: 20_000 } },
    {
      agents: { defaults: { model: "openai/test-model", contextWindow: 40_000, maxTokens: 1000, compactAt: 0.95 } },
    },
  );
  for (const n of [1, 2, 3]) await w.gateway.ask(`${n} ${long}`);
  const isNeeded = async () => (await w.gateway.events()).some(({ type }) => type === "context_compressed");
  assert.equal(await isNeeded(), false);
  assert.deepEqual((await setLive(w.gateway, { "agents.defaults.compactAt": 0.1 })).restart, []);
  await w.gateway.ask("and now?");
  assert.equal(await isNeeded(), true);
});

test("how long a question waits, and how large a file may be, follows the file", async () => {
  await using w = await startWithModel(callThenDone("exec", { command: "curl x", network: true }));
  const state = await setLive(w.gateway, { "policy.answerSeconds": 4000, "inbound.maxFileMegabytes": 1 });
  assert.deepEqual(state.restart, []);
  const upload = async () =>
    await w.api.upload({
      filename: "large.bin",
      mimeType: "application/octet-stream",
      content: (async function* () {
        yield Buffer.alloc(2 * megabyte);
      })(),
    });
  await assert.rejects(upload(), /larger than the 1 MB that are taken/);
  await setLive(w.gateway, { "inbound.maxFileMegabytes": 3 });
  assert.equal((await upload()).filename, "large.bin");
  w.model.setAnswer(callThenDone("write_file", { path: join(w.gateway.workspace, "AGENTS.md"), content: "x" }));
  await w.gateway.post("write");
  await until("it is asked", () => w.api.listQuestions().length === 1, 10_000);
  const [question] = w.api.listQuestions();
  assert.ok(Date.parse(question?.expiresAt ?? "") > Date.now() + 3_000_000);
});

test("a heartbeat begins when it is switched on, and comes as often as the file says", async () => {
  const halfHour = 30 * 60_000;
  let offset = Date.parse("2026-11-21T12:00:00Z") + 1000 - Date.now();
  const now = () => Date.now() + offset;
  await using model = await startFakeOpenAI({ answer: { text: "Water the plants." } });
  const home = await tempHome();
  await mkdir(join(home, "workspace/memory"), { recursive: true });
  await writeFile(join(home, "workspace/memory/heartbeat.md"), "- look at the plants\n");
  const config = openAIConfig(model.apiBase, { agents: { defaults: { model: "openai/test-model", timezone: "UTC" } } });
  await using gateway = await startGateway({ home, config, now });
  const { api } = gateway.gateway;
  const beats = async () => (await api.events("cron:heartbeat-2026-11-21", { fromSequence: 0, limit: 1000 })).events;
  const ended = async () =>
    (await beats().catch(() => [])).filter(({ type }) => type === "turn_execution_complete").length;
  assert.deepEqual((await setLive(gateway, { "heartbeat.enabled": true })).restart, []);
  await until("a beat", async () => (await ended()) === 1, 20_000);
  await setLive(gateway, { "heartbeat.enabled": false });
  offset += halfHour;
  await gateway.ask("still there?");
  await setLive(gateway, { "heartbeat.enabled": true, "heartbeat.everyMinutes": 15 });
  await until("another beat", async () => (await ended()) === 2, 20_000);
});

test("voice messages are written down by the service that the file names now", async () => {
  const asked: string[] = [];
  const service = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ text: "spoken words" }));
    });
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
  const { port } = service.address() as AddressInfo;
  try {
    await using w = await startWorld(hello);
    const file_id = w.telegram.keepFile(Buffer.from("OggS."));
    const voice = () =>
      w.telegram.pushMessage({
        chat: { id: 1, type: "private" },
        from: { id: 1, is_bot: false, first_name: "An" },
        voice: { file_id, file_unique_id: "v1", duration: 1, mime_type: "audio/ogg", file_size: 5 },
      });
    voice();
    await until("it is answered", () => w.model.requests.length === 1, 20_000);
    assert.deepEqual(asked, []);
    const transcription = { apiBase: `http://127.0.0.1:${port}/v1`, apiKey: "voice-key-0123" };
    assert.deepEqual((await setLive(w.gateway, { transcription })).restart, []);
    voice();
    await until("it is answered", () => w.model.requests.length === 2, 20_000);
    assert.deepEqual(asked, ["/v1/audio/transcriptions Bearer voice-key-0123"]);
    assert.match(w.model.requests[1]?.bodyText ?? "", /spoken words/);
  } finally {
    service.close();
  }
});
