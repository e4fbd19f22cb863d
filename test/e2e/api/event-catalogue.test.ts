import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { eventTypes } from "../../../scripts/events-table.js";
import { waitingTypes } from "../../../scripts/events-waiting.js";
import type { EventType } from "../../../src/events/catalogue.js";
import { type EventOf, type GatewayEvent, isStored } from "../../../src/events/event.js";
import type { Machine } from "../../../src/events/machines/input.js";
import { internalTypes } from "../../../src/events/sets.js";
import type { Reactor } from "../../../src/reactors/reactor.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { recordEvents } from "../../support/engine/histories/event-recorder.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { articlePage, startSite } from "../../support/fakes/web-site.js";
import { assertEvents, type EventRules } from "../../support/rules/event-rules.js";
import { madeTypes } from "../../support/rules/event-sources.js";
import { createSnapshots } from "../../support/rules/snapshots.js";
import {
  type ModelGateway,
  openAIConfig,
  startGateway,
  startWithModel,
  type TestGatewayOptions,
  tempHome,
} from "../../support/worlds/gateway.js";
import { openSocket } from "../../support/worlds/http/http-clients.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";
import { browserArgs, withoutChromium, withoutSmallDisk } from "../../support/worlds/needs.js";
import { hangingTool } from "../../support/worlds/tools/hanging-tool.js";

/** Everything that the gateways of this file have told, by type. */
const told = new Map<EventType, GatewayEvent[]>();

function note(events: readonly GatewayEvent[]): void {
  for (const event of events) told.set(event.type, [...(told.get(event.type) ?? []), event]);
}

interface Setup extends ModelGateway {
  /** All that was told so far. */
  readonly events: readonly GatewayEvent[];
  of<T extends EventType>(type: T): readonly EventOf<T>[];
  /** Stops the gateway, and checks all that it told by the rules and against what its logs hold. */
  finish(rules?: EventRules): Promise<void>;
}

async function start(
  answer: AnswerScript,
  config: Record<string, unknown> = {},
  options: Omit<TestGatewayOptions, "config"> = {},
): Promise<Setup> {
  const recorder = recordEvents();
  const reactors = [recorder, ...(options.reactors ?? [])];
  const scripted = await startWithModel(answer, config, { ...options, reactors });
  const { gateway } = scripted;
  let isFinished = false;
  const setup: Setup = {
    ...scripted,
    events: recorder.events,
    of: <T extends EventType>(type: T) =>
      recorder.events.filter((event): event is Extract<GatewayEvent, EventOf<T>> => event.type === type),
    async finish(rules) {
      isFinished = true;
      const keys = new Set(recorder.events.map((event) => event.session_key));
      const isDeleted = (key: string): boolean =>
        setup.of("session_state_changed").some((event) => event.session_key === key && event.payload.to === "deleted");
      for (const key of keys) {
        if (isDeleted(key)) continue;
        const logged = await gateway.events(key.startsWith("system:") ? "system" : key);
        const seen = recorder.events.filter((event) => event.session_key === key && isStored(event));
        // Before the recorder was there the gateway had nothing to say about its chats.
        assert.deepEqual(logged.slice(-seen.length), seen, `${key}: what was told is what is stored`);
      }
      await gateway.gateway.drain(1000);
      note(recorder.events);
      assertEvents(recorder.events, rules);
    },
    async [Symbol.asyncDispose]() {
      await scripted[Symbol.asyncDispose]();
      assert.ok(isFinished, "a gateway whose events nobody has checked");
    },
  };
  return setup;
}

const typesOf = (events: readonly GatewayEvent[]): readonly EventType[] => events.map((event) => event.type);
const lookAt = (path: string, id: string) => ({ id, name: "list_dir", input: { path } });
const states = (setup: Setup, key = "webui:test"): readonly string[] =>
  setup
    .of("agent_state_changed")
    .filter((event) => event.session_key === key)
    .map(({ payload: { to, cause } }) => `${to} (${cause})`);

// Turns

test("a turn with thinking, text, parallel tools and a price tells its whole story", async () => {
  await using t = await start(
    [
      {
        thinking: ["let me ", "look"],
        text: ["I look", " around."],
        toolCalls: [lookAt(".", "a"), { id: "b", name: "read_file", jsonPieces: ['{"pa', 'th":"missing.txt"}'] }],
        interleaved: true,
        usage: { input: 100, output: 10 },
      },
      { text: ["There is ", "nothing."], usage: { input: 200, output: 20, cacheRead: 50 } },
    ],
    { prices: { "test-model": { input: 1, output: 10 } } },
  );
  const outcome = await t.gateway.ask("What is\nhere?");
  assert.equal(outcome.response, "There is nothing.");
  const turn = t.events.filter((event) => event.turn_id === outcome.turnId);
  assert.deepEqual(typesOf(turn), [
    "turn_execution_start",
    "session_state_changed",
    "user_message",
    "agent_state_changed",
    "turn_iteration_start",
    "message_stream_start",
    "thinking_delta",
    "thinking_delta",
    "text_delta",
    "agent_state_changed",
    "text_delta",
    "tool_call_start",
    "agent_state_changed",
    "tool_call_start",
    "tool_input_delta",
    "tool_input_delta",
    "tool_input_delta",
    "message_stream_end",
    "assistant_message",
    "tool_execution_start",
    "tool_execution_start",
    "agent_state_changed",
    "tool_execution_complete",
    "tool_execution_complete",
    "agent_state_changed",
    "turn_iteration_start",
    "message_stream_start",
    "text_delta",
    "agent_state_changed",
    "text_delta",
    "message_stream_end",
    "assistant_message",
    "session_title_generated",
    "session_state_changed",
    "agent_state_changed",
    "turn_execution_complete",
  ]);
  // Each is told when it ends.
  const ends = t.of("tool_execution_complete").map(({ payload }) => payload);
  assert.deepEqual(
    ["a", "b"]
      .flatMap((id) => ends.filter((end) => end.tool_call_id === id))
      .map((end) => [end.tool_call_id, end.is_error, end.error_code]),
    [
      ["a", false, undefined],
      ["b", true, "TOOL_ERROR"],
    ],
  );
  const [end] = t.of("turn_execution_complete");
  assert.deepEqual(end?.payload.usage, {
    input_tokens: 300,
    output_tokens: 30,
    cache_read_tokens: 50,
    cache_write_tokens: 0,
  });
  assert.equal(end.payload.cost_usd, (300 + 50 + 300) / 1e6);
  assert.deepEqual([end.payload.iterations, end.payload.stop_reason], [2, "end_turn"]);
  assert.deepEqual(t.of("session_title_generated")[0]?.payload, { title: "What is", generated_by: "fallback" });
  await t.finish();
});

test("a browser that is used, and the picture that it takes, are told in their chat", {
  skip: withoutChromium(),
}, async () => {
  await using site = await startSite((_, response) => response.end(articlePage("Look", "")));
  const use = (id: string, input: object) => ({ toolCalls: [{ id, name: "browser", input }] });
  await using t = await start(
    [use("a", { action: "navigate", url: site.url }), use("b", { action: "screenshot" }), { text: "There." }],
    { tools: { web: { fetch: { allow: [site.host] } }, browser: { args: browserArgs } } },
  );
  assert.equal((await t.gateway.ask(`show me ${site.url}`)).response, "There.");
  const [created, artifact] = t.of("artifact_state_changed");
  assert.equal(created?.payload.status, "created");
  assert.ok(artifact !== undefined && artifact.turn_id !== undefined);
  const { artifact_id, path, size_bytes, ...more } = artifact.payload;
  assert.match(artifact_id, /^art_/);
  assert.equal(readFileSync(path ?? "").length, size_bytes);
  const filename = "screenshot-b.png";
  assert.deepEqual(more, { status: "ready", filename, mime_type: "image/png", source_tool: "browser" });
  const ready = t.of("environment_state_changed").filter(({ payload }) => payload.kind === "browser");
  assert.deepEqual(
    ready.map(({ session_key, payload: { from, to } }) => [session_key, from, to]),
    [["webui:test", "starting", "ready"]],
  );
  await t.finish();
});

test("only the first answer of a session that has no title gives it one", async () => {
  await using t = await start({ text: "ok" });
  await t.gateway.ask("/help");
  await t.gateway.ask("first words");
  await t.gateway.ask("later words");
  await t.api.createSession({ key: "webui:named", title: "My own" });
  await t.gateway.ask("words", { key: "webui:named" });
  assert.deepEqual(
    t.of("session_title_generated").map(({ payload }) => [payload.title, payload.generated_by]),
    [
      ["first words", "fallback"],
      ["My own", "user"],
    ],
  );
  const { title, titleSource, titleState } = await t.api.getSession("webui:test");
  assert.deepEqual([title, titleSource, titleState], ["first words", "auto", "pending"]);
  await t.finish();
});

test("a failed turn, one that was asked for again, one that was stopped, and one at its limit each end once", async () => {
  const once = { agents: { defaults: { model: "openai/test-model", maxToolIterations: 1 } } };
  await using t = await start((request) => {
    switch (request.index) {
      case 0:
        return { status: 401 };
      case 1:
        return { status: 429, headers: { "retry-after-ms": "1" } };
      case 3:
        return { text: ["half a ", "story"], hang: "middle" };
      case 4:
        return { toolCalls: [lookAt(".", "again")] };
      default:
        return { text: "fine" };
    }
  }, once);
  assert.equal((await t.gateway.ask("refuse me")).end, "failed");
  assert.equal((await t.gateway.ask("be busy")).response, "fine");
  const long = await t.gateway.post("a long story");
  await t.gateway.waitForEvent((event) => event.type === "text_delta" && event.payload.text === "story");
  await t.api.stopTurn("webui:test");
  assert.equal((await t.gateway.outcome(long)).end, "cancelled");
  await t.gateway.ask("loop");

  const [failed] = t.of("turn_execution_failed");
  assert.deepEqual(
    [failed?.payload.code, failed?.payload.category, failed?.payload.recoverable],
    ["AUTH_FAILED", "driver", false],
  );
  assert.deepEqual(t.of("llm_retry_scheduled")[0]?.payload, { attempt: 1, delay_ms: 1, code: "RATE_LIMIT" });
  assert.deepEqual(
    t.of("turn_execution_complete").map(({ payload }) => [payload.stop_reason, payload.errors]),
    [
      ["end_turn", ["RATE_LIMIT"]],
      ["max_iterations", []],
    ],
  );
  const [cancelled] = t.of("turn_execution_cancelled");
  const partial = t.of("assistant_message").find(({ payload }) => payload.partial);
  assert.equal(cancelled?.payload.partial_message_id, partial?.payload.message_id);
  assert.deepEqual(
    t.of("message_stream_end").map(({ payload }) => payload.stop_reason),
    ["error", "error", "end_turn", "interrupted", "tool_use"],
  );
  assert.deepEqual(states(t), [
    "thinking (turn_started)",
    "error (AUTH_FAILED)",
    "idle (turn_failed)",
    "thinking (turn_started)",
    "responding (text)",
    "idle (end_turn)",
    "thinking (turn_started)",
    "responding (text)",
    "idle (user_interrupt)",
    "thinking (turn_started)",
    "planning_tool (tool_call)",
    "awaiting_tool_result (tools_running)",
    "idle (max_iterations)",
  ]);
  await t.finish();
});

test("however the provider cuts an answer, the same is stored, and the deltas joined are its text", async () => {
  const text = "Ein 😀, zwei 👩‍👩‍👧 – 世界\n";
  const json = '{"path": "\\ud83d\\ude00/世界"}';
  const cuts: readonly ((whole: string) => readonly string[])[] = [
    (whole) => [whole],
    (whole) => [...whole],
    // Also between the halves of a character.
    (whole) => whole.split(""),
  ];
  const stories: unknown[] = [];
  for (const cut of cuts) {
    await using t = await start([
      { thinking: cut("hm 😀"), text: cut(text), toolCalls: [{ id: "a", name: "list_dir", jsonPieces: cut(json) }] },
      { text: cut(text) },
    ]);
    await t.gateway.ask("hi", { messageId: "message-1" });
    const joined = t.of("text_delta").map(({ payload }) => payload.text);
    assert.equal(joined.join(""), text + text);
    const ids = /\b(msg|turn|exe)_[0-9a-f]+/g;
    const stored = t.events.filter((event) => isStored(event) && !event.session_key.startsWith("system:"));
    stories.push(
      stored.map(({ type, payload }) =>
        `${type} ${JSON.stringify(payload)}`
          .replace(ids, "$1")
          .replace(/"(duration_ms|queued_ms)":\d+/g, "$1")
          .replace(/<now>.*?<\/now>/g, ""),
      ),
    );
    await t.finish();
  }
  assert.deepEqual(stories[1], stories[0]);
  assert.deepEqual(stories[2], stories[0]);
});

test("an answer that breaks off and is asked for again: responding, thinking again, and a new message id", async () => {
  await using t = await start((request) =>
    request.index === 0 ? { text: ["a", "b"], endAfter: 2 } : { text: "whole" },
  );
  await t.gateway.ask("hi");
  assert.deepEqual(states(t), [
    "thinking (turn_started)",
    "responding (text)",
    "thinking (UNKNOWN)",
    "responding (text)",
    "idle (end_turn)",
  ]);
  const [first, second] = t.of("message_stream_start");
  assert.notEqual(first?.payload.message_id, second?.payload.message_id);
  await t.finish();
});

test("a turn that a restart interrupted tells the change to idle with its cause, and goes on as one story", async () => {
  const ran = gate();
  await using model = await startFakeOpenAI({
    answer: (request) =>
      request.index === 0
        ? { text: "First", toolCalls: [{ id: "one", name: "slow", input: {} }, lookAt(".", "two")] }
        : { text: "done" },
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  using snapshots = createSnapshots(home);
  const tools = [hangingTool("write", () => ran.open())];
  const before = recordEvents();
  {
    await using gateway = await startGateway({ home, tools, reactors: [before] });
    await gateway.post("work", { messageId: "message-1" });
    await ran.opened;
    snapshots.start();
    snapshots.take("kill");
  }
  const after = recordEvents();
  const copy = snapshots.taken[0]?.home ?? "";
  await using gateway = await startGateway({ home: copy, tools, reactors: [after] });
  assert.equal((await gateway.outcome("message-1")).response, "done");
  const past = before.events.filter(isStored).filter((event) => !event.session_key.startsWith("system:"));
  const chat = after.events.filter((event) => !event.session_key.startsWith("system:"));
  assertEvents(chat, { past });
  note(after.events);
  const changes = chat.filter((event) => event.type === "agent_state_changed");
  assert.deepEqual(
    changes.map(({ payload: { from, to, cause } }) => `${from} → ${to} (${cause})`),
    [
      "planning_tool → idle (restart)",
      "idle → thinking (turn_started)",
      "thinking → planning_tool (answer_stored)",
      "planning_tool → awaiting_tool_result (tools_running)",
      "awaiting_tool_result → thinking (tool_results)",
      "thinking → responding (text)",
      "responding → idle (end_turn)",
    ],
  );
  assert.deepEqual(
    [...past, ...chat].flatMap((event) => (event.type === "turn_execution_start" ? [event.payload.attempt] : [])),
    [1, 2],
  );
  const outcome = chat.find((event) => event.type === "tool_execution_complete");
  assert.equal(outcome?.payload.error_code, "INTERRUPTED_BY_RESTART");
  await rm(home, { recursive: true, force: true });
});

test("a fault of ours ends the turn in the same attempt, once, with its open tool closed", async () => {
  const faulty = {
    ...hangingTool("read", () => {}),
    get effect(): "read" {
      throw new TypeError("a bug");
    },
  };
  await using t = await start({ toolCalls: [{ id: "one", name: "slow", input: {} }] }, {}, { tools: [faulty] });
  assert.equal((await t.gateway.ask("work")).end, "failed");
  assert.equal(t.of("turn_execution_start").length, 1);
  assert.deepEqual([t.of("turn_execution_failed")[0]?.payload.category], ["runtime"]);
  await t.finish();
});

// Skills and commands

test("skills are told when a message brings them, when one is missing, and when the model reads one", async () => {
  await using t = await start([
    { text: "ok" },
    {
      toolCalls: [
        { id: "a", name: "read_skill", input: { name: "poems" } },
        { id: "b", name: "read_skill", input: { name: "no such" } },
      ],
    },
    { text: "done" },
  ]);
  await mkdir(join(t.gateway.workspace, "skills"), { recursive: true });
  await writeFile(join(t.gateway.workspace, "skills", "poems.md"), "Write in rhymes.");
  await t.gateway.ask("@skill:poems @skill:nothing a poem, please");
  await t.gateway.ask("@skill:none and without?");
  const poems = { name: "poems", source: "workspace", chars: "Write in rhymes.".length, truncated: false };
  // Calls that only read run side by side, and each is told as soon as it is done.
  const [brought, ...read] = t.of("skill_matched").map(({ payload }) => payload);
  assert.deepEqual(brought, { skills: [poems], missing: ["nothing"], selector: "explicit" });
  assert.deepEqual(
    read.toSorted((a, b) => a.missing.length - b.missing.length),
    [
      { skills: [poems], missing: [], selector: "read_skill" },
      { skills: [], missing: ["no such"], selector: "read_skill" },
    ],
  );
  const types = typesOf(t.events.filter(isStored));
  const after = types.flatMap((type, at) => (type === "skill_matched" ? [types[at + 1]] : []));
  assert.deepEqual(after, ["user_message", "tool_execution_complete", "tool_execution_complete"]);
  await t.finish();
});

test("a chat command is a turn like any other, and what it changes is part of its story", async () => {
  await using t = await start({ text: "hello" });
  await t.gateway.ask("hi");
  const { turnId } = await t.gateway.ask("/new");
  const [change] = t.of("session_history_changed");
  assert.deepEqual(change?.payload, { kind: "new" });
  assert.equal(change?.turn_id, turnId);
  await t.finish();
});

test("a session of the Go maxclaw comes in as one event", async () => {
  await using t = await start({ text: "I remember" });
  await mkdir(join(t.gateway.workspace, ".sessions"), { recursive: true });
  const messages = [{ role: "user", content: "My cat is called Momo.", timestamp: "2025-01-01T10:00:00Z" }];
  await writeFile(
    join(t.gateway.workspace, ".sessions", "webui_old.json"),
    JSON.stringify({ key: "webui:old", messages }),
  );
  await t.gateway.ask("what is my cat called?", { key: "webui:old" });
  assert.deepEqual(t.of("session_history_changed")[0]?.payload, { kind: "import", messages });
  await t.finish();
});

test("a plan tells each of its changes, as part of the turn or the command that brought it about", async () => {
  const plan = (id: string, input: object) => ({ id, name: "plan", input });
  await using t = await start([
    { toolCalls: [plan("a", { action: "create", steps: ["Pack", "Go"] }), plan("b", { action: "snapshot" })] },
    { text: "Shall I?" },
    {
      toolCalls: [
        plan("c", { action: "start" }),
        plan("d", { action: "complete", text: "packed" }),
        plan("e", { action: "reflect", text: "it rains", adjust: [{ text: "Take an umbrella" }] }),
        plan("f", { action: "revise", steps: ["Stay"] }),
        plan("g", { action: "rollback" }),
      ],
    },
    { text: "Begun." },
  ]);
  await t.gateway.ask("/plan A walk");
  const { turnId } = await t.gateway.ask("/plan go");
  for (const command of ["/plan pause", "/plan skip 2", "/plan exit"]) await t.gateway.ask(command);
  const told = t.of("plan_updated");
  assert.deepEqual(
    told.map(({ payload }) => payload.change),
    [
      ...["entered", "created", "snapshot_taken", "execution_started", "step_ready", "step_started", "step_completed"],
      ...["step_ready", "reflected", "adjusted", "revised", "step_ready", "rolled_back", "status_changed"],
      ...["step_skipped", "exited"],
    ],
  );
  assert.ok(told.slice(3, 13).every((event) => event.turn_id === turnId));
  assert.equal(told[0]?.payload.by, "webui:owner");
  await t.finish();
});

// The gateway itself

test("sessions, titles, settings and clients are told as they change", async () => {
  await using t = await start({ text: "hi" });
  const { api, address } = t.gateway.gateway;
  await api.createSession({ key: "webui:one", title: "One", model: "openai/test-model", cwd: "." });
  await api.renameSession("webui:one", "Two");
  await t.gateway.ask("hello", { key: "webui:one" });
  await api.markSession("webui:one", { pinned: true });
  assert.deepEqual(
    t.of("session_marks_changed").map(({ payload, seq }) => [payload, seq]),
    [[{ pinned: true, archived: false }, null]],
  );
  await api.deleteSession("webui:one");
  assert.deepEqual(
    t.of("session_state_changed").map(({ payload, seq }) => [payload.from, payload.to, seq === null]),
    [
      ["none", "created", false],
      ["created", "active", false],
      ["active", "idle", false],
      ["idle", "deleted", true],
    ],
  );
  assert.deepEqual(
    t.of("settings_changed").map(({ payload }) => [payload.scope, payload.key, payload.to]),
    [
      ["session", "model", "openai/test-model"],
      ["session", "cwd", "."],
    ],
  );
  const clients = () => t.of("connection_state_changed").filter(({ payload }) => payload.peer === "client");
  const socket = await openSocket(`http://${address}`);
  const stream = new AbortController();
  await t.gateway.ask("hello");
  const response = await fetch(`http://${address}/api/sessions/webui:test/stream`, { signal: stream.signal });
  await until("both are told", () => clients().length === 2);
  socket.socket.close();
  stream.abort();
  await response.body?.cancel().catch(() => undefined);
  await until("both have gone", () => clients().length === 4);
  const changes = clients().map(({ payload: { name, from, to } }) => `${name.split("_")[0]} ${from} → ${to}`);
  assert.deepEqual(changes.sort(), [
    "sse connected → disconnected",
    "sse connecting → connected",
    "ws connected → disconnected",
    "ws connecting → connected",
  ]);
  assert.equal(new Set(clients().map(({ payload }) => payload.name)).size, 2);
  await t.finish();
  assert.deepEqual(
    t.of("gateway_state_changed").map(({ payload }) => `${payload.from} → ${payload.to}`),
    ["starting → ready", "ready → draining", "draining → stopped"],
  );
});

test("a provider is told once when calls get through, once when they do not, and once when they do again", async () => {
  await using t = await start((request) => (request.index === 1 ? { status: 401 } : { text: "fine" }));
  for (const text of ["one", "two", "three", "four"]) await t.gateway.ask(text);
  const changes = t.of("connection_state_changed").filter(({ payload }) => payload.peer === "provider");
  assert.deepEqual(
    changes.map(({ payload: { name, from, to, reason }, source }) => [source, name, from, to, reason !== undefined]),
    [
      ["provider:openai", "openai", "connecting", "connected", false],
      ["provider:openai", "openai", "connected", "disconnected", true],
      ["provider:openai", "openai", "disconnected", "connected", false],
    ],
  );
  assert.doesNotMatch(JSON.stringify(changes), /sk-test-key/);
  await t.finish();
});

test("a platform's connection, its strangers and each reply's way are told", async () => {
  const token = "4242:events";
  await using telegram = await startFakeTelegram({ token });
  const channel = { enabled: true, token, apiRoot: telegram.url };
  await using t = await start({ text: "hello" }, { channels: { telegram: channel }, owners: ["telegram:1"] });
  const { api } = t;
  telegram.pushText({ chatId: 42, userId: 42, text: "let me in" });
  await telegram.waitForSent(1);
  await api.approvePairing(api.listPairings().waiting[0]?.code ?? "");
  for (const [chatId, fault] of [
    [42, undefined],
    [1, { status: 500, description: "oops" }],
  ] as const) {
    if (fault !== undefined) telegram.failNext({ method: "sendMessage", ...fault });
    telegram.pushText({ chatId, userId: chatId, text: "hi" });
    await until("it is sent", () =>
      t
        .of("outbound_delivery_changed")
        .some(({ payload }) => payload.chat_id === `${chatId}` && payload.status === "sent"),
    );
  }
  telegram.failNext({ method: "sendMessage", status: 403, description: "Forbidden: bot was blocked by the user" });
  telegram.pushText({ chatId: 42, userId: 42, text: "block" });
  await until("it is refused", () =>
    t.of("outbound_delivery_changed").some(({ payload }) => payload.status === "refused"),
  );
  telegram.cutNext({ method: "sendMessage", when: "after" });
  telegram.pushText({ chatId: 42, userId: 42, text: "cut" });
  await until("it is sent again", () =>
    t
      .of("outbound_delivery_changed")
      .some(({ payload }) => payload.status === "sent" && payload.maybe_duplicate === true),
  );
  await api.revokePairing("telegram", "42");
  const ways = new Map<string, string[]>();
  for (const { payload, session_key } of t.of("outbound_delivery_changed"))
    ways.set(payload.outbound_id, [...(ways.get(payload.outbound_id) ?? [session_key]), payload.status]);
  assert.deepEqual(
    [...ways.values()].map((way) => way.join(" ")),
    [
      "telegram:42 queued sending sent",
      "telegram:1 queued sending retrying sending sent",
      "telegram:42 queued sending refused",
      "telegram:42 queued sending unknown sending sent",
    ],
  );
  assert.deepEqual(
    t.of("settings_changed").map(({ payload }) => payload),
    [
      { scope: "gateway", key: "pairing_request", to: "telegram:42" },
      { scope: "gateway", key: "pairing", to: "telegram:42" },
      { scope: "gateway", key: "pairing", from: "telegram:42", to: "" },
    ],
  );
  await t.finish();
  assert.deepEqual(
    t
      .of("connection_state_changed")
      .filter(({ payload }) => payload.peer === "channel")
      .map(({ payload: { from, to } }) => `${from} → ${to}`),
    ["connecting → connected", "connected → disconnected"],
  );
});

test("a conversation that grows too long is summarised, and a scheduled run is told from its begin to its end", async () => {
  const small = { agents: { defaults: { model: "openai/test-model", contextWindow: 3000, maxTokens: 300 } } };
  await using t = await start(({ userText, bodyText }) => {
    if (bodyText.includes("memory of a long chat")) return { text: "- they talked", usage: { input: 7, output: 3 } };
    if (!userText.endsWith("in time") || bodyText.includes('"role":"tool"'))
      return { text: "word ".repeat(300), usage: false };
    const at = new Date(Date.now() + 2500).toISOString();
    return { toolCalls: [{ id: "c", name: "cron", input: { action: "add", message: "tea", at } }] };
  }, small);
  for (let n = 0; n < 8; n++) await t.gateway.ask(`message ${n}`);
  const [compressed] = t.of("context_compressed");
  assert.ok(compressed !== undefined && compressed.turn_id !== undefined);
  assert.equal((compressed.payload.usage?.input_tokens ?? 1) % 7, 0);
  assert.equal(t.of("context_compaction_needed").length, t.of("context_compressed").length);
  await t.gateway.ask("in time", { key: "webui:timed" });
  await until(
    "the run is over",
    () => t.of("schedule_run_changed").some(({ payload }) => payload.status === "completed"),
    20_000,
  );
  assert.deepEqual(
    t.of("schedule_run_changed").map(({ payload, session_key }) => [payload.status, session_key]),
    [
      ["started", "webui:timed"],
      ["completed", "webui:timed"],
    ],
  );
  await t.finish();
});

test("the same call again and again is told, and asked about; the answer is told too", async () => {
  await using t = await start((request) =>
    request.index < 3 ? { toolCalls: [lookAt(".", `call_${request.index}`)] } : { text: "I stop." },
  );
  const { api } = t;
  const asked = t.gateway.post("look around");
  await until("it asks", () => t.of("human_input_asked").length === 1);
  const [question] = t.of("human_input_asked");
  await api.answerQuestion({ sessionKey: "webui:test", requestId: question?.payload.request_id ?? "", answer: "deny" });
  assert.equal((await t.gateway.outcome(await asked)).response, "I stop.");
  assert.deepEqual(
    t.of("doom_loop_detected").map(({ payload }) => [payload.tool_name, payload.repeat_count]),
    [["list_dir", 3]],
  );
  assert.deepEqual(
    t.of("human_input_answered").map(({ payload }) => payload.outcome),
    ["answered"],
  );
  await t.finish();
});

test("a budget that is used up is told with its scope, limit and unit", async () => {
  await using t = await start({ text: "ok" }, { budgets: { session: { turns: 1 } } });
  await t.gateway.ask("one");
  assert.equal((await t.gateway.ask("two")).end, "failed");
  assert.deepEqual(
    t.of("budget_exceeded").map(({ payload: { scope, limit, unit } }) => [scope, limit, unit]),
    [["session", 1, "turns"]],
  );
  await t.finish();
});

// What a user may plug in

test("a sub-agent is told from its begin to its end, and a file for people until it is ready or is not", async () => {
  await using t = await start((request) => {
    const { userText } = request;
    if (userText.includes("[You are a sub-agent.")) return { text: "found" };
    if (userText.includes("[The sub-agent ")) return { text: "told" };
    const results = JSON.stringify(request.body.messages).split('"role":"tool"').length - 1;
    return (
      [
        { toolCalls: [{ id: "w", name: "write_file", input: { path: "a.txt", content: "hello" } }] },
        { toolCalls: [{ id: "f", name: "send_file", input: { path: "a.txt" } }] },
        { toolCalls: [{ id: "g", name: "send_file", input: { path: "." } }] },
        { toolCalls: [{ id: "s", name: "spawn", input: { action: "start", task: "find it" } }] },
      ][results] ?? { text: "started" }
    );
  });
  await t.gateway.ask("go");
  await t.gateway.waitForEvent(
    (event) => event.type === "assistant_message" && JSON.stringify(event.payload.content).includes("told"),
  );
  await t.gateway.waitForEvent(
    (event) =>
      event.type === "turn_execution_complete" && event.seq !== null && t.of("turn_execution_complete").length === 3,
  );
  assert.deepEqual(
    t.of("subagent_state_changed").map(({ session_key, payload: { from, to } }) => [session_key, from, to]),
    [
      ["webui:test", "none", "pending"],
      ["webui:test", "pending", "running"],
      ["webui:test", "running", "completed"],
    ],
  );
  const files = t.of("artifact_state_changed").map(({ payload }) => payload);
  assert.deepEqual(
    files.map(({ status, filename, size_bytes }) => [status, filename, size_bytes]),
    [
      ["created", "a.txt", undefined],
      ["ready", "a.txt", 5],
      ["created", "webui_test", undefined],
      ["failed", "webui_test", undefined],
    ],
  );
  assert.match(files[3]?.error ?? "", /is not a regular file/);
  await t.finish();
});

test("a machine of one's own runs for each agent from turn to turn, and its events are part of the turn", async () => {
  const counting: Machine<unknown> = {
    name: "turn counter",
    initial: 0,
    step(state, input) {
      if (input.kind !== "turn_ended") return [state, []];
      const used = Number(state) + 1;
      return [used, [{ type: "budget_exceeded", payload: { scope: "session", limit: 0, used, unit: "turns" } }]];
    },
  };
  const machines = [counting];
  await using t = await start({ text: "ok" }, {}, { machines });
  for (const [text, key] of [
    ["one", "webui:a"],
    ["two", "webui:b"],
    ["/help", "webui:a"],
    ["three", "webui:a"],
  ] as const)
    await t.gateway.ask(text, { key });
  const counts = t.of("budget_exceeded").map(({ session_key, payload }) => `${session_key} ${payload.used}`);
  assert.deepEqual(counts, ["webui:a 1", "webui:b 1", "webui:a 2", "webui:a 3"]);
  // What somebody plugs in is not a cause of ours.
  await t.finish();
});

test("a machine that throws is told once a turn, and changes nothing for the turn", async () => {
  const broken: Machine<unknown> = {
    name: "broken",
    initial: undefined,
    step(_state, input) {
      if (input.kind === "chunk") throw new Error("boom");
      return [undefined, []];
    },
  };
  const run = async (machines: readonly Machine<unknown>[]): Promise<readonly EventType[]> => {
    await using t = await start(
      [{ toolCalls: [lookAt(".", "a")] }, { text: "fine" }, { text: "again" }],
      {},
      { machines },
    );
    assert.equal((await t.gateway.ask("hi")).response, "fine");
    assert.equal((await t.gateway.ask("hi")).response, "again");
    assert.deepEqual(
      t.of("error_occurred").map(({ payload: { scope, recoverable }, source }) => [scope, recoverable, source]),
      machines.flatMap(() => [
        ["machine:broken", true, "agent"],
        ["machine:broken", true, "agent"],
      ]),
    );
    await t.finish();
    return typesOf(t.events.filter((event) => event.session_key === "webui:test" && event.type !== "error_occurred"));
  };
  assert.deepEqual(await run([broken]), await run([]));
});

test("a reactor that throws at every event undoes nothing and keeps nothing from the others", async () => {
  const broken: Reactor = {
    name: "broken",
    start(bus) {
      bus.onAny(
        () => {
          throw new Error("boom");
        },
        { priority: 10_000 },
      );
    },
    stop() {},
  };
  await using t = await start({ text: "fine" }, {}, { reactors: [broken] });
  assert.equal((await t.gateway.ask("hi")).response, "fine");
  assert.ok(t.gateway.log.lines.some(({ level, message }) => level === "error" && message === "A subscriber failed"));
  await t.finish();
});

// What is stored, and when

for (const persistDetail of [true, false])
  test(`with persistDetail ${persistDetail} the same is told, and what is not stored takes no place in the log`, async () => {
    await using t = await start([{ toolCalls: [lookAt(".", "a")] }, { text: "done" }], { events: { persistDetail } });
    await t.gateway.ask("look");
    const details = t.events.filter(({ type }) => type === "agent_state_changed" || type === "turn_iteration_start");
    assert.deepEqual(typesOf(details), [
      "agent_state_changed",
      "turn_iteration_start",
      "agent_state_changed",
      "agent_state_changed",
      "agent_state_changed",
      "turn_iteration_start",
      "agent_state_changed",
      "agent_state_changed",
    ]);
    assert.ok(details.every((event) => isStored(event) === persistDetail));
    await t.finish({ withoutDetail: !persistDetail });
  });

for (const persistThoughts of [true, false])
  test(`with persistThoughts ${persistThoughts} thinking is told, and ${persistThoughts ? "kept" : "nowhere on the disk"}`, async () => {
    await using t = await start({ thinking: ["deep ", "thought"], text: "answer" }, { events: { persistThoughts } });
    assert.equal((await t.gateway.ask("hm")).response, "answer");
    assert.deepEqual(
      t.of("thinking_delta").map(({ payload }) => payload.text),
      ["deep ", "thought"],
    );
    await t.finish();
    // Writes the session's document.
    await t.gateway.gateway[Symbol.asyncDispose]();
    const files = readdirSync(t.gateway.home, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const onDisk = files.map((file) => readFileSync(join(file.parentPath, file.name), "utf8"));
    assert.ok(onDisk.some((content) => content.includes('"answer"')));
    assert.equal(/deep thought/.test(onDisk.join()), persistThoughts);
  });

test("an append that fails tells nothing and takes no place; the turn goes on once there is room", {
  skip: withoutSmallDisk(),
}, async () => {
  const disk = await mkdtemp(join(tmpdir(), "maxclaw-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "maxclaw-test", disk], { stdio: "pipe" });
  try {
    const home = join(disk, "home");
    await mkdir(home);
    const asked = gate();
    const answer = gate();
    await using t = await start(
      async (request) => {
        if (request.index > 0) return { text: "small" };
        asked.open();
        await answer.opened;
        return { text: "x".repeat(3000) };
      },
      { reactors: { log: false } },
      { home },
    );
    const first = await t.gateway.post("hello");
    await asked.opened;
    const ballast = join(disk, "ballast");
    await writeFile(ballast, Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);
    const before = t.events.filter(isStored).length;
    await assert.rejects(t.gateway.post("y".repeat(100_000)), { code: "PERSISTENCE_FAILED", status: 503 });
    answer.open();
    await until("the turn could not be written", () =>
      t.gateway.log.lines.some(({ message }) => message.includes("could not be stored")),
    );
    assert.deepEqual(typesOf(t.events.filter(isStored).slice(before)), []);
    await rm(ballast);
    assert.equal((await t.gateway.outcome(first)).end, "complete");
    assert.equal((await t.gateway.ask("again")).response, "small");
    await t.finish();
  } finally {
    execFileSync("umount", ["-l", disk]);
    await rm(disk, { recursive: true, force: true });
  }
});

test("the sandbox tells the result of its trial, and a chat's terminal when it opens and ends", async () => {
  await using t = await start(
    [{ toolCalls: [{ id: "a", name: "exec", input: { command: "echo hi" } }] }, { text: "done" }],
    { agents: { defaults: { model: "openai/test-model", executionMode: "auto" } } },
  );
  assert.equal((await t.gateway.ask("say hi")).response, "done");
  await t.api.completeSession("webui:test");
  await until("the terminal is closed", () => t.of("environment_state_changed").length === 3);
  const [sandbox, opened, closed] = t.of("environment_state_changed");
  assert.equal(sandbox?.session_key, "system:local");
  assert.deepEqual([sandbox.payload.kind, sandbox.payload.from], ["sandbox", "starting"]);
  assert.match(sandbox.payload.to, /^(ready|failed)$/);
  assert.equal(opened?.session_key, "webui:test");
  const { environment_id } = opened.payload;
  assert.deepEqual(
    [opened.payload, closed?.payload],
    [
      { kind: "terminal", environment_id, from: "stopped", to: "ready", detail: "opened for a command" },
      { kind: "terminal", environment_id, from: "ready", to: "stopped", detail: "the session is completed" },
    ],
  );
  await t.finish();
});

// The whole catalogue

test("a log that was damaged tells so, once, behind what can be read of it", async () => {
  const setup = await start({ text: "ok" });
  const home = await tempHome();
  const key = "webui:test";
  try {
    await setup.gateway.ask("hello");
    await setup.finish();
    await setup.gateway.gateway[Symbol.asyncDispose]();
    cpSync(setup.gateway.home, home, { recursive: true });
    const path = join(home, "workspace", ".sessions", "webui_test.events.jsonl");
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0, 100, 140));
    const recorder = recordEvents();
    await using again = await startGateway({ home, reactors: [recorder], isRuled: false });
    assert.equal((await again.ask("and on")).response, "ok");
    const mended = recorder.events.filter(({ type }) => type === "session_log_mended");
    assert.deepEqual(
      mended.map(({ session_key, payload }) => [session_key, "lost" in payload ? payload.lost : undefined]),
      [[key, [{ from_seq: 1, to_seq: 1 }]]],
    );
    note(recorder.events);
  } finally {
    await setup[Symbol.asyncDispose]();
  }
});

/** What gateways ask each other; test/postgres/two-nodes.test.ts has several of them. */
const betweenNodes: ReadonlySet<EventType> = new Set(["node_asked", "node_answered"]);

test("every type is produced by its cause, or waits for a part that is named", (t) => {
  const waiting = Object.keys(waitingTypes) as EventType[];
  t.diagnostic(`${told.size} of ${eventTypes.length} types were told by the gateways of this file.`);
  for (const [type, what] of Object.entries(waitingTypes)) t.diagnostic(`waiting: ${type.padEnd(26)} for ${what}`);
  assert.deepEqual(
    waiting.filter((type) => told.has(type)),
    [],
    "these are told, and listed as waiting: take them off scripts/events-waiting.ts",
  );
  assert.deepEqual(
    waiting.filter((type) => madeTypes().has(type)),
    [],
    "these are made by the code, and listed as waiting: take them off the list and drive their cause here",
  );
  assert.deepEqual(
    eventTypes.filter((type) => !told.has(type) && !waiting.includes(type) && !betweenNodes.has(type)),
    [],
    "nothing here brought these forth",
  );
  const schema = z.fromJSONSchema(JSON.parse(readFileSync("docs/events.schema.generated.json", "utf8")));
  for (const event of [...told.values()].flat())
    assert.ok(schema.safeParse(event).success, `the JSON schema takes ${JSON.stringify(event)}`);
  assert.ok(
    [...internalTypes].some((type) => told.has(type)),
    "internal types reach reactors",
  );
});
