import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeCollector } from "../../support/fakes/otel/fake-collector.js";
import { callThenDone, lastResult } from "../../support/worlds/channels/chat-world.js";
import { startWithModel } from "../../support/worlds/gateway.js";
import { setLive } from "../../support/worlds/live-edit.js";
import type { RecordedRequest } from "../../support/worlds/model-script.js";
import { badServer } from "../../support/worlds/tools/mcp.js";

const hello = { text: "hello" };

function toolsIn(request: RecordedRequest | undefined): readonly string[] {
  const tools = request?.body.tools;
  return Array.isArray(tools) ? tools.map((tool) => String(tool.function.name)) : [];
}

/** A search service and a web page, on loopback. */
async function startSite() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${String(request.headers["x-subscription-token"] ?? "")}`.trim());
    if (request.url?.includes("q=") === true) {
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({ web: { results: [] }, results: [] }));
    }
    return response.setHeader("content-type", "text/plain").end("the page");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("the first MCP server of a gateway is connected when it is written, and gone when it is taken out", async () => {
  await using w = await startWithModel(hello);
  await w.gateway.ask("one");
  assert.ok(!toolsIn(w.model.requests[0]).includes("mcp_s_say"));
  const state = await setLive(w.gateway, { "tools.mcpServers": { s: badServer() } });
  assert.deepEqual([state.restart, state.problem], [[], undefined]);
  await until("it is connected", () => w.api.mcp?.list()[0]?.state === "connected", 20_000);
  await w.gateway.ask("two");
  assert.ok(toolsIn(w.model.requests[1]).includes("mcp_s_say"));
  assert.deepEqual((await setLive(w.gateway, { "tools.mcp.declareBytes": 0 })).restart, []);
  await w.gateway.ask("three");
  assert.deepEqual(
    toolsIn(w.model.requests[2]).filter((name) => /mcp_|_tool/.test(name)),
    ["call_tool", "find_tools"],
  );
  await setLive(w.gateway, { "tools.mcpServers": undefined });
  await w.gateway.ask("four");
  assert.deepEqual(toolsIn(w.model.requests[3]), toolsIn(w.model.requests[0]));
  assert.deepEqual(w.api.mcp?.list(), []);
});

test("a question about a server's tool that was taken out meanwhile is not answered by a call", async () => {
  await using w = await startWithModel(callThenDone("mcp_s_say", { text: "hi" }), {
    tools: { mcpServers: { s: badServer() } },
  });
  await until("it is connected", () => w.api.mcp?.list()[0]?.state === "connected", 20_000);
  const messageId = await w.gateway.post("say it");
  await until("it is asked", () => w.api.listQuestions().length === 1, 10_000);
  await setLive(w.gateway, { "tools.mcpServers": {} });
  const [question] = w.api.listQuestions();
  await w.api.answerQuestion({ sessionKey: "webui:test", requestId: question?.requestId ?? "", answer: "allow_once" });
  assert.match((await w.gateway.outcome(messageId)).response, /s is not connected: it was taken out of the config/);
});

test("addresses that web tools may reach are opened and closed again by the file", async () => {
  await using site = await startSite();
  await using w = await startWithModel(callThenDone("web_fetch", { url: `http://${site.host}/page` }));
  const asked = async () => {
    await w.gateway.ask(`read http://${site.host}/page`);
    return lastResult(w.model.requests.at(-1));
  };
  assert.match(await asked(), /which tools may not reach/);
  assert.deepEqual((await setLive(w.gateway, { "tools.web.fetch.allow": [site.host] })).restart, []);
  assert.match(await asked(), /the page/);
  await setLive(w.gateway, { "tools.web.fetch.allow": [] });
  assert.match(await asked(), /which tools may not reach/);
  assert.equal(site.asked.length, 1);
  await setLive(w.gateway, { "tools.web.fetch.allow": ["not a host!"] });
  const { problems } = await w.api.status();
  assert.ok(problems.some((problem) => problem.startsWith("tools.web.fetch.allow: not a host!")));
});

test("the web search uses the key and the address that the file names, and is offered while it says so", async () => {
  await using site = await startSite();
  const search = (apiKey: string) => ({ provider: "brave", apiKey, apiBase: `http://${site.host}` });
  await using w = await startWithModel(callThenDone("web_search", { query: "weather" }), {
    tools: { web: { search: search("first-key-0123") } },
  });
  await w.gateway.ask("look it up");
  assert.match(site.asked[0] ?? "", /first-key-0123$/);
  assert.deepEqual((await setLive(w.gateway, { "tools.web.search": search("second-key-0123") })).restart, []);
  await w.gateway.ask("again");
  assert.match(site.asked[1] ?? "", /second-key-0123$/);
  await setLive(w.gateway, { "tools.web.search": { provider: "off" }, "tools.web.fetch": { mode: "off" } });
  w.model.setAnswer(hello);
  await w.gateway.ask("once more");
  assert.ok(!toolsIn(w.model.requests.at(-1)).some((name) => name.startsWith("web_")));
});

test("limits of commands count for the next one", async () => {
  await using w = await startWithModel(callThenDone("exec", { command: "sleep 5; echo late" }), {
    agents: { defaults: { model: "openai/test-model", executionMode: "auto" } },
  });
  assert.deepEqual((await setLive(w.gateway, { "tools.exec.timeout": 1 })).restart, []);
  assert.match((await w.gateway.ask("run it")).response, /stopped after 1 s/);
  w.model.setAnswer(
    callThenDone("exec", { command: "for n in $(seq 150); do echo x > f$n; done; sleep 1; ls | wc -l" }),
  );
  await setLive(w.gateway, { "tools.exec.timeout": 20, "tools.exec.maxFolderFiles": 100 });
  await w.gateway.ask("fill it");
  w.model.setAnswer(callThenDone("exec", { command: "echo more" }));
  assert.match((await w.gateway.ask("go on")).response, /holds more than its limit of 100 files/);
  await setLive(w.gateway, { "tools.exec.maxFolderFiles": 1000 });
  assert.match((await w.gateway.ask("go on")).response, /done: more/);
  assert.deepEqual((await setLive(w.gateway, { "tools.exec.sandbox": "off" })).restart, ["tools.exec.sandbox"]);
});

test("traces begin, go elsewhere and end as the file says", async () => {
  await using one = await startFakeCollector();
  await using other = await startFakeCollector();
  await using w = await startWithModel(hello);
  await setLive(w.gateway, { "telemetry.otlpEndpoint": one.url });
  await w.gateway.ask("one");
  const state = await setLive(w.gateway, { "telemetry.otlpEndpoint": other.url });
  assert.deepEqual(state.restart, []);
  assert.ok(one.exports.length > 0, "what it had was sent before it ended");
  await w.gateway.ask("two");
  await setLive(w.gateway, { telemetry: undefined });
  assert.ok(other.exports.length > 0);
});

test("the clock that the model reads, the day of budgets and new jobs follow the time zone", async () => {
  await using w = await startWithModel(hello, {
    agents: { defaults: { model: "openai/test-model", timezone: "Asia/Tokyo" } },
  });
  await w.gateway.ask("what time is it?");
  assert.match(w.model.requests[0]?.bodyText ?? "", /Asia\/Tokyo/);
  const { id } = await w.api.cron.add({ prompt: "stretch", cron: "0 9 * * *" });
  const state = await setLive(w.gateway, { "agents.defaults.timezone": "America/Lima" });
  assert.deepEqual(state.restart, []);
  await w.gateway.ask("and now?", { key: "webui:other" });
  const { bodyText = "" } = w.model.requests[1] ?? {};
  assert.match(bodyText, /America\/Lima/);
  assert.doesNotMatch(bodyText, /Asia\/Tokyo/);
  await w.api.cron.add({ prompt: "sleep", cron: "0 22 * * *" });
  const zones = (await w.api.cron.list()).map(({ id: one, timeZone }) => [one === id, timeZone]);
  assert.deepEqual(zones, [
    [true, "Asia/Tokyo"],
    [false, "America/Lima"],
  ]);
});
