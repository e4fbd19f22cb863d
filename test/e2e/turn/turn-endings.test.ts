import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoredEvent } from "../../../src/events/event.js";
import type { Tool } from "../../../src/tools/tool.js";
import { gate } from "../../support/engine/engine-kit.js";
import { startFakeAnthropic } from "../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { assertSound, openAIConfig, startGateway, startWithModel } from "../../support/worlds/gateway.js";
import { hangingTool } from "../../support/worlds/tools/hanging-tool.js";

const look = (id: string) => ({ toolCalls: [{ id, name: "list_dir", input: { path: "." } }] });
const limitOf = (maxToolIterations: number) => ({
  agents: { defaults: { model: "openai/test-model", maxToolIterations } },
});

function trace(events: readonly StoredEvent[]): readonly string[] {
  assertSound(events);
  return events.flatMap((event) => (event.type === "agent_state_changed" ? [event.payload.to] : []));
}

test("a failed tool goes through the same states as one that worked", async () => {
  await using t = await startWithModel([
    { toolCalls: [{ id: "a", name: "read_file", input: { path: "missing.txt" } }] },
    { text: "It is missing." },
  ]);
  await t.gateway.ask("read");
  assert.deepEqual(trace(await t.gateway.events()), [
    "thinking",
    "planning_tool",
    "awaiting_tool_result",
    "thinking",
    "responding",
    "idle",
  ]);
});

test("text before a call: responding, then the tool", async () => {
  await using t = await startWithModel([{ text: "Let me look.", ...look("a") }, { text: "Empty." }]);
  await t.gateway.ask("look");
  assert.deepEqual(trace(await t.gateway.events()), [
    "thinking",
    "responding",
    "planning_tool",
    "awaiting_tool_result",
    "thinking",
    "responding",
    "idle",
  ]);
});

test("a model error ends in error and then idle", async () => {
  await using t = await startWithModel({ status: 401 });
  assert.equal((await t.gateway.ask("hi")).end, "failed");
  assert.deepEqual(trace(await t.gateway.events()), ["thinking", "error", "idle"]);
});

test("an error after some text keeps the text as partial", async () => {
  await using t = await startWithModel([
    { text: ["half an"], streamError: { type: "invalid_request_error", message: "no more" } },
    { text: "fine" },
  ]);
  assert.equal((await t.gateway.ask("hi")).end, "failed");
  const events = await t.gateway.events();
  assert.deepEqual(trace(events), ["thinking", "responding", "error", "idle"]);
  assert.ok(
    events.some((event) => event.type === "assistant_message" && event.payload.partial && !event.payload.final),
  );
  assert.equal((await t.gateway.ask("again")).response, "fine");
});

test("a cancelled answer goes from responding to idle", async () => {
  await using t = await startWithModel({ text: ["some text"], hang: "middle" });
  const message = await t.gateway.post("story");
  await t.gateway.waitForEvent((event) => event.type === "text_delta");
  await t.gateway.gateway.api.stopTurn("webui:test");
  assert.equal((await t.gateway.outcome(message)).end, "cancelled");
  assert.deepEqual(trace(await t.gateway.events()), ["thinking", "responding", "idle"]);
});

test("the limit ends right after the last tool", async () => {
  await using t = await startWithModel((request) => look(`call_${request.index}`), limitOf(1));
  await t.gateway.ask("loop");
  assert.deepEqual(trace(await t.gateway.events()), ["thinking", "planning_tool", "awaiting_tool_result", "idle"]);
});

test("usage and cost are the provider's own figures, summed over calls, turns and every kind of end", async () => {
  const prices = { "test-model": { input: 2, output: 8, cacheRead: 0.5 } };
  await using t = await startWithModel(
    (request) => {
      if (request.userText.includes("stop me") && request.index > 2) return { text: ["x"], hang: "middle" };
      if (request.userText.includes("refuse me") && request.index > 4) return { status: 401 };
      const usage = { input: 1000, output: 100, cacheRead: 500 };
      return request.index === 1 ? { text: "done", usage } : { ...look(`call_${request.index}`), usage };
    },
    { prices },
  );
  const each = (1000 * 2 + 500 * 0.5 + 100 * 8) / 1e6;
  const first = await t.gateway.ask("look");
  assert.equal(first.end, "complete");
  const stopped = await t.gateway.post("stop me");
  await t.model.waitForRequests(4);
  await t.gateway.waitForEvent((event) => event.type === "text_delta" && event.payload.text === "x");
  await t.gateway.gateway.api.stopTurn("webui:test");
  assert.equal((await t.gateway.outcome(stopped)).end, "cancelled");
  assert.equal((await t.gateway.ask("refuse me")).end, "failed");

  const events = await t.gateway.events();
  assertSound(events);
  const complete = events.find((event) => event.type === "turn_execution_complete");
  assert.ok(complete?.type === "turn_execution_complete");
  assert.deepEqual(complete.payload.usage, {
    input_tokens: 2000,
    output_tokens: 200,
    cache_read_tokens: 1000,
    cache_write_tokens: 0,
  });
  assert.ok(Math.abs((complete.payload.cost_usd ?? 0) - 2 * each) < 1e-12);
  const failed = events.find((event) => event.type === "turn_execution_failed");
  assert.ok(failed?.type === "turn_execution_failed" && failed.payload.usage.input_tokens === 1000);
  // Two calls of the first turn, one each of the cancelled and of the failed one.
  const { metadata } = await t.gateway.gateway.api.getSession("webui:test");
  assert.deepEqual(metadata.usage, {
    input_tokens: 4000,
    output_tokens: 400,
    cache_read_tokens: 2000,
    cache_write_tokens: 0,
  });
  assert.ok(Math.abs((metadata.costUsd ?? 0) - 4 * each) < 1e-12);
});

test("without details the same turn leaves only what counts, and its states are told live all the same", async () => {
  await using t = await startWithModel([look("a"), { text: "done" }], { events: { persistDetail: false } });
  const states: string[] = [];
  const live = t.gateway.gateway.api.subscribe("*", {}, (event) => {
    if (event.type === "agent_state_changed") states.push(event.payload.to);
  });
  await live.caughtUp;
  const message = await t.gateway.post("look");
  assert.equal((await t.gateway.outcome(message)).response, "done");
  const events = await t.gateway.events();
  assertSound(events);
  assert.deepEqual(
    events.map((event) => event.type),
    [
      "user_message_queued",
      "turn_execution_start",
      "session_state_changed",
      "user_message",
      "assistant_message",
      "tool_execution_start",
      "tool_execution_complete",
      "assistant_message",
      "session_title_generated",
      "session_state_changed",
      "turn_execution_complete",
    ],
  );
  assert.deepEqual(states, ["thinking", "planning_tool", "awaiting_tool_result", "thinking", "responding", "idle"]);
  live.close();
});

test("without details the status still shows what the agent does", async () => {
  await using t = await startWithModel({ text: ["some"], hang: "middle" }, { events: { persistDetail: false } });
  await t.gateway.post("story");
  await t.gateway.waitForEvent((event) => event.type === "text_delta");
  const status = await t.gateway.gateway.api.sessionStatus("webui:test", { includeRecovery: true });
  assert.deepEqual([status.agentState, status.isRunning, status.state], ["responding", true, "active"]);
  assert.equal(status.recovery?.recoverySource, "stream");
  await t.gateway.gateway.api.stopTurn("webui:test");
});

for (const persistThoughts of [true, false])
  test(`with persistThoughts ${persistThoughts} thoughts are ${persistThoughts ? "" : "not "}stored, and shown either way`, async () => {
    await using t = await startWithModel(
      { thinking: ["deep ", "thought"], text: "answer" },
      { events: { persistThoughts } },
    );
    const shown: string[] = [];
    const live = t.gateway.gateway.api.subscribe("*", {}, (event) => {
      if (event.type === "thinking_delta") shown.push(event.payload.text);
    });
    await live.caughtUp;
    assert.equal((await t.gateway.ask("hm")).response, "answer");
    assert.equal(shown.join(""), "deep thought");
    assert.equal(JSON.stringify(await t.gateway.events()).includes("deep thought"), persistThoughts);
    live.close();
  });

for (const persistThoughts of [true, false])
  test(`signed thinking goes back to its provider until the turn ends, also when the log ${persistThoughts ? "holds it" : "may not hold it"}`, async () => {
    await using model = await startFakeAnthropic({
      answer: (request) =>
        request.index === 0
          ? { thinking: "secret scheme", signature: "sig-1", ...look("a") }
          : { thinking: "more of the scheme", signature: "sig-2", text: "done" },
    });
    await using gateway = await startGateway({
      config: {
        agents: { defaults: { model: "anthropic/test-model" } },
        providers: { anthropic: { apiKey: "sk-test-key", apiBase: model.apiBase } },
        events: { persistThoughts },
      },
    });
    assert.equal((await gateway.ask("look")).response, "done");
    assert.match(model.requests[1]?.bodyText ?? "", /"thinking":"secret scheme","signature":"sig-1"/);
    await gateway.ask("and now?");
    assert.doesNotMatch(model.requests[2]?.bodyText ?? "", /scheme/);
    assert.equal(/secret scheme|of the scheme|sig-\d/.test(JSON.stringify(await gateway.events())), persistThoughts);
  });

test("a fault of ours fails the one message, is told, and the chat goes on with what waited", async () => {
  const faulty: Tool = {
    ...hangingTool("read", () => {}),
    get effect(): Tool["effect"] {
      throw new TypeError("a bug");
    },
  };
  const held = gate();
  await using model = await startFakeOpenAI({
    answer: async (request) => {
      if (request.index > 0) return { text: "fine" };
      await held.opened;
      return { toolCalls: [{ id: "one", name: "slow", input: {} }] };
    },
  });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase), tools: [faulty] });
  const first = await gateway.post("work");
  await model.waitForRequests(1);
  const second = await gateway.post("and this");
  held.open();
  const outcome = await gateway.outcome(first);
  assert.equal(outcome.end, "failed");
  assert.match(outcome.response, /Something went wrong/);
  assert.doesNotMatch(outcome.response, /a bug/);
  assert.ok(gateway.log.lines.some(({ level, message }) => level === "error" && message.includes("a bug")));
  assert.equal((await gateway.outcome(second)).response, "fine");
  assertSound(await gateway.events());
});

test("a call with an effect is on the disk before it runs; one that only reads waits for nothing", async () => {
  const edit = { path: "a.txt", old_text: "x", new_text: "y" };
  await using t = await startWithModel((request) => {
    if (request.index % 2 === 1) return { text: "done" };
    return request.index === 0 ? look("a") : { toolCalls: [{ id: "b", name: "edit_file", input: edit }] };
  });
  const syncsOf = async (text: string): Promise<number> => {
    const before = (await t.gateway.gateway.api.status()).syncs ?? 0;
    await t.gateway.ask(text);
    return ((await t.gateway.gateway.api.status()).syncs ?? 0) - before;
  };
  await t.gateway.ask("/help", { key: "webui:other" });
  assert.deepEqual([await syncsOf("look"), await syncsOf("edit")], [2, 3]);
});
