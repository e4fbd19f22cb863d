import assert from "node:assert/strict";
import { test } from "node:test";
import type { TurnPage } from "../../../../src/api/turns/turns-api.js";
import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import type { Step } from "../../../../src/events/folds/timeline/step.js";
import { type Timeline, toTimeline } from "../../../../src/events/folds/timeline/timeline.js";
import { silentLog } from "../../../../src/log.js";
import { logPaths } from "../../../../src/offline/events.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startWorld } from "../../../support/worlds/channels/chat-world.js";
import { startWithModel } from "../../../support/worlds/gateway.js";
import { cast, spawn } from "../../../support/worlds/tools/sub-agents.js";

type Kind = Step["kind"];
type StepOf<K extends Kind> = Extract<Step, { readonly kind: K }>;

function stepsOf<K extends Kind>({ steps }: Timeline, kind: K): readonly StepOf<K>[] {
  return steps.filter((step): step is StepOf<K> => step.kind === kind);
}

/** Everything begins within the turn, and nothing ends before it has begun. */
function assertInOrder({ steps, totalMs }: Timeline): void {
  let last = 0;
  for (const { atMs, endMs = atMs, id } of steps) {
    assert.ok(atMs >= last && endMs >= atMs && endMs <= totalMs, `${id}: ${last} ${atMs} ${endMs} ${totalMs}`);
    last = atMs;
  }
}

const key = "webui:test";

test("a turn with a tool is a wait, a model call, the tool and another model call, with words, tokens and cost", async () => {
  await using t = await startWithModel(
    ({ index }) =>
      index === 0
        ? {
            text: "Let me look.",
            toolCalls: [{ id: "a", name: "list_dir", input: { path: "." } }],
            usage: { input: 1000, output: 20, cacheRead: 300 },
          }
        : { text: "It is empty.", usage: { input: 1100, output: 10 } },
    { prices: { "test-model": { input: 10, output: 10, cacheRead: 0 } } },
  );
  await t.gateway.ask("What is in  the folder?");
  const page = (await (await fetch(`${t.url}/api/sessions/${key}/turns`)).json()) as TurnPage;
  const [turn] = page.turns;
  assert.equal(page.turns.length, 1);
  assert.equal(page.before, undefined);
  assert.deepEqual(
    [turn?.state, turn?.began.words, turn?.began.channel, turn?.began.origin],
    ["complete", "What is in the folder?", "webui", "message"],
  );
  assert.deepEqual([turn?.used.modelCalls, turn?.used.toolCalls, turn?.used.unpricedCalls], [2, 1, 0]);
  assert.equal(turn?.used.costUsd?.toFixed(4), "0.0213");

  const answer = await fetch(`${t.url}/api/sessions/${key}/turns/${turn?.turnId}/timeline`);
  const timeline = (await answer.json()) as Timeline;
  assert.deepEqual(timeline.turn, turn);
  assert.equal(timeline.details, "kept");
  assertInOrder(timeline);
  assert.deepEqual(
    timeline.steps.map(({ kind }) => kind),
    ["wait", "model", "tool", "model"],
  );
  const [wait] = stepsOf(timeline, "wait");
  assert.deepEqual([wait?.said, wait?.atMs], [{ text: "What is in  the folder?", isCut: false }, 0]);
  const [first, second] = stepsOf(timeline, "model");
  assert.deepEqual(
    [
      first?.model,
      first?.answer?.calls,
      first?.answer?.said.text,
      first?.isTimed,
      first?.restarts,
      first?.answer?.stopReason,
    ],
    ["openai/test-model", ["list_dir"], "Let me look.", true, 0, "tool_use"],
  );
  assert.deepEqual(
    [first?.used?.usage.input_tokens, first?.used?.usage.cache_read_tokens, first?.used?.costUsd],
    [1000, 300, 0.0102],
  );
  assert.ok(first?.firstMs !== undefined && first.firstMs >= first.atMs && first.firstMs <= (first.endMs ?? 0));
  assert.equal(second?.answer?.said.text, "It is empty.");
  const [tool] = stepsOf(timeline, "tool");
  assert.deepEqual([tool?.name, tool?.isError, tool?.summary], ["list_dir", false, "listed . (0 entries)"]);
  assert.match(tool?.input.text ?? "", /"path": "\."/);
  assert.match(tool?.output?.text ?? "", /\(empty\)/);
  // The event has the whole of what is cut here.
  const events = await t.gateway.events();
  const typeOf = (wanted: number | undefined) => events.find(({ seq }) => seq === wanted)?.type;
  assert.equal(typeOf(tool?.seq), "tool_execution_start");
  assert.equal(typeOf(tool?.resultSeq), "tool_execution_complete");
  assert.equal(typeOf(first?.answer?.seq), "assistant_message");
});

test("an answer that breaks off, calls that fail and a turn that fails say so", async () => {
  await using t = await startWithModel(
    ({ index }) => {
      if (index === 0) return { status: 503, body: { error: { message: "busy" } } };
      if (index === 1) return { text: ["Half of ", "an ans", "wer"], cutAfter: 3 };
      return index === 2 ? { text: "Whole." } : { status: 401, body: { error: { message: "no such key" } } };
    },
    {},
    { modelRetryMs: 1 },
  );
  await t.gateway.ask("first");
  await t.gateway.ask("second");
  const { turns } = await t.api.listTurns(key, { limit: 10 });
  assert.deepEqual(
    turns.map(({ began, state }) => [began.words, state]),
    [
      ["second", "failed"],
      ["first", "complete"],
    ],
  );
  assert.ok((turns[0]?.failure ?? "") !== "");
  const first = await t.api.timeline(key, turns[1]?.turnId ?? "");
  assertInOrder(first);
  assert.equal(stepsOf(first, "model").length, 1);
  assert.ok((stepsOf(first, "model")[0]?.restarts ?? 0) >= 1, "the answer that broke off");
  assert.equal(stepsOf(first, "error").length, 2, "each failed call");
  const second = await t.api.timeline(key, turns[0]?.turnId ?? "");
  assert.deepEqual(
    stepsOf(second, "error").map(({ detail }) => detail),
    [turns[0]?.failure],
  );
});

test("a question with who answered it, and each reply on its way to the platform, are in the turn on a channel", async () => {
  await using w = await startWorld(
    ({ index }) =>
      index === 0
        ? { toolCalls: [{ id: "a", name: "exec", input: { command: "sh run.sh" } }] }
        : { text: "It is done." },
    { config: { tools: { exec: { sandbox: "off" } } } },
  );
  w.say(1, "Clean up");
  await w.shown("May I run sh run.sh");
  w.say(1, "/approve");
  await w.shown("It is done.");
  const { api } = w.gateway.gateway;
  await until("the reply has its receipt", async () => {
    const [turn] = (await api.listTurns("telegram:1", { limit: 1 })).turns;
    const { steps } = await api.timeline("telegram:1", turn?.turnId ?? "");
    return steps.findLast(({ kind }) => kind === "delivery")?.endMs !== undefined;
  });
  const { turns } = await api.listTurns("telegram:1", { limit: 10 });
  const timeline = await api.timeline("telegram:1", turns[0]?.turnId ?? "");
  assertInOrder(timeline);
  const [question] = stepsOf(timeline, "question");
  assert.deepEqual(
    [question?.about, question?.toolName, question?.outcome, question?.responder],
    ["permission", "exec", "answered", "telegram:1"],
  );
  assert.ok((question?.endMs ?? -1) >= (question?.atMs ?? 0));
  const deliveries = stepsOf(timeline, "delivery");
  const last = deliveries.at(-1);
  assert.deepEqual(
    [last?.channel, last?.chatId, last?.status, last?.said?.text],
    ["telegram", "1", "sent", "It is done."],
  );
  assert.deepEqual(
    last?.changes.map(({ status }) => status),
    ["queued", "sending", "sent"],
  );
  assert.match(last?.receipt ?? "", /\d/);
});

test("a sub-agent is a step with a conversation of its own, whose turns are timelines too; its result begins a turn", async () => {
  await using t = await startWithModel(
    cast({
      parent: (_, done) =>
        done === 0
          ? { toolCalls: [spawn({ action: "start", task: "Find it.", label: "finder" })] }
          : { text: "A helper looks." },
      child: () => ({ text: "It is 42." }),
      told: () => ({ text: "My helper says 42." }),
    }),
  );
  await t.gateway.ask("What is it?");
  await t.gateway.waitForEvent(
    (event) => event.type === "assistant_message" && JSON.stringify(event.payload.content).includes("My helper says"),
  );
  const { turns } = await t.api.listTurns(key, { limit: 10 });
  const [told, asked] = turns;
  assert.deepEqual([told?.began.origin, asked?.began.origin], ["result", "message"]);
  const timeline = await t.api.timeline(key, asked?.turnId ?? "");
  assertInOrder(timeline);
  const [agent] = stepsOf(timeline, "agent");
  assert.deepEqual([agent?.label, agent?.state, agent?.summary], ["finder", "completed", "It is 42."]);
  const own = await t.api.listTurns(agent?.sessionKey ?? "", { limit: 10 });
  const nested = await t.api.timeline(agent?.sessionKey ?? "", own.turns[0]?.turnId ?? "");
  assert.equal(stepsOf(nested, "model")[0]?.answer?.said.text, "It is 42.");
});

test("turns come in pages without gaps or repeats, also over several thousand events", async () => {
  await using t = await startWithModel({ text: "ok" });
  const asked = Array.from({ length: 130 }, (_, index) => `message ${index}`);
  for (const text of asked) await t.gateway.ask(text);
  const found: string[] = [];
  let before: number | undefined;
  do {
    const page = await t.api.listTurns(key, { limit: 40, before });
    found.push(...page.turns.map(({ began }) => began.words));
    before = page.before;
  } while (before !== undefined);
  assert.deepEqual(found, asked.toReversed());
  const { turns } = await t.api.listTurns(key, { limit: 100 });
  const oldest = (await t.api.listTurns(key, { limit: 100, before: turns.at(-1)?.firstSeq })).turns.at(-1);
  const timeline = await t.api.timeline(key, oldest?.turnId ?? "");
  assert.deepEqual(
    timeline.steps.map(({ kind }) => kind),
    ["wait", "model"],
  );
});

test("without details a timeline says so, and takes the begins of model calls from what came before", async () => {
  await using t = await startWithModel({ text: "ok" }, { events: { persistDetail: false } });
  await t.gateway.ask("hello");
  const { turns } = await t.api.listTurns(key, { limit: 1 });
  const timeline = await t.api.timeline(key, turns[0]?.turnId ?? "");
  assert.equal(timeline.details, "never");
  assertInOrder(timeline);
  const [call] = stepsOf(timeline, "model");
  assert.deepEqual([call?.isTimed, call?.firstMs, call?.answer?.said.text], [false, undefined, "ok"]);
});

test("a turn whose details have left the log says so, and still has its steps", async () => {
  await using t = await startWithModel(({ index }) =>
    index === 0 ? { toolCalls: [{ id: "a", name: "list_dir", input: { path: "." } }] } : { text: "ok" },
  );
  await t.gateway.ask("hello");
  await t.gateway.gateway.drain(0);
  await t.gateway.gateway[Symbol.asyncDispose]();
  const { home, workspace } = t.gateway;
  const logPath = logPaths({ home, workspace });
  await using engine = await openEmbeddedEngine({
    home,
    logs: { pathOf: logPath, all: () => [logPath(key)] },
    publish: () => {},
    instanceId: "gw_test",
    log: silentLog,
  });
  const range = { sinceMs: 0, beforeMs: Date.now() + 86_400_000 };
  assert.equal((await engine.thinLogs(range, new AbortController().signal)).failed, 0);
  const { events } = await engine.events(key, { afterSeq: 0, limit: 1000 });
  const timeline = toTimeline(events, events.find(({ turn_id }) => turn_id !== undefined)?.turn_id ?? "");
  assert.ok(timeline !== undefined);
  assert.equal(timeline.details, "dropped");
  assertInOrder(timeline);
  assert.deepEqual(
    timeline.steps.map(({ kind }) => kind),
    ["wait", "model", "tool", "model"],
  );
  assert.ok(stepsOf(timeline, "model").every(({ isTimed, endMs }) => !isTimed && endMs !== undefined));
});

test("a turn is played again and is the same; one that failed is refused with the reason; nothing is asked or written", async () => {
  await using t = await startWithModel(({ index }) =>
    index === 0
      ? { toolCalls: [{ id: "a", name: "list_dir", input: { path: "." } }] }
      : index === 1
        ? { text: "Empty." }
        : { status: 401, body: { error: { message: "no such key" } } },
  );
  await t.gateway.ask("look");
  await t.gateway.ask("again");
  const { turns } = await t.api.listTurns(key, { limit: 10 });
  const before = await t.gateway.events();
  const post = (id: string | undefined) => fetch(`${t.url}/api/sessions/${key}/turns/${id}/replay`, { method: "POST" });
  const good = (await (await post(turns[1]?.turnId)).json()) as unknown;
  assert.deepEqual(good, { events: good && (good as { events: number }).events, isSame: true });
  const bad = await post(turns[0]?.turnId);
  assert.equal(bad.status, 409);
  assert.match(((await bad.json()) as { error: string }).error, /failed .*there is no whole answer to play again/);
  assert.equal((await post("turn_00000000000000000000")).status, 404);
  assert.equal(t.model.requests.length, 3);
  assert.deepEqual(await t.gateway.events(), before);
});

test("a turn in which a person was asked is not played again, and it is said in plain words", async () => {
  await using t = await startWithModel(({ index }) =>
    index === 0
      ? { toolCalls: [{ id: "a", name: "ask_human", input: { question: "Which one?", options: ["red", "blue"] } }] }
      : { text: "Red." },
  );
  const { messageId } = await t.api.send({ sessionKey: key, content: "paint it" });
  await until("it is asked", () => t.api.listQuestions().length === 1);
  const requestId = t.api.listQuestions()[0]?.requestId ?? "";
  await t.api.answerQuestion({ sessionKey: key, requestId, answer: "red" });
  await t.api.waitForTurn(key, messageId, new AbortController().signal);
  const [turn] = (await t.api.listTurns(key, { limit: 1 })).turns;
  await assert.rejects(
    t.api.replayTurn(key, turn?.turnId ?? ""),
    /^RequestError: In turn_\w+ a person was asked something\. A turn that waited for people cannot be played again\.$/,
  );
});

test("a turn that is not in a session is 404, and so is a session that is not there", async () => {
  await using t = await startWithModel({ text: "ok" });
  await t.gateway.ask("hello");
  const [turn] = (await t.api.listTurns(key, { limit: 1 })).turns;
  const status = async (path: string): Promise<number> => (await fetch(`${t.url}/api/sessions/${path}`)).status;
  assert.equal(await status(`${key}/turns/turn_00000000000000000000/timeline`), 404);
  assert.equal(await status(`webui:other/turns/${turn?.turnId}/timeline`), 404);
  assert.equal(await status("webui:other/turns"), 404);
  assert.equal(await status("webui:other/context"), 404);
  assert.equal(await status(`${key}/turns?limit=0`), 400);
});

test("what a conversation takes of the context is measured, by what fills it, and grows with it", async () => {
  await using t = await startWithModel(
    { text: "ok ".repeat(500) },
    { agents: { defaults: { model: "openai/test-model", contextWindow: 50_000 } } },
  );
  await t.gateway.ask("hello");
  const first = await t.api.contextUse(key);
  await t.gateway.ask("again");
  const second = await t.api.contextUse(key);
  const sum = Object.values(second.parts).reduce((all, tokens) => all + tokens, 0);
  assert.equal(sum, second.used);
  assert.ok(second.parts.history > first.parts.history + 100, `${first.parts.history} ${second.parts.history}`);
  assert.ok(second.parts.tools > second.parts.instructions && second.parts.instructions > 20);
  assert.ok(second.limit <= 50_000 && second.compactAt < second.limit && second.used < second.compactAt);
  assert.deepEqual([second.model, second.messages], ["openai/test-model", 4]);
});

test("a turn that runs has a call without an end; one whose begin is not among the events is not made up", async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using t = await startWithModel(async () => {
    await held;
    return { text: "ok" };
  });
  const id = await t.gateway.post("hello");
  await t.gateway.waitForEvent(({ type }) => type === "turn_iteration_start");
  const [turn] = (await t.api.listTurns(key, { limit: 1 })).turns;
  assert.equal(turn?.state, "running");
  const timeline = await t.api.timeline(key, turn?.turnId ?? "");
  assert.equal(stepsOf(timeline, "model")[0]?.endMs, undefined);
  release();
  await t.gateway.outcome(id);
  const events = await t.gateway.events();
  assert.equal(toTimeline(events.slice(3), turn?.turnId ?? ""), undefined);
});
