import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { z } from "zod";
import { chat } from "../../../src/cli/chat/agent-chat.js";
import { createApiClient } from "../../../src/cli/gateway/api-client.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { startDaemon } from "../../support/worlds/daemon.js";
import { assertSound, openAIConfig, startWithModel, type TestGateway, tempHome } from "../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";

const calls = (id: string, ...inputs: readonly object[]): ScriptedAnswer => ({
  toolCalls: inputs.map((input, index) => ({ id: `${id}_${index}`, name: "plan", input })),
});
const write = (id: string): ScriptedAnswer => ({
  toolCalls: [{ id, name: "write_file", input: { path: `${id}.txt`, content: "x" } }],
});
const trip = { action: "create", goal: "A trip", steps: ["Look up trains", "Book one", "Pack"] };

function changesIn(events: readonly StoredEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === "plan_updated" ? [event.payload.change] : []));
}

function planIn(events: readonly StoredEvent[]) {
  const last = events.findLast((event) => event.type === "plan_updated");
  assert.ok(last?.type === "plan_updated");
  return last.payload.plan;
}

const stepsIn = (events: readonly StoredEvent[]): string =>
  planIn(events)
    .steps.map(({ id, status }) => `${id} ${status}`)
    .join(", ");

async function planFileOf(gateway: TestGateway): Promise<Record<string, unknown>> {
  const path = join(gateway.workspace, ".sessions", ".kept", "webui_test", "plan.json");
  await until("plan.json is written", () => existsSync(path));
  return JSON.parse(readFileSync(path, "utf8"));
}

function lastToolText(request: RecordedRequest | undefined): string {
  const messages = Array.isArray(request?.body.messages) ? request.body.messages : [];
  return String(messages.findLast((message: { readonly role?: string }) => message.role === "tool")?.content ?? "");
}

test("a plan is proposed, waits for the go with tools that only read, is carried out, and is in plan.json", async () => {
  await using t = await startWithModel([
    write("early"),
    calls("c1", trip),
    { text: "Shall I?" },
    calls("c2", { action: "start", step: "1" }, { action: "complete", text: "07:05 is free" }),
    write("ticket"),
    calls("c3", { action: "complete" }, { action: "skip", text: "nothing to pack" }),
    { text: "All done." },
  ]);
  const proposed = await t.gateway.ask("/plan A trip to Ghent");
  assert.equal(proposed.response, "Shall I?");
  const [first] = t.model.requests;
  assert.match(
    first?.userText ?? "",
    /<plan status="pending">\nGoal: A trip to Ghent\n.*\n<\/plan>\n\nA trip to Ghent$/,
  );
  assert.match(lastToolText(t.model.requests[1]), /^write_file waits for the person's go \(\/plan go\)/);
  const folder = join(t.gateway.workspace, ".sessions", "webui_test");
  assert.ok(!existsSync(join(folder, "early.txt")));
  assert.match((await t.gateway.ask("/plan")).response, /\*\*Plan: A trip\*\* \(waits for your go, 0 of 3\)/);

  assert.equal((await t.gateway.ask("/plan go")).response, "All done.");
  assert.match(t.model.requests[3]?.userText ?? "", /\[ready\] step_1 Look up trains[\s\S]*Go ahead with the plan\.$/);
  assert.ok(existsSync(join(folder, "ticket.txt")), "after the go tools work as always");
  const events = await t.gateway.events();
  assertSound(events);
  assert.deepEqual(changesIn(events), [
    "entered",
    "created",
    "execution_started",
    "step_ready",
    "step_started",
    "step_completed",
    "step_ready",
    "step_completed",
    "step_ready",
    "step_skipped",
    "completed",
  ]);
  assert.equal(stepsIn(events), "step_1 completed, step_2 completed, step_3 skipped");
  await t.gateway.gateway.drain(0);
  await t.gateway.gateway[Symbol.asyncDispose]();
  const { id, created_at, updated_at, steps, ...file } = await planFileOf(t.gateway);
  assert.deepEqual(file, { goal: "A trip", status: "completed", current_step_index: 3, iteration_count: 3 });
  assert.equal(id, `plan_${Date.parse(String(created_at))}`);
  assert.ok(String(updated_at) >= String(created_at));
  const shown = (steps as Record<string, string>[]).map(({ started_at, completed_at, ...step }) => {
    assert.ok((started_at ?? "z") <= (completed_at ?? ""), "each step has its times");
    return step;
  });
  assert.deepEqual(shown, [
    { id: "step_1", description: "Look up trains", status: "completed", result: "07:05 is free" },
    { id: "step_2", description: "Book one", status: "completed", result: "" },
    { id: "step_3", description: "Pack", status: "completed", result: "Skipped. nothing to pack" },
  ]);
});

test("only a person's go begins a plan that was asked for, and a new one does not take the place of one that goes on", async () => {
  await using t = await startWithModel([
    calls("c1", trip, { action: "complete" }, { action: "continue" }),
    { text: "Shall I?" },
    calls("c2", { ...trip, goal: "Another" }),
    { text: "Still shall I?" },
    { text: "Begun." },
    calls("c3", { ...trip, goal: "A third" }),
    { text: "No." },
  ]);
  assert.match((await t.gateway.ask("/plan go")).response, /There is no plan here/);
  await t.gateway.ask("/plan A trip");
  assert.match(lastToolText(t.model.requests[1]), /The person has not said go yet/);
  assert.equal(planIn(await t.gateway.events()).status, "pending");
  assert.match((await t.gateway.ask("/plan Something else")).response, /A plan is under way already: A trip/);
  await t.gateway.ask("make it another one");
  assert.deepEqual(
    [planIn(await t.gateway.events()).goal, planIn(await t.gateway.events()).status],
    ["Another", "pending"],
  );
  assert.equal((await t.gateway.ask("/plan go")).response, "Begun.");
  await t.gateway.ask("and now a third");
  assert.match(lastToolText(t.model.requests.at(-1)), /A plan is under way: Another\. Use revise/);
  assert.match((await t.gateway.ask("/plan exit")).response, /The plan is left/);
  assert.equal(changesIn(await t.gateway.events()).at(-1), "exited");
  assertSound(await t.gateway.events());
});

test("what a reflection adjusts is applied, a revision keeps what is done, and a roll back brings the steps back", async () => {
  const reflect = {
    action: "reflect",
    text: "The first train is full",
    adjust: [{ step: "2", text: "Book the 08:32" }, { step: "step_3" }, { text: "Tell Ann" }],
  };
  await using t = await startWithModel([
    calls("c1", trip, { action: "complete", text: "two are free" }, { action: "snapshot" }),
    { text: "begun" },
    calls("c2", reflect),
    { text: "adjusted" },
    calls("c3", { action: "revise", steps: ["Walk there"], text: "no trains at all" }),
    { text: "revised" },
    calls("c4", { action: "rollback" }),
    { text: "rolled back" },
    calls("c5", { action: "reflect", text: "hm", adjust: [{ text: "One more" }, { step: "9", text: "nonsense" }] }),
    { text: "refused" },
  ]);
  await t.gateway.ask("plan a trip and begin");
  assert.equal(stepsIn(await t.gateway.events()), "step_1 completed, step_2 ready, step_3 pending");
  await t.gateway.ask("reflect");
  const adjusted = await t.gateway.events();
  assert.deepEqual(
    planIn(adjusted).steps.map(({ id, description, status }) => [id, description, status].join(" ")),
    [
      "step_1 Look up trains completed",
      "step_2 Book the 08:32 ready",
      "step_3 Pack skipped",
      "step_4 Tell Ann pending",
    ],
  );
  const reflected = adjusted.find((event) => event.type === "plan_updated" && event.payload.change === "reflected");
  assert.ok(reflected?.type === "plan_updated" && reflected.payload.note === "The first train is full");
  await t.gateway.ask("revise");
  assert.deepEqual(
    planIn(await t.gateway.events()).steps.map(({ description, status }) => `${description} ${status}`),
    ["Look up trains completed", "Pack skipped", "Walk there ready"],
  );
  await t.gateway.ask("back");
  assert.match(stepsIn(await t.gateway.events()), /^step_1 completed, step_2 ready, step_3 skipped, step_4 pending$/);
  assert.match((await t.gateway.ask("/plan undo")).response, /○ 2\. Book one/);
  assert.match((await t.gateway.ask("/plan undo")).response, /○ 3\. Pack/);
  assert.match((await t.gateway.ask("/plan undo")).response, /There is no snapshot/);
  const before = changesIn(await t.gateway.events()).length;
  await t.gateway.ask("reflect wrongly");
  assert.match(lastToolText(t.model.requests.at(-1)), /adjust: there is no step 9/);
  assert.equal(changesIn(await t.gateway.events()).length, before, "nothing is changed by halves");
  assertSound(await t.gateway.events());
});

test("a pause ends the running turn, outlasts a restart and a fork, and the plan goes on from its step", async () => {
  const held = gate();
  await using t = await startWithModel(async ({ index }) => {
    if (index === 0) return calls("c1", trip, { action: "complete", text: "found" });
    if (index === 1) {
      await held.opened;
      return { text: "too late" };
    }
    if (index === 2) return calls("c2", { action: "complete" }, { action: "complete" });
    return { text: "done" };
  });
  const running = await t.gateway.post("plan a trip and begin");
  await t.model.waitForRequests(2);
  const paused = await t.gateway.ask("/plan pause");
  assert.match(paused.response, /\(paused, 1 of 3\)/);
  assert.equal((await t.gateway.outcome(running)).end, "cancelled");
  held.open();
  await using again = await t.gateway.restart();
  assert.equal((await planFileOf(again)).status, "paused");
  const { key } = await again.gateway.api.forkSession("webui:test", (await again.events()).length);
  assert.match((await again.ask("/plan", { key })).response, /\(paused, 1 of 3\)/);
  assert.equal((await again.ask("/plan continue")).response, "done");
  assert.match(t.model.requests[2]?.userText ?? "", /\[completed\] step_1 Look up trains → found\n\[ready\] step_2/);
  assert.equal(planIn(await again.events()).status, "completed");
  assert.match((await again.ask("/plan continue")).response, /There is no plan here.*completed/);
  assertSound(await again.events());
});

test("kill -9 in the middle loses no step and tells none twice; the plan goes on by itself and ends", async () => {
  const held = gate();
  const again = calls("c2", { action: "complete", text: "booked" }, { action: "complete", text: "packed" });
  await using model = await startFakeOpenAI({
    answer: async ({ index }) => {
      if (index === 0) return calls("c1", trip, { action: "complete", text: "found" });
      // The first process dies while it waits for this one.
      if (index === 1) await held.opened;
      return index === 3 ? { text: "All done." } : again;
    },
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  const first = await startDaemon({ home });
  const body = JSON.stringify({ sessionKey: "webui:test", content: "plan a trip and begin", channel: "webui" });
  const headers = { "content-type": "application/json" };
  const posted = fetch(`${first.url}/api/message`, { method: "POST", headers, body }).catch(() => undefined);
  await model.waitForRequests(2);
  await first.end("SIGKILL");
  await posted;
  held.open();
  await using second = await startDaemon({ home });
  const read = async (): Promise<readonly StoredEvent[]> => {
    const response = await fetch(`${second.url}/api/sessions/webui%3Atest/events?from_sequence=0&limit=1000`);
    return z.object({ events: z.array(z.custom<StoredEvent>()) }).parse(await response.json()).events;
  };
  let events: readonly StoredEvent[] = [];
  for (const end = Date.now() + 30_000; !events.some(({ type }) => type === "turn_execution_complete"); ) {
    assert.ok(Date.now() < end, "the turn ends after the restart");
    events = await read();
  }
  assertSound(events);
  assert.deepEqual(changesIn(events), [
    ...["created", "step_ready", "step_completed", "step_ready"],
    ...["step_completed", "step_ready", "step_completed", "completed"],
  ]);
  assert.deepEqual(
    planIn(events).steps.map(({ result }) => result),
    ["found", "booked", "packed"],
  );
  assert.equal(await second.end("SIGTERM"), 0);
  const file = JSON.parse(
    readFileSync(join(home, "workspace", ".sessions", ".kept", "webui_test", "plan.json"), "utf8"),
  );
  assert.equal(file.status, "completed");
  await rm(home, { recursive: true, force: true });
});

test("a go whose turn a restart interrupts goes on with it, and the plan has begun once", async () => {
  const held = gate();
  await using t = await startWithModel(async ({ index }) => {
    if (index === 0) return calls("c1", trip);
    if (index === 1) return { text: "Shall I?" };
    if (index === 2) await held.opened;
    return index === 3 ? calls("c2", { action: "complete" }) : { text: "one done" };
  });
  await t.gateway.ask("/plan A trip");
  const went = await t.gateway.post("/plan go");
  await t.model.waitForRequests(3);
  await using again = await t.gateway.restart();
  held.open();
  assert.equal((await again.outcome(went)).response, "one done");
  const events = await again.events();
  assertSound(events);
  assert.equal(changesIn(events).filter((change) => change === "execution_started").length, 1);
  assert.match(t.model.requests[3]?.userText ?? "", /Go ahead with the plan\.$/);
  assert.equal(stepsIn(events), "step_1 completed, step_2 ready, step_3 pending");
});

test("completing step after step in the same words is not a loop; going round in circles is", async () => {
  const steps = ["a", "b", "c", "d", "e"];
  const complete = { action: "complete" };
  await using t = await startWithModel([
    calls("c1", { action: "create", goal: "Letters", steps }, complete, complete, complete, complete, complete),
    calls("c2", complete, complete, complete),
    { text: "done" },
  ]);
  const message = await t.gateway.post("spell it");
  await t.gateway.waitForEvent(({ type }) => type === "doom_loop_detected");
  await t.gateway.post("/deny");
  assert.equal((await t.gateway.outcome(message)).response, "done");
  const events = await t.gateway.events();
  assert.equal(planIn(events).status, "completed");
  assert.equal(events.filter(({ type }) => type === "doom_loop_detected").length, 1);
  assert.equal(changesIn(events).filter((change) => change === "step_completed").length, 5);
});

test("an undo takes the plan back with its turn, and a fresh conversation has none", async () => {
  await using t = await startWithModel([
    calls("c1", trip),
    { text: "made" },
    calls("c2", { action: "complete" }),
    { text: "one done" },
    { text: "hello" },
  ]);
  await t.gateway.ask("plan it");
  await t.gateway.ask("go on");
  assert.match((await t.gateway.ask("/plan")).response, /1 of 3/);
  await t.gateway.ask("/undo");
  assert.match((await t.gateway.ask("/plan")).response, /0 of 3/);
  await t.gateway.ask("/new");
  assert.match((await t.gateway.ask("/plan")).response, /There is no plan here/);
  await t.gateway.ask("hi");
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /A trip/);
  await using again = await t.gateway.restart();
  assert.match((await again.ask("/plan")).response, /There is no plan here/);
  assert.ok(!existsSync(join(again.workspace, ".sessions", ".kept", "webui_test", "plan.json")));
});

test("a plan of the Go maxclaw is taken over where the log has none, paused where it was under way", async () => {
  const home = await tempHome();
  const folder = join(home, "workspace", ".sessions", "webui_test");
  await mkdir(folder, { recursive: true });
  const file = {
    id: "plan_1700000000000",
    goal: "Tidy the garden",
    status: "running",
    created_at: "2023-11-14T22:13:20Z",
    updated_at: "2023-11-14T23:00:00Z",
    steps: [
      {
        id: "step_1",
        description: "Rake",
        status: "completed",
        result: "raked",
        started_at: "2023-11-14T22:14:00Z",
        completed_at: "2023-11-14T22:30:00Z",
      },
      { id: "step_2", description: "Mow", status: "running", result: "", started_at: "2023-11-14T22:31:00Z" },
    ],
    current_step_index: 1,
    iteration_count: 4,
  };
  await writeFile(join(folder, "plan.json"), JSON.stringify(file));
  await using t = await startWithModel(
    [calls("c1", { action: "complete", text: "mown" }), { text: "tidy" }],
    {},
    { home },
  );
  assert.match((await t.gateway.ask("/plan")).response, /Tidy the garden\*\* \(paused, 1 of 2\)\n\n✓ 1\. Rake → raked/);
  assert.equal((await t.gateway.ask("/plan continue")).response, "tidy");
  await using again = await t.gateway.restart();
  assert.match((await again.ask("/plan")).response, /done, 2 of 2/);
  const written = await planFileOf(again);
  assert.equal(written.id, file.id);
  assert.equal(written.status, "completed");
  assert.deepEqual((written.steps as unknown[])[0], file.steps[0]);
  assert.equal(changesIn(await again.events()).filter((change) => change === "created").length, 1);
});

test("in a chat the proposal, each step and the end are told once, and in a group only the asker says go", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:plan" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using t = await startWithModel(
    [
      calls("c1", trip),
      { text: "Shall I?" },
      calls("c2", { action: "complete", text: "found" }),
      calls("c3", { action: "start" }, { action: "complete" }),
      calls("c4", { action: "skip" }),
      { text: "Have fun." },
    ],
    { channels, owners: ["telegram:1"] },
  );
  const say = (userId: number, text: string): void =>
    void telegram.pushText({ chatId: -5, userId, text, replyTo: { messageId: 1, fromBot: true } });
  const texts = async (count: number): Promise<readonly string[]> =>
    (await telegram.waitForSent(count)).map(({ text }) => text ?? "");
  say(2, "/plan A trip");
  const [proposal, question] = await texts(2);
  assert.match(proposal ?? "", /Plan: A trip.*waits for your go, 0 of 3[\s\S]*1\. Look up trains[\s\S]*\/plan go/);
  assert.equal(question, "Shall I?");
  say(3, "/plan go");
  assert.match((await texts(3))[2] ?? "", /Only the person who asked for this plan, or an owner/);
  say(2, "/plan go");
  const all = await texts(7);
  assert.deepEqual(all.slice(3), [
    "✓ 1/3 Look up trains. Next: Book one.",
    "✓ 2/3 Book one. Next: Pack.",
    "– 3/3 Pack. The plan is done.",
    "Have fun.",
  ]);
  assertSound(await t.gateway.events("telegram:-5"));
});

test("the terminal shows the proposal and each step as it happens", async () => {
  await using t = await startWithModel([
    calls("c1", trip),
    { text: "Shall I?" },
    calls("c2", { action: "start" }, { action: "complete", text: "found" }),
    calls("c3", { action: "reflect", text: "It rains", adjust: [{ step: "3", text: "Pack an umbrella" }] }),
    calls("c4", { action: "complete" }, { action: "complete" }),
    { text: "Have fun." },
  ]);
  const client = createApiClient(t.gateway.gateway.address, undefined);
  const [input, output] = [new PassThrough(), new PassThrough()];
  let screen = "";
  output.on("data", (chunk: Buffer) => {
    screen += chunk.toString("utf8");
  });
  const over = chat("cli:default", { client, reconnect: async () => client }, { input, output });
  await until("there is a prompt", () => screen.includes("> "));
  input.write("/plan A trip\r");
  await until("it is proposed", () => screen.includes("Shall I?"));
  assert.match(screen, /· plan created: A trip \(○ 1\. Look up trains; ○ 2\. Book one; ○ 3\. Pack\)\n/);
  input.write("/plan go\r");
  await until("it is done", () => screen.includes("Have fun."));
  assert.match(screen, /· ▶ 1\/3 Look up trains\n· ✓ 1\/3 Look up trains\. Next: Book one\.\n/);
  assert.match(screen, /· plan adjusted: A trip \(✓ 1\. .*○ 3\. Pack an umbrella\)\n/);
  assert.match(screen, /· ✓ 2\/3 Book one\. Next: Pack an umbrella\.\n· ✓ 3\/3 .*The plan is done\.\n/);
  input.write("/exit\r");
  await over;
});
