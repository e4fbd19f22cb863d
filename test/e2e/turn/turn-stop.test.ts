import assert from "node:assert/strict";
import { test } from "node:test";
import { settlesWithin } from "../../support/cost.js";
import { gate } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { assertSound, openAIConfig, startGateway, startWithModel } from "../../support/worlds/gateway.js";
import { hangingTool } from "../../support/worlds/tools/hanging-tool.js";

async function end(gateway: { drain(ms: number): Promise<void> } & AsyncDisposable, graceMs: number): Promise<void> {
  await gateway.drain(graceMs);
  await gateway[Symbol.asyncDispose]();
}

const callSlow = { toolCalls: [{ id: "one", name: "slow", input: {} }] };

test("a cancelling message that came before the turn could listen still replaces it", async () => {
  await using model = await startFakeOpenAI({ answer: (request) => ({ text: `answer to ${request.userText}` }) });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const old = gateway.post("old");
  const changed = gateway.post("new", { mode: "cancel" });
  assert.equal((await gateway.outcome(await old)).end, "cancelled");
  const { end, response } = await gateway.outcome(await changed);
  assert.equal(end, "complete");
  assert.match(response, /new$/);
  assertSound(await gateway.events());
});

test("mode next waits for its own turn, mode append joins the running one, in the order of sending", async () => {
  const held = gate();
  await using t = await startWithModel(async (request) => {
    if (request.index > 0) return { text: `answer ${request.index}` };
    await held.opened;
    return { toolCalls: [{ id: "look", name: "list_dir", input: { path: "." } }] };
  });
  const first = await t.gateway.post("first");
  await t.model.waitForRequests(1);
  const joins = await t.gateway.post("joins", { mode: "append" });
  const waits = await t.gateway.post("waits", { mode: "next" });
  const behind = await t.gateway.post("behind", { mode: "append" });
  held.open();
  assert.equal((await t.gateway.outcome(first)).response, "answer 1");
  assert.equal((await t.gateway.outcome(joins)).response, "answer 1");
  assert.equal((await t.gateway.outcome(waits)).response, "answer 2");
  assert.equal((await t.gateway.outcome(behind)).response, "answer 3");
  assertSound(await t.gateway.events());
});

test("a stop in mid-tool ends the turn within a second, and the open call is closed", async () => {
  const ran = gate();
  await using t = await startWithModel(callSlow, {}, { tools: [hangingTool("write", () => ran.open())] });
  const first = await t.gateway.post("work");
  await ran.opened;
  const stop = await t.gateway.post("/stop");
  assert.equal((await settlesWithin(t.gateway.outcome(first), 1000)).end, "cancelled");
  assert.equal((await t.gateway.outcome(stop)).end, "cancelled");
  const events = await t.gateway.events();
  assertSound(events);
  assert.equal(events.filter((event) => event.type === "tool_execution_complete").length, 1);
});

test("stops at any moment of a turn: each message ends once, whichever comes first", async () => {
  await using t = await startWithModel(() => ({ text: "quick" }));
  for (let round = 0; round < 40; round++) {
    const first = await t.gateway.post(`round ${round}`);
    for (let hops = 0; hops < round * 4; hops++) await Promise.resolve();
    if (round % 3 > 0) await new Promise((resolve) => setTimeout(resolve, (round % 10) * 0.7));
    const stop = await t.gateway.post("/stop");
    assert.ok(["complete", "cancelled"].includes((await t.gateway.outcome(first)).end));
    assert.ok(["complete", "cancelled"].includes((await t.gateway.outcome(stop)).end));
  }
  const events = await t.gateway.events();
  assertSound(events);
  const ledger = await t.gateway.gateway.api.ledger();
  assert.equal(ledger.length, 80);
  assert.ok(ledger.every(({ end }) => end === "answered" || end === "cancelled"));
});

for (const effect of ["write", "idempotent"] as const)
  test(`draining during a ${effect} call leaves it to the next start, which ${effect === "write" ? "tells about it" : "runs it again"}`, async () => {
    const ran = gate();
    const tools = [hangingTool(effect, () => ran.open())];
    await using model = await startFakeOpenAI({ answer: callSlow });
    await using first = await startGateway({ config: openAIConfig(model.apiBase), tools });
    const message = await first.post("work");
    await ran.opened;
    await settlesWithin(end(first.gateway, 50), 3000);
    model.setAnswer({ text: "went on" });
    let again = 0;
    const next = {
      ...hangingTool(effect, () => {}),
      run: async () => ({ text: `run ${++again}`, isError: false, summary: "ran" }),
    };
    await using second = await startGateway({ home: first.home, tools: [next] });
    assert.equal((await second.outcome(message)).response, "went on");
    const events = await second.events();
    assertSound(events);
    const done = events.filter((event) => event.type === "tool_execution_complete");
    assert.deepEqual(
      done.map((event) => event.type === "tool_execution_complete" && event.payload.error_code),
      [effect === "write" ? "INTERRUPTED_BY_RESTART" : undefined],
    );
    assert.equal(again, effect === "write" ? 0 : 1);
    assert.equal(model.requests.length, 2);
    assert.deepEqual(
      events.flatMap((event) =>
        event.type === "agent_state_changed" && event.payload.cause === "restart" ? [event.payload.from] : [],
      ),
      ["awaiting_tool_result"],
    );
  });

test("a stop of the process does not wait for a turn that was only just beginning", async () => {
  await using model = await startFakeOpenAI({ answer: { hang: "start" } });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  await gateway.post("hello");
  // Long enough that its past is still being read when the turns that run are told to end.
  for (let n = 0; n < 1500; n += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, m) => gateway.gateway.api.renameSession("webui:test", `title ${n + m}`)),
    );
  await using again = await gateway.restart();
  await settlesWithin(end(again.gateway, 0), 3000);
});

test("deleting a session ends its running turn and forgets what waits; nothing of it comes back", async () => {
  await using t = await startWithModel((request) =>
    request.userText.includes("fresh") ? { text: "new life" } : { hang: "start" },
  );
  const { api } = t.gateway.gateway;
  const running = await t.gateway.post("secret one");
  await t.model.waitForRequests(1);
  const waiting = await t.gateway.post("secret two", { mode: "next" });
  const [ended, forgotten] = [t.gateway.outcome(running), t.gateway.outcome(waiting)];
  forgotten.catch(() => undefined);
  const before = (await t.gateway.events()).length;
  const deleting = api.deleteSession("webui:test");
  // Somebody looks at it meanwhile.
  for (let look = 0; look < 20; look++) await api.getSession("webui:test").catch(() => undefined);
  await deleting;
  assert.equal((await ended).end, "cancelled");
  await assert.rejects(forgotten, /deleted/);
  await assert.rejects(api.getSession("webui:test"), /no session/);
  assert.deepEqual(await api.listSessions({ limit: 10, offset: 0 }), { sessions: [], total: 0 });
  assert.equal((await t.gateway.ask("fresh")).response, "new life");
  const events = await api.events("webui:test", { fromSequence: 0, limit: 100 });
  assert.ok((events.events[0]?.seq ?? 0) > before, "the numbers go on");
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /secret/);
  assert.doesNotMatch(JSON.stringify(await api.getSession("webui:test")), /secret/);
});
