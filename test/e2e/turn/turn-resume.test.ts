import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readStoredJournal } from "../../../src/engine/embedded/inspect/stored-files.js";
import { eachLine } from "../../../src/engine/embedded/logs/line-walk.js";
import { parseEventLine } from "../../../src/engine/embedded/logs/log-reading.js";
import { openEmbeddedEngine } from "../../../src/engine/embedded/open.js";
import type { EmbeddedEngineOptions } from "../../../src/engine/embedded/options.js";
import type { Engine } from "../../../src/engine/engine.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { createSessionFiles } from "../../../src/sessions/file-names.js";
import type { Tool } from "../../../src/tools/tool.js";
import { gate } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createSnapshots } from "../../support/rules/snapshots.js";
import {
  assertSound,
  causesOf,
  openAIConfig,
  startGateway,
  type TestGateway,
  tempHome,
} from "../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { callingTool, hangingTool } from "../../support/worlds/tools/hanging-tool.js";

/** How many results of tools the model has seen. */
function resultsIn(request: RecordedRequest): number {
  const messages = request.body.messages as readonly { readonly role: string }[];
  return messages.filter((message) => message.role === "tool").length;
}

/** An edit that must not be done twice, two reads side by side, then the answer. */
function play(request: RecordedRequest): ScriptedAnswer {
  const results = resultsIn(request);
  if (results === 0)
    return {
      text: "First I edit.",
      usage: { input: 100, output: 10 },
      toolCalls: [
        { id: "edit", name: "edit_file", input: { path: "counter.txt", old_text: "END", new_text: "+END" } },
        { id: "look", name: "read_file", input: { path: "counter.txt" } },
      ],
    };
  if (results === 2)
    return {
      usage: { input: 200, output: 20 },
      toolCalls: [
        { id: "read", name: "read_file", input: { path: "counter.txt" } },
        { id: "list", name: "list_dir", input: { path: "." } },
      ],
    };
  return { text: ["all ", "done"], usage: { input: 300, output: 30 } };
}

function isEnd(event: StoredEvent): boolean {
  return event.type.startsWith("turn_execution_") && event.type !== "turn_execution_start";
}

const chat = "telegram:9";

async function settled(gateway: TestGateway, telegram: { readonly pending: number }): Promise<void> {
  const status = async () => await gateway.gateway.api.status();
  for (const end = Date.now() + 10_000; ; ) {
    const { inboundWaiting, outboundWaiting } = await status();
    if (inboundWaiting + outboundWaiting + telegram.pending === 0) return;
    if (Date.now() > end) throw new Error(`Not at rest: ${JSON.stringify(await status())}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("a kill at any boundary of a turn: it goes on where it was, no effect twice, no paid answer asked for again", async (t) => {
  await using model = await startFakeOpenAI({ answer: play });
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const prices = { "test-model": { input: 1, output: 10 } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels, prices })));
  const counterIn = (root: string): string => join(root, "workspace", ".sessions", "telegram_9", "counter.txt");
  mkdirSync(join(counterIn(home), ".."), { recursive: true });
  writeFileSync(counterIn(home), "END");

  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, onBoundary: (name) => snapshots.take(name) });
    snapshots.start();
    telegram.pushText({ chatId: 9, userId: 9, text: "go" });
    await telegram.waitForSent(1);
    await settled(gateway, telegram);
    snapshots.stop();
  }
  const points = snapshots.taken.filter(({ home: copy }) => isAccepted(copy));
  assert.ok(points.length > 20, `${points.length} snapshots`);
  t.diagnostic(`${points.length} points: ${[...new Set(points.map(({ name }) => name))].join(", ")}`);

  let interrupted = 0;
  for (const [index, { name, home: copy }] of points.entries()) {
    const where = `point ${index}, ${name}`;
    const [sentBefore, askedBefore] = [telegram.sent.length, model.requests.length];
    const before = await eventsOnDisk(copy, chat);
    await using gateway = await startGateway({ home: copy });
    const known = before.filter((event) => event.type === "assistant_message").length;
    const unsure = before.some(
      (event) => event.type === "outbound_delivery_changed" && event.payload.status === "sending",
    );
    const wasSent = before.some(
      (event) => event.type === "outbound_delivery_changed" && event.payload.status === "sent",
    );
    await settled(gateway, telegram);

    const events = await gateway.events(chat);
    assertSound(events);
    for (const event of events)
      if (event.type === "tool_execution_complete" && event.payload.error_code === "INTERRUPTED_BY_RESTART") {
        assert.equal(event.payload.tool_name, "edit_file", `${where}: what only reads runs again`);
        interrupted += 1;
      }
    const ends = events.filter(isEnd);
    assert.deepEqual(
      ends.map((event) => event.type),
      ["turn_execution_complete"],
      where,
    );
    const [end] = ends;
    assert.ok(end?.type === "turn_execution_complete");
    assert.deepEqual(
      end.payload.usage,
      { input_tokens: 600, output_tokens: 60, cache_read_tokens: 0, cache_write_tokens: 0 },
      where,
    );
    assert.ok(Math.abs((end.payload.cost_usd ?? 0) - (600 * 1 + 60 * 10) / 1e6) < 1e-12, where);
    assert.deepEqual(end.payload.tool_calls.map((call) => call.id).sort(), ["edit", "list", "look", "read"], where);
    assert.deepEqual(
      events.flatMap((event) => (event.type === "assistant_message" ? [event.payload.iteration] : [])),
      [1, 2, 3],
      where,
    );
    assert.ok(readFileSync(counterIn(copy), "utf8").length <= "+END".length, `${where}: the edit was done twice`);
    const answersMissing = 3 - known;
    assert.equal(model.requests.length - askedBefore, answersMissing, `${where}: model calls`);
    if (!unsure || wasSent) assert.equal(telegram.sent.length - sentBefore, wasSent ? 0 : 1, `${where}: replies`);
    const told = events.find((event) => event.type === "outbound_delivery_changed" && event.payload.status === "sent");
    assert.ok(told !== undefined, where);
    assert.deepEqual(causesOf(told, events).at(-1)?.type, "user_message_queued", where);
    const userMessages = events.filter((event) => event.type === "user_message");
    assert.equal(userMessages.length, 1, `${where}: the message entered the context once`);
    assert.equal(
      (await gateway.gateway.api.ledger()).find((entry) => entry.sessionKey === chat)?.end,
      "answered",
      where,
    );
    const document = await gateway.gateway.api.getSession(chat);
    assert.deepEqual(
      document.messages.map((message) => message.content),
      ["go", "all done"],
      where,
    );
  }
  assert.ok(interrupted > 0, "some kill came between the start of the edit and its result");
});

test("messages that had joined the turn at a kill end with it, each entering the context once", async () => {
  const held = gate();
  await using model = await startFakeOpenAI({
    answer: async (request) => {
      if (request.bodyText.includes("and this too")) return { text: "both" };
      await held.opened;
      return { toolCalls: [{ id: "look", name: "list_dir", input: { path: "." } }] };
    },
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, onBoundary: (name) => snapshots.take(name) });
    const first = await gateway.post("look", { messageId: "message-1" });
    await model.waitForRequests(1);
    await gateway.post("and this too", { messageId: "message-2" });
    snapshots.start();
    held.open();
    assert.equal((await gateway.outcome(first)).response, "both");
    snapshots.stop();
  }
  assert.ok(snapshots.taken.length > 6);
  for (const [index, { name, home: copy }] of snapshots.taken.entries()) {
    const where = `point ${index}, ${name}`;
    await using gateway = await startGateway({ home: copy });
    for (const id of ["message-1", "message-2"]) assert.equal((await gateway.outcome(id)).response, "both", where);
    const events = await gateway.events();
    assertSound(events);
    assert.deepEqual(
      events.flatMap((event) => (event.type === "user_message" ? [event.payload.message_id] : [])),
      ["message-1", "message-2"],
      where,
    );
    assert.deepEqual(
      events.flatMap((event) => (event.type === "turn_execution_complete" ? event.payload.message_ids : [])),
      ["message-1", "message-2"],
      where,
    );
  }
});

test("a stop that was accepted before a kill ends the turn after the restart, and no model is asked", async () => {
  await using model = await startFakeOpenAI({ answer: { text: ["never"], hang: "middle" } });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, onBoundary: (name) => snapshots.take(name) });
    const first = await gateway.post("long story", { messageId: "message-1" });
    await model.waitForRequests(1);
    snapshots.start();
    await gateway.post("/stop", { messageId: "message-2" });
    assert.equal((await gateway.outcome(first)).end, "cancelled");
    snapshots.stop();
  }
  const asked = model.requests.length;
  assert.ok(snapshots.taken.length > 3);
  for (const [index, { name, home: copy }] of snapshots.taken.entries()) {
    await using gateway = await startGateway({ home: copy });
    for (const id of ["message-1", "message-2"])
      assert.equal((await gateway.outcome(id)).end, "cancelled", `point ${index}, ${name}`);
    assertSound(await gateway.events());
  }
  assert.equal(model.requests.length, asked);
});

test("a stop that was accepted before a kill in mid-tool closes the call that was running", async () => {
  const ran = gate();
  const tool = hangingTool("write", () => ran.open());
  await using model = await startFakeOpenAI({
    answer: {
      toolCalls: [
        { id: "one", name: "slow", input: {} },
        { id: "two", name: "slow", input: {} },
      ],
    },
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, tools: [tool], onBoundary: (name) => snapshots.take(name) });
    const first = await gateway.post("work", { messageId: "message-1" });
    await ran.opened;
    snapshots.start();
    await gateway.post("/stop", { messageId: "message-2" });
    assert.equal((await gateway.outcome(first)).end, "cancelled");
    snapshots.stop();
    assertSound(await gateway.events());
  }
  for (const [index, { name, home: copy }] of snapshots.taken.entries()) {
    await using gateway = await startGateway({ home: copy, tools: [tool] });
    assert.equal((await gateway.outcome("message-1")).end, "cancelled", `point ${index}, ${name}`);
    const events = await gateway.events();
    assertSound(events);
    assert.equal(
      events.filter((event) => event.type === "tool_execution_start").length,
      events.filter((event) => event.type === "tool_execution_complete").length,
      `point ${index}, ${name}: each call that was started is closed`,
    );
  }
});

test("a message that surely ends the process is told and buried, with its open call closed", async () => {
  await using model = await startFakeOpenAI({ answer: { toolCalls: [{ id: "one", name: "slow", input: {} }] } });
  using killed = await killUntilGivenUp(openAIConfig(model.apiBase), (gateway) =>
    gateway.post("poison", { messageId: "message-1" }),
  );
  assert.ok(killed.lives > 4 && killed.lives < 12, `buried in life ${killed.lives}`);
  await using gateway = await startGateway({ home: killed.home });
  const outcome = await gateway.outcome("message-1");
  assert.equal(outcome.end, "failed");
  assert.match(outcome.response, /interrupted several times/);
  const events = await gateway.events();
  assertSound(events);
  assert.equal(events.filter((event) => event.type === "tool_execution_complete").length, 1);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "turn_execution_start" ? [event.payload.attempt] : [])),
    Array.from({ length: killed.lives }, (_, index) => index + 1),
  );
  model.setAnswer({ text: "fine" });
  assert.equal((await gateway.ask("and on")).response, "fine");
});

test("what had joined a turn that is given up is answered, and enters the conversation once", async () => {
  await using model = await startFakeOpenAI({
    answer: (request) => {
      const name = ["talk", "slow"][resultsIn(request)];
      return name === undefined ? { text: "fine" } : { toolCalls: [{ id: name, name, input: {} }] };
    },
  });
  const own: { gateway?: TestGateway } = {};
  const talk = callingTool("talk", async () => void (await own.gateway?.post("joined", { messageId: "message-2" })));
  using killed = await killUntilGivenUp(
    openAIConfig(model.apiBase),
    async (gateway) => {
      own.gateway = gateway;
      await gateway.post("poison", { messageId: "message-1" });
    },
    [talk],
  );
  await using gateway = await startGateway({ home: killed.home });
  const outcomes = [await gateway.outcome("message-1"), await gateway.outcome("message-2")];
  assert.deepEqual([outcomes[0]?.end, outcomes[1]?.end, outcomes[1]?.response], ["failed", "complete", "fine"]);
  const events = await gateway.events();
  assertSound(events);
  const entered = events.flatMap((event) => (event.type === "user_message" ? [event.payload.message_id] : []));
  assert.deepEqual(entered, ["message-1", "message-2"]);
  const shown = JSON.stringify(model.requests.at(-1)?.body.messages).split("joined").length - 1;
  assert.equal(shown, 1, "the model reads it once");
});

/** Kills a gateway at each run of the tool `slow`, and goes on with what that leaves, until `message-1` has ended. */
async function killUntilGivenUp(
  config: unknown,
  begin: (gateway: TestGateway) => Promise<unknown>,
  tools: readonly Tool[] = [],
): Promise<{ readonly home: string; readonly lives: number } & Disposable> {
  const ran: (() => void)[] = [];
  const slow = hangingTool("idempotent", () => ran.shift()?.());
  const openEngine = (options: EmbeddedEngineOptions): Promise<Engine> =>
    openEmbeddedEngine({ ...options, limits: { suspectMs: 400 } });
  const killed: ReturnType<typeof createSnapshots>[] = [];
  let home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(config));
  for (let isOver = false; !isOver; ) {
    const snapshots = createSnapshots(home);
    killed.push(snapshots);
    const begun = new Promise<boolean>((resolve) => ran.push(() => resolve(false)));
    await using gateway = await startGateway({ home, tools: [slow, ...tools], openEngine });
    if (killed.length === 1) await begin(gateway);
    const ended = gateway.outcome("message-1").then(
      () => true,
      () => true,
    );
    isOver = await Promise.race([begun, ended]);
    snapshots.start();
    snapshots.take("kill");
    home = snapshots.taken[0]?.home ?? "";
  }
  return {
    home,
    lives: killed.length,
    [Symbol.dispose]() {
      for (const snapshots of killed) snapshots[Symbol.dispose]();
    },
  };
}

/** The events of a session as a kill left them, of its log and of the journal. */
async function eventsOnDisk(home: string, key: string): Promise<readonly StoredEvent[]> {
  const events = new Map<number, StoredEvent>();
  const { sessions } = readStoredJournal({ home, logs: [] }).records;
  for (const { event } of sessions.find(key)?.tail ?? []) events.set(event.seq, event);
  const log = createSessionFiles(join(home, "workspace", ".sessions")).logPath(key);
  await eachLine(log, (bytes) => {
    const event = parseEventLine(bytes, key);
    if (event !== undefined) events.set(event.seq, event);
  });
  return [...events.values()].sort((a, b) => a.seq - b.seq);
}

function isAccepted(home: string): boolean {
  const journal = join(home, "journal");
  return readdirSync(journal).some((name) => readFileSync(join(journal, name)).includes('"user_message_queued"'));
}
