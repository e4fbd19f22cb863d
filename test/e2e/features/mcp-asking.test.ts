import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { compiledFile } from "../../support/project.js";
import { callThenDone, lastResult, startWorld } from "../../support/worlds/channels/chat-world.js";
import { startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";

const tool = "mcp_shop_ask";
const schema = JSON.stringify({ type: "object", properties: { size: { type: "integer" } }, required: ["size"] });
const ask = callThenDone(tool, { message: "Which *size*?", schema });

function shop(trace = ""): Record<string, unknown> {
  const args = [compiledFile("test/support/fakes/mcp/mcp-new-server.js"), "stdio"];
  return {
    tools: { mcpServers: { shop: { command: process.execPath, args, env: trace === "" ? {} : { TRACE: trace } } } },
    policy: { rules: [{ tool, verdict: "allow" }] },
  };
}

async function start(trace = "") {
  const world = await startWorld(ask, { config: { ...shop(trace) } });
  const list = () => world.gateway.gateway.api.mcp?.list() ?? [];
  await until("the server is connected", () => list().every(({ state }) => state === "connected"), 20_000);
  return world;
}

test("a server's question comes into the chat of the call, in a box, and the answer reaches the server", async () => {
  await using w = await start();
  w.say(1, "buy it");
  const question = await w.shown("asks you something");
  assert.match(question.text, /The MCP server .*shop.* asks you something while .*mcp_shop_ask.* runs/);
  assert.match(question.text, /<pre>(<code>)?Which \*size\*\?\n\nsize<|Which \*size\*\?/);
  w.say(1, "large");
  await w.shown("That is not a number. Please try again.");
  w.say(1, "42");
  assert.match((await w.shown(/accept/)).text, /accept .*size.*42/);
});

test("in a group only who made the call answers it, as with questions of the assistant", async () => {
  await using w = await start();
  w.sayInGroup(1, "Ada", "buy it");
  const question = await w.shown("asks you something");
  assert.match(question.text, /shop/);
  const [open] = w.gateway.gateway.api.listQuestions();
  assert.ok(open);
  w.sayInGroup(2, "Mallory", "1000");
  w.sayInGroup(1, "Ada", "38");
  assert.match((await w.shown(/accept/)).text, /38/);
  assert.ok(!w.telegram.sent.some(({ text }) => /accept.*1000/s.test(text)));
});

test("/stop withdraws the question, and the server gets no answer", async () => {
  const trace = join(await tempHome(), "trace");
  await using w = await start(trace);
  w.say(1, "buy it");
  await w.shown("asks you something");
  w.say(1, "/stop");
  await until("the question is gone", () => w.gateway.gateway.api.listQuestions().length === 0, 10_000);
  const answered = await w.gateway.waitForEvent(({ type }) => type === "human_input_answered", "telegram:1");
  assert.equal(answered.type === "human_input_answered" && answered.payload.outcome, "cancelled");
  assert.doesNotMatch(await readFile(trace, "utf8"), /answered/);
});

test("a job asks nobody: the server is told no, and the model why", async () => {
  await using w = await start();
  const { cron } = w.gateway.gateway.api;
  const job = await cron.add({ prompt: "buy it", every: "1h", sessionKey: "telegram:1" });
  await cron.run(job.id);
  await w.model.waitForRequests(2);
  assert.match(
    lastResult(w.model.requests[1]),
    /That was declined: there is nobody to ask in this turn.*decline null/s,
  );
  assert.deepEqual(w.gateway.gateway.api.listQuestions(), []);
});

test("after kill -9 while a server's question is open, the call is told as interrupted and not made again", async () => {
  const home = await tempHome();
  const trace = join(home, "trace");
  await using model = await startFakeOpenAI({ answer: ask });
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, shop(trace))));
  {
    await using daemon = await startDaemon({ home });
    void fetch(`${daemon.url}/api/message`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sessionKey: "webui:crash", content: "go" }),
    }).catch(() => undefined);
    const events = async () => await (await fetch(`${daemon.url}/api/sessions/webui:crash/events`)).text();
    await until("it is asked", async () => /"human_input_asked"/.test(await events().catch(() => "")), 20_000);
    await daemon.end("SIGKILL");
  }
  await using _daemon = await startDaemon({ home });
  await model.waitForRequests(2);
  assert.match(lastResult(model.requests[1]), /^interrupted: the gateway restarted/);
  assert.equal((await readFile(trace, "utf8")).match(/^asks$/gm)?.length, 1);
});
