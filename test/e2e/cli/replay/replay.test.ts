import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { StoredEvent } from "../../../../src/events/event.js";
import { toSameDraft } from "../../../../src/events/event.js";
import { type Difference, firstDifference } from "../../../../src/replay/compare.js";
import { findTurn } from "../../../../src/replay/find-turn.js";
import { readRecordedTurn } from "../../../../src/replay/recorded-turn.js";
import { replayTurn, seqOffset } from "../../../../src/replay/replay-turn.js";
import { createSessionFiles } from "../../../../src/sessions/file-names.js";
import { gate, openIn, tempFolder, until } from "../../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { openCli } from "../../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../../support/worlds/cli-gateway.js";
import { startWithModel, type TestGateway } from "../../../support/worlds/gateway.js";
import { cast, children, eventsOf, resultsOf, startOne } from "../../../support/worlds/tools/sub-agents.js";

async function replay(home: string, sessionsDir: string, turnId: string): Promise<Difference | undefined> {
  const found = await findTurn(home, sessionsDir, turnId);
  assert.ok(found !== undefined, `${turnId} is found`);
  const turn = readRecordedTurn(found, turnId);
  return firstDifference(turn.events, await replayTurn(turn), seqOffset(turn.before));
}

const turnsOf = (events: readonly StoredEvent[]): readonly string[] => [
  ...new Set(events.flatMap(({ turn_id }) => turn_id ?? [])),
];

/** Runs each turn of a session again while the gateway is at work; resolves with how many there were. */
async function replayAll({ home, workspace, ...gateway }: TestGateway, key?: string): Promise<number> {
  const turns = turnsOf(await gateway.events(key));
  for (const turnId of turns)
    assert.equal(await replay(home, join(workspace, ".sessions"), turnId), undefined, `${turnId} of ${turns.length}`);
  return turns.length;
}

const call = (id: string, name: string, input: object) => ({ id, name, input });

test("turns with tools, thoughts, skills, commands and odd answers come out the same when they are run again", async () => {
  await using t = await startWithModel([
    { text: "Hello!" },
    {
      thinking: "Hm.",
      text: "Let me look.",
      toolCalls: [call("a", "list_dir", { path: "." }), call("b", "read_file", { path: "no" })],
    },
    {
      toolCalls: [call("c", "write_file", { path: "n.txt", content: "x" }), call("c2", "read_file", { path: "n.txt" })],
    },
    { toolCalls: [{ id: "d", name: "read_fil", jsonPieces: ['{"path": "no', "tes"] }] },
    { text: "Done." },
    {},
    { text: " \n" },
    { stopReason: "refusal" },
    { text: "a long ans", stopReason: "max_tokens" },
    { text: "with skill" },
    { text: "with the same skill" },
    { text: "last" },
  ]);
  await mkdir(join(t.gateway.workspace, "skills"), { recursive: true });
  await writeFile(join(t.gateway.workspace, "skills", "tea.md"), "---\ndescription: tea\n---\nBoil <water> first.\n");
  for (const text of [
    "hello",
    "work",
    "say nothing",
    "say blanks",
    "refuse",
    "be long",
    "$tea please",
    "$tea again, and @skill:none-such",
  ])
    await t.gateway.ask(text);
  for (const text of ["/help", "/status", "/undo", "/undo", "/new", "/undo", "/stop"]) await t.gateway.ask(text);
  await t.gateway.ask("after all that");
  assert.equal(await replayAll(t.gateway), 16);
  await using again = await t.gateway.restart();
  await again.gateway.api.completeSession("webui:test");
  await again.ask("/new");
  assert.equal(await replayAll(again), 17);
});

test("what was added in mid-turn joins again where it did, and the limit of calls is the recorded one", async () => {
  const held = gate();
  await using t = await startWithModel(
    async ({ index }) => {
      if (index === 0) await held.opened;
      return { toolCalls: [call(`call_${index}`, "list_dir", { path: ".", depth: (index % 5) + 1 })] };
    },
    { agents: { defaults: { model: "openai/test-model", maxToolIterations: 3 } } },
  );
  const first = await t.gateway.post("first");
  await t.model.waitForRequests(1);
  const second = await t.gateway.post("and this");
  held.open();
  await t.gateway.outcome(first);
  await t.gateway.outcome(second);
  assert.equal(await replayAll(t.gateway), 1);
  const fork = await t.gateway.gateway.api.forkSession("webui:test", undefined);
  assert.equal(await replayAll(t.gateway, fork.key), 1, "its copy has ids of its own, and is found by them");
});

test("turns of a chat platform come out the same, also without details, split replies and in a second life", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const long = `Start\n\n\`\`\`js\n${"let x = 1;\n".repeat(600)}\`\`\`\nEnd`;
  const answers = [{ text: "old" }, { text: "ok" }, { text: long }, { text: "cut", stopReason: "max_tokens" as const }];
  await using t = await startWithModel(answers, { channels, events: { persistDetail: false } });
  const say = async (text: string, count: number): Promise<void> => {
    telegram.pushText({ chatId: -7, userId: 2, name: "Ann", text, replyTo: { messageId: 1, fromBot: true } });
    await telegram.waitForSent(count);
  };
  await say("old", 1);
  await t.gateway.gateway.api.deleteSession("telegram:-7");
  await say("hi", 2);
  await say("long", 4);
  await say("cut", telegram.sent.length + 1);
  await say("/undo", telegram.sent.length + 1);
  assert.equal(await replayAll(t.gateway, "telegram:-7"), 4);
});

test("what came out otherwise is shown: the first event, field by field", async (t) => {
  await using s = await startWithModel([{ toolCalls: [call("a", "list_dir", { path: "." })] }, { text: "Done." }]);
  await s.gateway.ask("work");
  const events = await s.gateway.events();
  const [turnId = ""] = turnsOf(events);
  /** The same log as another program would have written it. */
  const tamper = async (change: (event: StoredEvent) => readonly StoredEvent[]): Promise<Difference | undefined> => {
    const home = tempFolder(t);
    const { engine } = await openIn(home);
    await engine.append("webui:test", events.flatMap(change).map(toSameDraft), { durable: true });
    await engine[Symbol.asyncDispose]();
    return await replay(home, join(home, "sessions"), turnId);
  };
  assert.equal(await tamper((event) => [event]), undefined);

  const counted = await tamper((event) =>
    event.type === "turn_execution_complete" ? [{ ...event, payload: { ...event.payload, iterations: 7 } }] : [event],
  );
  assert.deepEqual(counted?.fields, [{ path: "payload.iterations", recorded: 7, replayed: 2 }]);
  assert.equal(counted?.recorded?.seq, events.length);

  const missing = await tamper((event) =>
    event.type === "agent_state_changed" && event.payload.to === "responding" ? [] : [event],
  );
  assert.equal(missing?.replayed?.type, "agent_state_changed");
  assert.equal(missing?.fields[0]?.path, "type");

  const doubled = await tamper((event) =>
    event.type === "tool_execution_start" ? [event, { ...event, event_id: "evt_again" }] : [event],
  );
  assert.deepEqual([doubled?.recorded?.type, doubled?.replayed?.type], ["tool_execution_start", "agent_state_changed"]);

  const mixedUp = await tamper((event) =>
    event.type === "turn_execution_complete"
      ? [{ ...event, payload: { ...event.payload, message_id: events[0]?.event_id ?? "" } }]
      : [event],
  );
  assert.equal(mixedUp?.fields[0]?.path, "payload.message_id", "ids are equal only in the same place");
});

test("what cannot be run again is refused with the reason", async () => {
  await using t = await startWithModel(({ userText, index }) => {
    if (userText.endsWith("stop me")) return { text: ["partial"], hang: "middle" };
    if (userText.endsWith("fail")) return { status: 400 };
    if (userText.endsWith("again") && index === 2) return { status: 500 };
    return { text: "ok" };
  });
  const { home, workspace } = t.gateway;
  const refusal = async (key: string): Promise<string> => {
    const [turnId = ""] = turnsOf(await t.gateway.events(key));
    return await replay(home, join(workspace, ".sessions"), turnId).then(
      () => "",
      (error: Error) => error.message,
    );
  };
  const stopped = await t.gateway.post("stop me", { key: "webui:stopped" });
  await t.gateway.waitForEvent((event) => event.type === "text_delta", "webui:stopped");
  assert.match(await refusal("webui:stopped"), /is not over/);
  await t.gateway.ask("/stop", { key: "webui:stopped" });
  await t.gateway.outcome(stopped, "webui:stopped");
  assert.match(await refusal("webui:stopped"), /was interrupted \(user_interrupt, stop\)/);
  await t.gateway.ask("fail", { key: "webui:failed" });
  assert.match(await refusal("webui:failed"), /failed \(VALIDATION_ERROR\)/);
  await t.gateway.ask("again", { key: "webui:retried" });
  assert.match(await refusal("webui:retried"), /had to ask the model again after a failure/);
  assert.equal(await findTurn(home, join(workspace, ".sessions"), "turn_none"), undefined);
  assert.equal(await findTurn(join(home, "nowhere"), join(home, "nowhere"), "turn_none"), undefined);
});

test("a turn whose log is damaged before its end is refused, with the place", async () => {
  await using t = await startWithModel({ text: "ok" });
  await t.gateway.ask("one");
  await t.gateway.ask("two");
  const [first = "", second = ""] = turnsOf(await t.gateway.events());
  await t.gateway.gateway.drain(0);
  await t.gateway.gateway[Symbol.asyncDispose]();
  const dir = join(t.gateway.workspace, ".sessions");
  const path = join(dir, "webui_test.events.jsonl");
  const lines = (await readFile(path, "utf8")).split("\n");
  const change = async (seq: number): Promise<void> =>
    writeFile(
      path,
      lines.map((line, index) => (index === seq - 1 ? line.replace("timestamp", "timestump") : line)).join("\n"),
    );
  await change(4);
  for (const turnId of [first, second])
    await assert.rejects(replay(t.gateway.home, dir, turnId), /webui:test lacks events before 5/);
  await change(16);
  assert.equal(await replay(t.gateway.home, dir, first), undefined);
  await assert.rejects(replay(t.gateway.home, dir, second), /lacks events before 17/);
});

test("the command says what it found, beside a gateway that runs and without one", async () => {
  await using cli = await openCli();
  await using model = await withModel(cli, { text: "Noted." });
  const gateway = await startCliGateway(cli);
  await cli.run(["agent", "-m", "remember the milk"]);
  const answer = await fetch(`${gateway.url}/api/sessions/cli:default/events`);
  const { events } = (await answer.json()) as { readonly events: readonly StoredEvent[] };
  const [turnId = ""] = turnsOf(events);
  await model[Symbol.asyncDispose]();

  const same = await cli.run(["replay", turnId]);
  assert.deepEqual(
    [same.code, same.stdout, same.stderr],
    [0, `${turnId} in cli:default: ${events.length - 1} events, the same as recorded.\n`, ""],
  );
  gateway.child.kill("SIGTERM");
  await gateway.result;
  const json = await cli.run(["replay", turnId, "--json"]);
  const about = { turn_id: turnId, session_key: "cli:default", events: events.length - 1 };
  assert.deepEqual([json.code, JSON.parse(json.stdout)], [0, { ...about, equal: true }]);

  const otherTurn = "turn_00000000000000000000";
  const files = createSessionFiles(join(cli.home, "workspace", ".sessions"));
  const { engine } = await openIn(cli.home, { logs: { pathOf: files.logPath } });
  const drafts = events.map((event): StoredEvent => {
    const moved = event.turn_id === undefined ? event : { ...event, turn_id: otherTurn };
    if (moved.type !== "turn_execution_complete") return moved;
    return { ...moved, payload: { ...moved.payload, usage: { ...moved.payload.usage, output_tokens: 99 } } };
  });
  await engine.append("cli:other", drafts.map(toSameDraft), { durable: true });
  await engine[Symbol.asyncDispose]();
  const differs = await cli.run(["replay", otherTurn]);
  assert.equal(differs.code, 1);
  assert.equal(
    differs.stdout,
    [
      `${otherTurn} in cli:other differs from its record at event ${events.length - 1} of ${events.length - 1} (seq ${events.length}, turn_execution_complete)`,
      "  payload.usage.output_tokens",
      "    recorded  99",
      "    now       5",
      "",
    ].join("\n"),
  );
  const unknown = await cli.run(["replay", "turn_none"]);
  assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /^maxclaw: No session's log contains the turn turn_none/);
});

test("a turn before which older messages were summarised comes out the same", async () => {
  await using t = await startWithModel(
    ({ bodyText }) => ({
      text: bodyText.includes("memory of a long chat") ? "- they talked" : "word ".repeat(200),
      usage: false,
    }),
    { agents: { defaults: { model: "openai/test-model", contextWindow: 4000, maxTokens: 500 } } },
  );
  for (let n = 0; n < 10; n++) await t.gateway.ask(`message ${n}`);
  assert.ok((await t.gateway.events()).some(({ type }) => type === "context_compressed"));
  assert.equal(await replayAll(t.gateway), 10);
});

test("turns that send messages, start sub-agents and hear about them come out the same, on the page and in a chat", async () => {
  const telegram = await startFakeTelegram({ token: "4242:send" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using t = await startWithModel(
    cast({
      parent: (_, count) =>
        count === 0
          ? { toolCalls: [call("a", "message", { text: "at once" })] }
          : count === 1
            ? startOne("find it")
            : { text: "Started." },
      child: () => ({ text: "found" }),
      told: () => ({ text: "I was told." }),
    }),
    { channels },
  );
  try {
    for (const key of ["webui:test", "telegram:7"]) {
      if (key === "webui:test") await t.gateway.ask("go");
      else telegram.pushText({ chatId: 7, userId: 7, text: "go" });
      await until(`${key} is at rest`, async () => {
        const events = await eventsOf(t.gateway, key);
        const [result] = resultsOf(events);
        return (
          result?.type === "user_message_queued" &&
          events.some(
            (event) =>
              event.type === "turn_execution_complete" && event.payload.message_ids.includes(result.payload.message_id),
          )
        );
      });
      assert.ok((await replayAll(t.gateway, key)) >= 1);
      const child = (await children(t.gateway)).find((each) => each.startsWith(key));
      assert.equal(await replayAll(t.gateway, child), 1);
    }
  } finally {
    await telegram.stop();
  }
});

test("turns that make and carry out a plan come out the same, in a chat too", async () => {
  const telegram = await startFakeTelegram({ token: "4242:plan" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const turns = [
    { toolCalls: [call("a", "plan", { action: "create", goal: "g", steps: ["Pack", "Go"] })] },
    { text: "Shall I?" },
    {
      toolCalls: [
        call("b", "plan", { action: "complete", text: "packed" }),
        call("c", "plan", { action: "complete", step: "7" }),
        call("d", "plan", { action: "reflect", text: "rain", adjust: [{ step: "2", text: "Go by bus" }] }),
      ],
    },
    { text: "One is left." },
  ];
  await using t = await startWithModel([...turns, ...turns], { channels });
  try {
    await t.gateway.ask("/plan A walk");
    await t.gateway.ask("/plan go");
    for (const command of ["/plan", "/plan pause", "/plan nothing", "/skills", "/cron", "/pair"])
      await t.gateway.ask(command);
    assert.equal(await replayAll(t.gateway), 8);
    const say = async (text: string, count: number): Promise<unknown> => {
      telegram.pushText({ chatId: 7, userId: 7, text });
      return await telegram.waitForSent(count);
    };
    await say("/plan A walk", 2);
    await say("/plan go", 5);
    assert.equal(await replayAll(t.gateway, "telegram:7"), 2);
  } finally {
    await telegram.stop();
  }
});
