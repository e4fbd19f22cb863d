import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import type { StoredEvent } from "../../../../src/events/event.js";
import { defineTool, type Tool } from "../../../../src/tools/tool.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { createSnapshots } from "../../../support/rules/snapshots.js";
import {
  answeredIn,
  askedIn,
  type ChatWorld,
  isAsked,
  lastResult,
  resultsIn,
  startWorld,
} from "../../../support/worlds/channels/chat-world.js";
import { assertSound, openAIConfig, startGateway, tempHome } from "../../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";
import { withoutSandbox } from "../../../support/worlds/needs.js";

function loopsIn(events: readonly StoredEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === "doom_loop_detected" ? [`${event.payload.tool_name} ${event.payload.repeat_count}`] : [],
  );
}

/** Calls list_dir with these inputs, one after the other, then says how many results it has. */
function calling(inputs: readonly object[]): (request: RecordedRequest) => ScriptedAnswer {
  return (request) => {
    const round = resultsIn(request);
    const input = inputs[round];
    return input === undefined
      ? { text: `after ${round} calls` }
      : { toolCalls: [{ id: `call_${round}`, name: "list_dir", input }] };
  };
}

async function answerAll({ gateway }: ChatWorld, answer: string): Promise<void> {
  const { api } = gateway.gateway;
  await until("it asks", () => api.listQuestions().length > 0, 10_000);
  const [open] = api.listQuestions();
  assert.ok(open);
  await api.answerQuestion({ ...open, answer });
}

const same = { path: ".", depth: 1 };
const alike = { depth: 1, path: "." };
const other = (n: number) => ({ path: `folder-${n}` });

test("the third call of a tool with the same input within ten asks; denied it is an error, and asked once", async () => {
  await using w = await startWorld(calling([same, other(1), alike, other(2), same, alike]));
  const message = await w.gateway.post("look around");
  await answerAll(w, "deny");
  assert.equal((await w.gateway.outcome(message)).response, "after 6 calls");
  const events = await w.gateway.events();
  assertSound(events);
  assert.deepEqual(loopsIn(events), ["list_dir 3"]);
  assert.equal(
    askedIn(events)[0]?.question,
    "list_dir was called 3 times with the same input. Should I go on with it?",
  );
  assert.deepEqual(askedIn(events)[0]?.input, same);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "tool_execution_complete" ? [event.payload.is_error] : [])),
    [false, true, false, true, true, true],
  );
  assert.match(lastResult(w.model.requests.at(-1)), /called 4 times with the same input and was stopped for that/);
});

test("allowed it goes on, and asks again after three more", async () => {
  await using w = await startWorld(calling(Array.from({ length: 6 }, () => same)));
  const message = await w.gateway.post("look");
  await answerAll(w, "1");
  await w.gateway.waitForEvent(
    (event) => event.type === "tool_execution_complete" && event.payload.tool_call_id === "call_4",
  );
  await answerAll(w, "Go on");
  assert.equal((await w.gateway.outcome(message)).response, "after 6 calls");
  const events = await w.gateway.events();
  assert.deepEqual(loopsIn(events), ["list_dir 3", "list_dir 3"]);
  assert.ok(events.every((event) => event.type !== "tool_execution_complete" || !event.payload.is_error));
});

test("calls further apart than ten, with other inputs, or of another turn are not a loop; twenty calls are told as the limit", async () => {
  const apart = [
    same,
    ...Array.from({ length: 5 }, (_, n) => other(n)),
    same,
    ...Array.from({ length: 5 }, (_, n) => other(n + 5)),
    same,
  ];
  await using w = await startWorld(calling(apart));
  assert.equal((await w.gateway.ask("look")).response, "after 13 calls");
  w.model.setAnswer(calling([same, same]));
  assert.equal((await w.gateway.ask("look again")).response, "after 2 calls");
  assert.equal((await w.gateway.ask("and again")).response, "after 2 calls");
  w.model.setAnswer(calling(Array.from({ length: 30 }, (_, n) => other(n))));
  assert.match((await w.gateway.ask("look everywhere")).response, /20 model calls/);
  assert.deepEqual(loopsIn(await w.gateway.events()), []);
});

test("nobody's answer stops the loop", async () => {
  await using w = await startWorld(calling([same, same, same]), { config: { policy: { answerSeconds: 1 } } });
  w.say(42, "look");
  await w.shown(/^No answer within a second, so it was not allowed: list_dir was called 3 times/);
  await w.shown("after 3 calls");
  assert.equal(answeredIn(await w.gateway.events("telegram:42"))[0]?.outcome, "timeout");
});

test("a kill in the middle of a loop: what was called before counts, and the loop is told once", async () => {
  // What its result says is the same in every copy of the home.
  const missing = other(1);
  await using model = await startFakeOpenAI({ answer: calling([missing, missing, missing]) });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, onBoundary: (name) => snapshots.take(name) });
    await gateway.post("look", { messageId: "message-1" });
    await gateway.waitForEvent((event) => event.type === "tool_execution_complete");
    snapshots.start();
    await gateway.waitForEvent(isAsked);
    snapshots.take("asked");
    snapshots.stop();
  }
  assert.ok(snapshots.taken.length > 3);
  for (const [index, { name, home: copy }] of snapshots.taken.entries()) {
    await using gateway = await startGateway({ home: copy });
    const { api } = gateway.gateway;
    await until("it asks", () => api.listQuestions().length > 0, 10_000);
    const [open] = api.listQuestions();
    assert.ok(open);
    await api.answerQuestion({ ...open, answer: "deny" });
    assert.equal((await gateway.outcome("message-1")).response, "after 3 calls");
    const events = await gateway.events();
    assertSound(events);
    assert.equal(askedIn(events).length, 1, `point ${index}, ${name}`);
    assert.equal(loopsIn(events).length, 1, `point ${index}, ${name}`);
  }
});

/** A tool that looks at something, which says these one after the other. */
function looking(texts: readonly string[], more: Partial<Pick<Tool, "effect" | "origin">> = {}): Tool {
  let calls = 0;
  return defineTool({
    name: "look",
    description: "Look.",
    input: z.object({}),
    effect: "write",
    risk: "none",
    origin: "builtin",
    ...more,
    run: async () => ({ text: texts[calls++] ?? "", isError: false, summary: "looked" }),
  });
}

function times(count: number, name: string, input: object): (request: RecordedRequest) => ScriptedAnswer {
  return (request) => {
    const round = resultsIn(request);
    return round < count
      ? { toolCalls: [{ id: `call_${round}`, name, input }] }
      : { text: `after ${round}: ${lastResult(request)}` };
  };
}

test("a call whose result differs from the one before brought news, whatever the tool; the same result three times is a loop", async () => {
  const texts = ["one", "two", "three", "four", "four", "five", "five", "five", "five"];
  await using w = await startWorld(times(5, "look", {}), { tools: [looking(texts)] });
  assert.equal((await w.gateway.ask("look")).response, "after 5: four");
  assert.deepEqual(loopsIn(await w.gateway.events()), []);
  w.model.setAnswer(times(4, "look", {}));
  const message = await w.gateway.post("look again");
  await answerAll(w, "deny");
  const { response } = await w.gateway.outcome(message);
  assert.match(response, /^after 4: look was called 4 times with the same input and was stopped for that/);
  assert.deepEqual(loopsIn(await w.gateway.events()), ["look 3"]);
});

for (const [what, count] of [
  ["news of a command", 6],
  ["nothing new of a command", 5],
] as const)
  test(`reading ${what} again and again asks nobody and is never denied, in a job neither`, {
    skip: withoutSandbox(),
  }, async () => {
    const isNews = what.startsWith("news");
    const command = isNews ? "for i in 1 2 3 4 5 6; do echo part $i; sleep 0.3; done" : `sleep ${process.pid}7`;
    const reading = times(count + 1, "process", { action: "read", id: "bg1", wait: isNews ? 5 : 0 });
    await using w = await startWorld((request) =>
      resultsIn(request) === 0
        ? { toolCalls: [{ id: "start", name: "exec", input: { command, background: true } }] }
        : reading(request),
    );
    const { cron } = w.gateway.gateway.api;
    const { id } = await cron.add({ prompt: "watch it", every: "1h", session: "alone", sessionKey: "telegram:1" });
    await cron.run(id);
    await until("the job is over", () => w.model.requests.some((request) => resultsIn(request) === count + 1), 30_000);
    const events = await w.gateway.events(`cron:${id}`);
    assert.deepEqual(loopsIn(events), []);
    const ended = events.flatMap((event) => (event.type === "tool_execution_complete" ? [event] : []));
    assert.deepEqual(
      ended.map(({ payload }) => payload.is_error),
      ended.map(() => false),
    );
    if (isNews) return;
    const begun = events.flatMap((event) =>
      event.type === "tool_execution_complete" ? [Date.parse(event.timestamp)] : [],
    );
    const gaps = begun.slice(-3).map((at, index, all) => at - (all[index - 1] ?? at));
    assert.ok((gaps[1] ?? 0) >= 400 && (gaps[2] ?? 0) >= 900, `it is slowed down: ${gaps}`);
  });

test("a tool of an MCP server that only reads may be asked again and again: it is slowed down, and nobody is asked", async () => {
  await using w = await startWorld(times(5, "look", {}), { tools: [looking([], { effect: "read", origin: "mcp" })] });
  assert.equal((await w.gateway.ask("look")).response, "after 5: (no output)");
  const events = await w.gateway.events();
  assert.deepEqual(loopsIn(events), []);
  assert.deepEqual(askedIn(events), []);
});

test("a job, which nobody answers for, may look at the same thing again; what may change something it may not", async () => {
  for (const effect of ["read", "write"] as const) {
    const config = { policy: { answerSeconds: 1 } };
    await using w = await startWorld(times(4, "look", {}), { tools: [looking([], { effect })], config });
    const { cron } = w.gateway.gateway.api;
    const { id } = await cron.add({ prompt: "watch it", every: "1h", session: "alone", sessionKey: "telegram:1" });
    await cron.run(id);
    await until("the job is over", () => w.model.requests.some((request) => resultsIn(request) === 4), 30_000);
    const events = await w.gateway.events(`cron:${id}`);
    assert.deepEqual(loopsIn(events), effect === "read" ? [] : ["look 3"], effect);
  }
});
