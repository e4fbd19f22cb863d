import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { assertSound, causesOf, openAIConfig, startGateway, startWithModel } from "../../support/worlds/gateway.js";
import type { RecordedRequest } from "../../support/worlds/model-script.js";

const callReadFile = (path: string, id = "call_1") => ({ toolCalls: [{ id, name: "read_file", input: { path } }] });

test("a simple turn writes exactly the documented events, waits for two syncs, and its reply leads back to the message", async () => {
  await using t = await startWithModel({ text: ["Hel", "lo!"], usage: { input: 12, output: 3 } });
  await t.gateway.ask("warm up", { key: "webui:other" });
  const before = (await t.gateway.gateway.api.status()).syncs ?? 0;
  const outcome = await t.gateway.ask("hi");
  assert.equal(((await t.gateway.gateway.api.status()).syncs ?? 0) - before, 2);
  assert.deepEqual([outcome.end, outcome.response], ["complete", "Hello!"]);
  const events = await t.gateway.events();
  assert.deepEqual(
    events.map((event) => event.type),
    [
      "user_message_queued",
      "turn_execution_start",
      "session_state_changed",
      "user_message",
      "agent_state_changed",
      "turn_iteration_start",
      "agent_state_changed",
      "assistant_message",
      "session_title_generated",
      "session_state_changed",
      "agent_state_changed",
      "turn_execution_complete",
    ],
  );
  assertSound(events);
  const last = events.at(-1);
  assert.ok(last !== undefined);
  assert.equal(causesOf(last, events).at(-1)?.type, "user_message_queued");
  assert.ok(last.type === "turn_execution_complete" && last.payload.usage.input_tokens === 12);
});

test("a one-tool turn without text before the call goes through the documented states", async () => {
  await using t = await startWithModel([callReadFile("notes.txt"), { text: "It says hello." }]);
  await mkdir(join(t.gateway.workspace), { recursive: true });
  await writeFile(join(t.gateway.workspace, "notes.txt"), "hello from the file");
  assert.equal((await t.gateway.ask("what does notes.txt say?")).response, "It says hello.");
  const events = await t.gateway.events();
  assertSound(events);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "agent_state_changed" ? [event.payload.to] : [])),
    ["thinking", "planning_tool", "awaiting_tool_result", "thinking", "responding", "idle"],
  );
  const second = t.model.requests[1]?.bodyText ?? "";
  assert.match(second, /hello from the file/);
});

test("parallel calls are paired by id and given back in call order", async () => {
  await using t = await startWithModel([
    {
      toolCalls: [
        { id: "a", name: "list_dir", input: { path: "." } },
        { id: "b", name: "read_file", input: { path: "missing.txt" } },
      ],
    },
    { text: "done" },
  ]);
  await t.gateway.ask("look");
  const messages = t.model.requests[1]?.body.messages as { role: string; tool_call_id?: string }[];
  assert.deepEqual(
    messages.filter((message) => message.role === "tool").map((message) => message.tool_call_id),
    ["a", "b"],
  );
  assertSound(await t.gateway.events());
});

test("an unknown tool and malformed arguments come back to the model as errors, and the turn goes on", async () => {
  await using t = await startWithModel([
    { toolCalls: [{ id: "x", name: "read_fil", input: {} }] },
    { toolCalls: [{ id: "y", name: "read_file", jsonPieces: ['{"path": "no', "tes"] }] },
    { text: "sorry" },
  ]);
  assert.equal((await t.gateway.ask("go")).response, "sorry");
  const outputs = (await t.gateway.events()).flatMap((event) =>
    event.type === "tool_execution_complete" ? [[event.payload.is_error, event.payload.output]] : [],
  );
  assert.equal(outputs.length, 2);
  assert.ok(outputs.every(([isError]) => isError === true));
  assert.match(String(outputs[0]?.[1]), /read_file/);
});

test("the limit of model calls is told with its number", async () => {
  await using t = await startWithModel(({ index }) => callReadFile(`nothing-${index}.txt`, `call_${index}`), {
    agents: { defaults: { model: "openai/test-model", maxToolIterations: 3 } },
  });
  const outcome = await t.gateway.ask("loop");
  assert.match(outcome.response, /3 model calls/);
  assert.equal(t.model.requests.length, 3);
  const events = await t.gateway.events();
  assertSound(events);
  assert.ok(
    events.some((event) => event.type === "turn_execution_complete" && event.payload.stop_reason === "max_iterations"),
  );
});

test("an empty answer is told and never sent empty", async () => {
  await using t = await startWithModel([{}, { text: "better" }]);
  assert.match((await t.gateway.ask("hm")).response, /empty answer/);
  assert.equal((await t.gateway.ask("again")).response, "better");
});

test("the bytes before the newest message are equal from turn to turn", async () => {
  await using t = await startWithModel({ text: "ok" });
  await t.gateway.ask("one");
  await t.gateway.ask("two");
  await t.gateway.ask("three");
  const messagesOf = (request: RecordedRequest | undefined): unknown[] => (request?.body.messages ?? []) as unknown[];
  const [first, second, third] = t.model.requests;
  assert.equal(JSON.stringify(messagesOf(second).slice(0, 2)), JSON.stringify(messagesOf(first)));
  assert.equal(JSON.stringify(messagesOf(third).slice(0, 4)), JSON.stringify(messagesOf(second)));
  assert.equal(JSON.stringify(second?.body.tools), JSON.stringify(third?.body.tools));
});

test("the request for hello stays below 8 kB", async () => {
  await using t = await startWithModel({ text: "hi" });
  await t.gateway.ask("hello");
  const bytes = Buffer.byteLength(t.model.requests[0]?.bodyText ?? "");
  assert.ok(bytes > 500 && bytes <= 8192, `${bytes} bytes`);
});

test("what the same person adds in mid-turn reaches the running turn; both messages end with it", async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using t = await startWithModel(async (request) => {
    if (request.index === 0) {
      await held;
      return callReadFile("x.txt");
    }
    return { text: "both seen" };
  });
  const first = await t.gateway.post("first");
  await t.model.waitForRequests(1);
  const second = await t.gateway.post("and also this");
  release();
  assert.equal((await t.gateway.outcome(first)).response, "both seen");
  assert.equal((await t.gateway.outcome(second)).response, "both seen");
  assert.match(t.model.requests[1]?.bodyText ?? "", /and also this/);
  assert.equal(t.model.requests.length, 2);
  assertSound(await t.gateway.events());
});

test("an addition that comes too late for the running turn starts the next one", async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using t = await startWithModel(async (request) => {
    if (request.index === 0) await held;
    return { text: `answer ${request.index}` };
  });
  const first = await t.gateway.post("first");
  await t.model.waitForRequests(1);
  const second = await t.gateway.post("second");
  release();
  assert.equal((await t.gateway.outcome(first)).response, "answer 0");
  assert.equal((await t.gateway.outcome(second)).response, "answer 1");
});

test("/stop ends the running turn, closes the model's connection and keeps the partial text", async () => {
  await using t = await startWithModel((request) =>
    request.index === 0 ? { text: ["partial ", "text"], hang: "middle" as const } : { text: "next" },
  );
  const first = await t.gateway.post("long story");
  await t.gateway.waitForEvent((event) => event.type === "text_delta");
  const stop = await t.gateway.post("/stop");
  assert.equal((await t.gateway.outcome(first)).end, "cancelled");
  assert.equal((await t.gateway.outcome(stop)).end, "cancelled");
  assert.equal(await t.model.requests[0]?.closedEarly, true);
  const events = await t.gateway.events();
  assertSound(events);
  assert.ok(events.some((event) => event.type === "assistant_message" && event.payload.partial));
  assert.equal((await t.gateway.ask("go on")).response, "next");
});

test("mode cancel answers the new message in place of the old one", async () => {
  await using t = await startWithModel((request) =>
    request.index === 0 ? { text: ["never"], hang: "middle" as const } : { text: "the new answer" },
  );
  const first = await t.gateway.post("old");
  await t.gateway.waitForEvent((event) => event.type === "text_delta");
  const second = await t.gateway.post("new", { mode: "cancel" });
  assert.equal((await t.gateway.outcome(first)).end, "cancelled");
  assert.equal((await t.gateway.outcome(second)).response, "the new answer");
});

test("a model that refuses the key fails the turn with a plain sentence, and the chat goes on", async () => {
  await using t = await startWithModel((request) => (request.index === 0 ? { status: 401 } : { text: "fine" }));
  const outcome = await t.gateway.ask("hi");
  assert.equal(outcome.end, "failed");
  assert.match(outcome.response, /refused our key/);
  assert.doesNotMatch(outcome.response, /sk-test-key/);
  assert.equal((await t.gateway.ask("good")).response, "fine");
  assertSound(await t.gateway.events());
});

for (const [name, answer] of [
  ["garbage", { text: "a", garbage: "data: {nonsense\n\n" }],
  ["a cut stream", { text: ["a", "b"], endAfter: 1 }],
] as const)
  test(`an answer that ends in ${name} is asked for again, and what was heard of it is not kept`, async () => {
    await using t = await startWithModel((request) => (request.index === 0 ? answer : { text: "whole" }));
    assert.equal((await t.gateway.ask("hi")).response, "whole");
    const events = await t.gateway.events();
    assertSound(events);
    assert.equal(events.filter((event) => event.type === "assistant_message").length, 1);
  });

test("a busy model is asked again after the wait it named", async () => {
  await using t = await startWithModel([
    { status: 429, headers: { "retry-after-ms": "10" } },
    { status: 503, headers: { "retry-after-ms": "10" } },
    { text: "made it" },
  ]);
  assert.equal((await t.gateway.ask("hi")).response, "made it");
  assert.equal(t.model.requests.length, 3);
  assertSound(await t.gateway.events());
});

test("the same message id is answered once", async () => {
  await using t = await startWithModel({ text: "once" });
  const messageId = "client-id-0001";
  await t.gateway.ask("hi", { messageId });
  assert.equal((await t.gateway.ask("hi", { messageId })).response, "once");
  assert.equal(t.model.requests.length, 1);
});

test("the session document is readable and is in the documented shape", async () => {
  await using t = await startWithModel([callReadFile("a.txt"), { text: "The file is missing." }]);
  await t.gateway.ask("read a.txt please");
  await t.gateway.gateway.drain(1000);
  await t.gateway.gateway[Symbol.asyncDispose]();
  const document = JSON.parse(await readFile(join(t.gateway.workspace, ".sessions", "webui_test.json"), "utf8"));
  assert.equal(document.key, "webui:test");
  assert.deepEqual(
    document.messages.map((message: { role: string; content: string }) => [message.role, message.content]),
    [
      ["user", "read a.txt please"],
      ["assistant", "The file is missing."],
    ],
  );
  assert.equal(document.messages[1].timeline[0].activity.type, "read_file");
  assert.equal(document.metadata.summary, "read a.txt please");
  assert.equal(document.metadata.state, "idle");
  assert.equal(
    document.metadata.lastSequence,
    (await readFile(join(t.gateway.workspace, ".sessions", "webui_test.events.jsonl"), "utf8")).trim().split("\n")
      .length,
  );
});

test("a session of the Go maxclaw is read and continued", async () => {
  const model = await startFakeOpenAI({ answer: { text: "I remember" } });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  await mkdir(join(gateway.workspace, ".sessions"), { recursive: true });
  await writeFile(
    join(gateway.workspace, ".sessions", "webui_old.json"),
    JSON.stringify({
      key: "webui:old",
      messages: [
        { role: "user", content: "My cat is called Momo.", timestamp: "2025-01-01T10:00:00Z" },
        { role: "assistant", content: "A fine name.", timestamp: "2025-01-01T10:00:01Z" },
      ],
    }),
  );
  assert.equal((await gateway.ask("what is my cat called?", { key: "webui:old" })).response, "I remember");
  assert.match(model.requests[0]?.bodyText ?? "", /Momo/);
  const events = await gateway.events("webui:old");
  assertSound(events);
  assert.equal(events[0]?.type, "session_history_changed");
  assert.equal((await gateway.gateway.api.getSession("webui:old")).messages.length, 4);
  await model[Symbol.asyncDispose]();
});

test("a broken document is set aside, named in the log, and rebuilt from the session log", async () => {
  await using t = await startWithModel({ text: "ok" });
  await t.gateway.ask("remember me");
  await t.gateway.gateway.drain(1000);
  await t.gateway.gateway[Symbol.asyncDispose]();
  const path = join(t.gateway.workspace, ".sessions", "webui_test.json");
  await writeFile(path, '{"key": "webui:test", "messa');
  await using again = await startGateway({ home: t.gateway.home });
  const document = await again.gateway.api.getSession("webui:test");
  assert.deepEqual(
    document.messages.map((message) => message.content),
    ["remember me", "ok"],
  );
  assert.ok(again.log.lines.some((line) => line.level === "warn" && line.message.includes("webui_test.json")));
  assertSound(await again.events());
});
