import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { UsageReport, UsageRow } from "../../../src/budgets/report.js";
import { openEmbeddedEngine } from "../../../src/engine/embedded/open.js";
import { addUsage, noUsage, type Usage } from "../../../src/events/content.js";
import { draft, type StoredEvent } from "../../../src/events/event.js";
import { silentLog } from "../../../src/log.js";
import { createSessionFiles } from "../../../src/sessions/file-names.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeAnthropic } from "../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createSnapshots } from "../../support/rules/snapshots.js";
import {
  assertSound,
  openAIConfig,
  startGateway,
  startWithModel,
  type TestGateway,
  tempHome,
} from "../../support/worlds/gateway.js";
import type { AnswerScript, RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";

/** A model that fails is asked again at once. */
const start = (answer: AnswerScript, more: Record<string, unknown> = {}) =>
  startWithModel(answer, more, { modelRetryMs: 1 });

/** Another depth is another call: the same one again and again is asked about. */
const look = (id: string, depth = 0) => ({
  toolCalls: [{ id, name: "list_dir", input: { path: ".", depth: (depth % 5) + 1 } }],
});
/** Each answer costs 25,000 tokens and $0.04. */
const prices = { "test-model": { input: 1, output: 4 } };
const usage = { input: 20_000, output: 5000 };

function exceededIn(events: readonly StoredEvent[]) {
  return events.flatMap((event) => (event.type === "budget_exceeded" ? [event.payload] : []));
}

function answersIn(events: readonly StoredEvent[]) {
  return events.flatMap((event) => (event.type === "assistant_message" ? [event.payload] : []));
}

/** What the events of these sessions say was used: answers, tokens and money. */
async function sumOf(gateway: TestGateway, keys: readonly string[]) {
  let sum = { usage: noUsage, costUsd: 0, turns: 0 };
  for (const key of keys)
    for (const event of await gateway.events(key)) {
      if (event.type === "user_message" && event.payload.iteration === 1) sum = { ...sum, turns: sum.turns + 1 };
      if (event.type !== "assistant_message") continue;
      const { usage, cost_usd: cost = 0 } = event.payload;
      sum = { ...sum, usage: addUsage(sum.usage, usage), costUsd: sum.costUsd + cost };
    }
  return sum;
}

function assertSame(report: UsageReport, sum: Awaited<ReturnType<typeof sumOf>>, where = ""): void {
  assert.deepEqual([report.total.usage, report.total.turns], [sum.usage, sum.turns], where);
  assert.ok(Math.abs(report.total.costUsd - sum.costUsd) < 1e-9, where);
  for (const by of ["models", "senders"] as const) {
    const rows: readonly { readonly usage: Usage }[] = report.days.flatMap((day): readonly UsageRow[] => day[by]);
    assert.deepEqual(
      rows.reduce((total, row) => addUsage(total, row.usage), noUsage),
      sum.usage,
      `${where} ${by}`,
    );
  }
}

for (const [what, budgets, sentence, exceeded] of [
  [
    "turns of a session",
    { session: { turns: 2 } },
    /The budget of this conversation is used up: 2 turns of 2 turns\. \/new begins a fresh one\./,
    { scope: "session", limit: 2, used: 2, unit: "turns" },
  ],
  [
    "money of a session",
    { session: { usd: 0.08 } },
    /conversation is used up: \$0\.08 of \$0\.08/,
    { scope: "session", limit: 0.08, used: 0.08, unit: "usd" },
  ],
  [
    "turns of a sender",
    { sender: { turns: 2 } },
    /Your budget for today is used up: 2 turns of 2 turns\. It starts again at midnight \(Asia\/Tokyo\)\./,
    { scope: "sender", limit: 2, used: 2, unit: "turns", subject: "webui:owner" },
  ],
  [
    "tokens of a day",
    { day: { tokens: 50_000 } },
    /The budget of this assistant for today is used up: 50,000 tokens of 50,000 tokens\./,
    { scope: "day", limit: 50_000, used: 50_000, unit: "tokens" },
  ],
] as const)
  test(`${what}: refused before anything is spent, told once`, async () => {
    const agents = { defaults: { model: "openai/test-model", timezone: "Asia/Tokyo" } };
    await using t = await start({ text: "ok", usage }, { budgets, prices, agents });
    assert.equal((await t.gateway.ask("one")).response, "ok");
    assert.equal((await t.gateway.ask("two")).response, "ok");
    const refused = await t.gateway.ask("three");
    assert.equal(refused.end, "failed");
    assert.match(refused.response, sentence);
    assert.equal((await t.gateway.ask("four")).end, "failed");
    assert.equal(t.model.requests.length, 2, "nothing was sent");
    const events = await t.gateway.events();
    assertSound(events);
    const [told, ...again] = exceededIn(events);
    assert.deepEqual(again, []);
    const { period, ...rest } = told ?? {};
    assert.deepEqual(rest, exceeded);
    assert.equal(period === undefined, exceeded.scope === "session");
    const failed = events.flatMap((event) => (event.type === "turn_execution_failed" ? [event.payload] : []));
    assert.deepEqual(
      failed.map(({ code, category }) => `${code} ${category}`),
      ["BUDGET_EXCEEDED runtime", "BUDGET_EXCEEDED runtime"],
    );
    const inContext = events.filter((event) => event.type === "user_message");
    assert.equal(inContext.length, 2, "what was refused does not enter the context");
    assert.equal((await t.gateway.gateway.api.ledger()).filter(({ end }) => end === "failed").length, 2);
  });

test("/new begins a fresh conversation with a fresh budget, commands are free, and the past is not forgotten", async () => {
  await using t = await start({ text: "ok", usage }, { budgets: { session: { turns: 1 } } });
  await t.gateway.ask("one");
  assert.equal((await t.gateway.ask("two")).end, "failed");
  await t.gateway.ask("/usage");
  await t.gateway.ask("/new");
  assert.equal((await t.gateway.ask("three")).response, "ok");
  assert.equal((await t.gateway.ask("four")).end, "failed");
  assert.equal(exceededIn(await t.gateway.events()).length, 2, "told once in each conversation");
  const of = await t.gateway.gateway.api.sessionUsage("webui:test");
  assert.deepEqual(
    [of.usage.input_tokens, of.conversation.usage.input_tokens, of.conversation.turns],
    [40_000, 20_000, 1],
  );
  assert.deepEqual(of.budgets, [{ scope: "session", unit: "turns", limit: 1, used: 1 }]);
});

test("a turn that grows too dear ends before its next call, with what its tools have done", async () => {
  await using t = await start((request) => ({ ...look(`call_${request.index}`, request.index), usage }), {
    budgets: { turn: { tokens: 60_000 } },
  });
  const outcome = await t.gateway.ask("look for ever");
  assert.match(
    outcome.response,
    /The budget for one answer is not enough to go on: 50,000 tokens of 60,000 tokens are used|is used up/,
  );
  const events = await t.gateway.events();
  assertSound(events);
  const results = events.filter((event) => event.type === "tool_execution_complete").length;
  assert.equal(results, t.model.requests.length, "each call that was asked for has its result");
  const [told] = exceededIn(events);
  assert.deepEqual([told?.scope, told?.unit], ["turn", "tokens"]);
  await t.gateway.ask("again");
  assert.equal(exceededIn(await t.gateway.events()).length, 2, "each turn is a period of its own");
});

test("a prompt that alone would pass the limit is not sent, and what it needs is told", async () => {
  await using t = await start({ text: "ok" }, { budgets: { day: { tokens: 100 } } });
  const outcome = await t.gateway.ask("x".repeat(4000));
  assert.match(
    outcome.response,
    /is not enough to go on: 0 tokens of 100 tokens are used, and the next step needs about [\d,]+ tokens/,
  );
  assert.equal(t.model.requests.length, 0);
});

test("chats side by side do not pass a limit together", async () => {
  await using t = await start({ text: "ok", delayMs: 100 }, { budgets: { day: { turns: 3 } } });
  const keys = Array.from({ length: 8 }, (_, n) => `webui:${n}`);
  const outcomes = await Promise.all(keys.map((key) => t.gateway.ask("hi", { key })));
  assert.equal(outcomes.filter(({ end }) => end === "complete").length, 3);
  assert.equal(t.model.requests.length, 3);
});

test("on a platform each chat hears about it once, in words, and then no more that day", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using t = await start({ text: "ok" }, { channels, budgets: { day: { turns: 1 } } });
  for (const chat of [1, 2])
    for (const text of ["a", "b", "c"]) telegram.pushText({ chatId: chat, userId: chat, text });
  telegram.pushText({ chatId: 2, userId: 2, text: "/usage" });
  telegram.pushText({ chatId: 1, userId: 1, text: "/usage" });
  await telegram.waitForSent(5);
  const texts = telegram.sent.map(({ text }) => text);
  assert.equal(texts.filter((text) => text === "ok").length, 1);
  assert.equal(texts.filter((text) => text.startsWith("The budget of this assistant for today is used up")).length, 2);
  assert.equal(texts.filter((text) => text.startsWith("This conversation:")).length, 2);
  assert.equal(t.model.requests.length, 1);
});

test("a scheduled job spends its own budget, and nobody else's", async () => {
  const home = await tempHome();
  const key = "cron:report";
  const files = createSessionFiles(join(home, "workspace", ".sessions"));
  const engine = await openEmbeddedEngine({
    home,
    instanceId: "gw_before",
    log: silentLog,
    publish: () => {},
    logs: { pathOf: (session) => files.logPath(session) },
  });
  for (const id of ["msg_1", "msg_2"]) {
    const body = {
      id,
      channel: "cron",
      chatId: "report",
      senderId: "schedule",
      sessionKey: key,
      content: "report",
      attachments: [],
      internal: true,
      jobId: "report",
      receivedAt: Date.now(),
    };
    const queued = {
      message_id: id,
      channel: "cron",
      chat_id: "report",
      sender_id: "schedule",
      content: [{ type: "text" as const, text: "report" }],
      mode: "next" as const,
      position: 0,
    };
    const events = [draft("user_message_queued", queued, { source: "gateway", correlation_id: id })];
    await engine.accept({ queue: "inbound", id, key, sessionKey: key, body }, { events });
  }
  await engine[Symbol.asyncDispose]();
  await using model = await startFakeOpenAI({ answer: { text: "ok", usage } });
  const budgets = { job: { turns: 1 }, sender: { turns: 1 } };
  await using gateway = await startGateway({ home, config: openAIConfig(model.apiBase, { budgets }) });
  assert.equal((await gateway.outcome("msg_1", key)).response, "ok");
  assert.match((await gateway.outcome("msg_2", key)).response, /The budget of this scheduled job for today is used up/);
  assert.equal((await gateway.ask("hi")).response, "ok");
  const [today] = gateway.gateway.api.usage(1).days;
  assert.deepEqual(
    today?.jobs.map(({ job, turns }) => [job, turns]),
    [["report", 1]],
  );
  assert.deepEqual(
    today?.senders.map(({ sender, turns }) => [sender, turns]),
    [["webui:owner", 1]],
  );
});

for (const [apiFormat, startFake] of [
  ["openai", startFakeOpenAI],
  ["anthropic", startFakeAnthropic],
] as const)
  test(`${apiFormat}: every figure is the provider's own, over tools, empty answers, refusals, failures and restarts`, async () => {
    let reported = noUsage;
    const report = (answer: ScriptedAnswer, n: number): ScriptedAnswer => {
      const figures = {
        input: 100 + n,
        output: 10 + n,
        cacheRead: 7 * n,
        cacheWrite: apiFormat === "anthropic" ? n : 0,
      };
      reported = addUsage(reported, {
        input_tokens: figures.input,
        output_tokens: figures.output,
        cache_read_tokens: figures.cacheRead,
        cache_write_tokens: figures.cacheWrite,
      });
      return { ...answer, usage: figures };
    };
    const play = ({ userText, index, body }: RecordedRequest): ScriptedAnswer => {
      if (body.model === "broken") return { status: 500 };
      if (userText.includes("tool") && !JSON.stringify(body.messages).includes(`call_${index - 1}`))
        return report(look(`call_${index}`), index);
      if (userText.includes("empty")) return report({}, index);
      if (userText.includes("refuse")) return report({ stopReason: "refusal" }, index);
      if (userText.includes("fail")) return { status: 401 };
      if (userText.includes("long")) return report({ text: "cut", stopReason: "max_tokens" }, index);
      return report({ text: ["fine ", "thanks"] }, index);
    };
    await using server = await startFake({ answer: play });
    const config = {
      memory: { titles: "first" },
      agents: { defaults: { model: "acme/m", fallbacks: ["acme/other"] } },
      providers: { acme: { apiKey: "key-of-acme", apiBase: server.apiBase, apiFormat } },
      prices: { m: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
    };
    const keys = ["webui:test", "webui:other"];
    const talk = async (gateway: TestGateway): Promise<void> => {
      for (const text of ["hello", "use a tool", "be empty", "refuse it", "fail now", "a long one"])
        await gateway.ask(text);
      await gateway.ask("/model acme/broken", { key: "webui:other" });
      await gateway.ask("hello there", { key: "webui:other" });
    };
    const first = await startGateway({ config, modelRetryMs: 1 });
    await talk(first);
    await using second = await first.restart();
    await talk(second);
    const sum = await sumOf(second, keys);
    assert.deepEqual(sum.usage, reported);
    const { api } = second.gateway;
    assertSame(api.usage(2), sum);
    const sessions = await Promise.all(keys.map((key) => api.sessionUsage(key)));
    assert.deepEqual(
      sessions.reduce((total, { usage: one }) => addUsage(total, one), noUsage),
      reported,
    );
    assert.deepEqual(
      sessions.map(({ conversation }) => conversation.usage),
      sessions.map(({ usage: one }) => one),
    );
    const byModel = new Map(api.usage(2).models.map((row) => [row.model, row]));
    assert.deepEqual([byModel.get("acme/m")?.unpricedCalls, byModel.get("acme/other")?.unpricedCalls], [0, 2]);
    assert.deepEqual(
      [byModel.get("acme/other")?.costUsd, sessions[1]?.costUsd, sessions[1]?.unpricedCalls],
      [0, undefined, 2],
    );
    const answers = answersIn(await second.events());
    const charged = answers.filter(({ usage: one }) => one.input_tokens > 0);
    assert.ok(charged.every(({ cost_usd: cost }) => cost !== undefined && cost > 0));
  });

test("what the gateway asks by itself is counted as well: titles and summaries", async () => {
  const answer = ({ bodyText }: RecordedRequest): ScriptedAnswer => {
    if (bodyText.includes("Name this conversation")) return { text: "Plums", usage: { input: 70, output: 7 } };
    if (bodyText.includes("You keep the memory")) return { text: "Plums.", usage: { input: 300, output: 30 } };
    return { text: "word ".repeat(900), usage: { input: 3000, output: 100 } };
  };
  await using t = await start(answer, {
    agents: { defaults: { model: "openai/test-model", contextWindow: 4000, maxTokens: 500 } },
    memory: { titles: "model", dailySummary: "off" },
    prices,
  });
  for (let n = 1; n <= 8; n++) await t.gateway.ask(`plum ${n}`);
  const events = await t.gateway.events();
  await t.gateway.waitForEvent((event) => event.type === "session_title_generated" && event.payload.title === "Plums");
  const summaries = events.filter(({ type }) => type === "context_compressed").length;
  assert.ok(summaries >= 1);
  const input = 8 * 3000 + 70 + summaries * 300;
  const output = 8 * 100 + 7 + summaries * 30;
  const { api } = t.gateway.gateway;
  const { total } = api.usage(1);
  assert.deepEqual([total.usage.input_tokens, total.usage.output_tokens], [input, output]);
  assert.ok(Math.abs(total.costUsd - (input * 1 + output * 4) / 1_000_000) < 1e-9);
  const session = await api.sessionUsage("webui:test");
  assert.deepEqual([session.usage.input_tokens, session.usage.output_tokens], [input, output]);
  assert.equal(session.conversation.usage.input_tokens, input);
});

test("the summary of a day is counted among what the day has used", async (t) => {
  // It waits a minute after the start.
  const later = globalThis.setTimeout;
  t.mock.method(globalThis, "setTimeout", (run: () => void, ms?: number) => later(run, ms === 60_000 ? 20 : ms));
  const answer = ({ bodyText }: RecordedRequest): ScriptedAnswer =>
    bodyText.includes("Summarise this day")
      ? { text: "- plums were wanted", usage: { input: 700, output: 70 } }
      : { text: "ok", usage: { input: 100, output: 10 } };
  await using model = await startFakeOpenAI({ answer });
  const home = await tempHome();
  let ahead = Date.parse("2026-11-19T12:00:00Z") - Date.now();
  const now = (): number => Date.now() + ahead;
  const config = { memory: { titles: "first", dailySummary: "model" }, prices };
  let gateway = await startGateway({ home, now, config: openAIConfig(model.apiBase, config) });
  const history = (): Promise<string> => readFile(join(gateway.workspace, "memory/HISTORY.md"), "utf8").catch(() => "");
  await gateway.ask("plums");
  ahead += 24 * 3_600_000;
  gateway = await gateway.restart();
  await until("the day is summarised", async () => /## 2026-11-19\n\n- plums were wanted/.test(await history()));
  const { total } = gateway.gateway.api.usage(1);
  assert.deepEqual([total.usage.input_tokens, total.usage.output_tokens], [700, 70]);
  assert.ok(Math.abs(total.costUsd - (700 * 1 + 70 * 4) / 1_000_000) < 1e-9);
  await gateway[Symbol.asyncDispose]();
});

test("a title is not asked for once the day's budget is used up", async () => {
  await using t = await start(
    { text: "plums", usage },
    { memory: { titles: "model" }, budgets: { day: { tokens: 25_000 } } },
  );
  await t.gateway.ask("plums");
  // A title would be asked for at the end of that turn, long before these are through.
  for (let n = 0; n < 8; n++) await t.gateway.ask("/help", { key: "webui:other" });
  assert.equal(t.model.requests.length, 1);
});

test("/usage tells what was used, what is not known, and what is left; others hear only of themselves", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["7"] } };
  const budgets = { day: { usd: 5 }, sender: { turns: 20 }, session: { tokens: 100_000 } };
  const agents = { defaults: { model: "openai/test-model", timezone: "UTC" } };
  await using t = await start({ text: "ok", usage: { ...usage, cacheRead: 1000 } }, { channels, budgets, agents });
  await t.gateway.ask("hi");
  telegram.pushText({ chatId: 7, userId: 7, text: "hi" });
  telegram.pushText({ chatId: 7, userId: 7, text: "/usage" });
  await telegram.waitForSent(2);
  const used =
    "1 turn, 21,000 tokens read (1,000 from the cache), 5,000 written, cost unknown (no price for the model)";
  const mine = ["- This conversation: 26,000 tokens of 100,000 tokens", "- You today: 1 turn of 20 turns"];
  assert.equal(
    telegram.sent[1]?.text,
    [`This conversation: ${used}`, `You today (UTC): ${used}`, "", "Budgets:", ...mine]
      .join("\n")
      .replaceAll("\n- ", "\n• "),
  );
  assert.equal(
    (await t.gateway.ask("/usage")).response,
    [
      `This conversation: ${used}`,
      "Today (UTC): 2 turns, 42,000 tokens read (2,000 from the cache), 10,000 written, cost unknown (no price for the model)",
      "",
      "Budgets:",
      ...mine,
      "- Today: $0 of $5.00",
    ].join("\n"),
  );
  const { problems } = await t.gateway.gateway.api.status();
  assert.match(
    problems.join(),
    /The budgets in usd count nothing for openai\/test-model.* Set prices\.openai\/test-model/,
  );
});

test("answers that are cut off are guessed, so that nobody talks for nothing by stopping each answer", async () => {
  await using t = await start(
    { text: ["x".repeat(4000)], hang: "middle" },
    { prices, budgets: { sender: { tokens: 6000 } } },
  );
  const { api } = t.gateway.gateway;
  const begun = new Set<string | undefined>();
  const watching = api.subscribe("*", {}, (event) => {
    if (event.type === "text_delta" || event.type === "turn_execution_failed") begun.add(event.correlation_id);
  });
  await watching.caughtUp;
  for (let n = 0; n < 8; n += 1) {
    const message = await t.gateway.post(`tell me ${n}`);
    await until("it speaks, or is refused", () => begun.has(message));
    await api.stopTurn("webui:test");
    await t.gateway.outcome(message);
  }
  watching.close();
  assert.ok(t.model.requests.length < 6, `${t.model.requests.length} requests`);
  const { total } = api.usage(1);
  assert.deepEqual(total.usage, noUsage, "the provider told nothing");
  assert.ok(total.guessedTokens > 2000 && total.guessedUsd > 0);
  assert.match((await t.gateway.ask("/usage")).response, /Cut off today, as a guess: [\d,]+ tokens, \$0\.\d+/);
});

test("a kill at any boundary of a turn: the counters are the sum of the events, before and after it goes on", async (t) => {
  const play = ({ body }: RecordedRequest): ScriptedAnswer => {
    const results = (body.messages as readonly { readonly role: string }[]).filter(
      ({ role }) => role === "tool",
    ).length;
    return results < 2 ? { ...look(`call_${results}`), usage } : { text: "done", usage };
  };
  await using model = await startFakeOpenAI({ answer: play });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { prices })));
  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, onBoundary: (name) => snapshots.take(name) });
    snapshots.start();
    assert.equal((await gateway.ask("go")).response, "done");
    snapshots.stop();
  }
  let halfway = 0;
  for (const [index, { name, home: copy }] of snapshots.taken.entries()) {
    const where = `point ${index}, ${name}`;
    await using gateway = await startGateway({ home: copy });
    const { api } = gateway.gateway;
    const waiting = (await api.status()).inboundWaiting;
    const exists = (await api.listSessions({ limit: 10, offset: 0 })).total > 0;
    if (!exists) continue;
    const before = await sumOf(gateway, ["webui:test"]);
    if (waiting > 0 && before.usage.input_tokens > 0) halfway += 1;
    await gateway.waitForEvent((event) => event.type === "turn_execution_complete");
    const after = await sumOf(gateway, ["webui:test"]);
    assert.deepEqual([after.usage.input_tokens, after.turns], [60_000, 1], where);
    assertSame(api.usage(1), after, where);
  }
  t.diagnostic(`${snapshots.taken.length} points, ${halfway} in the middle of the turn`);
  assert.ok(halfway > 3);
});
