import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/load.js";
import type { Config } from "../../../src/config/schema.js";
import { openGateway } from "../../../src/gateway.js";
import type { Reactor } from "../../../src/reactors/reactor.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { keepLog } from "../../support/log.js";
import { openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";

/** Marking answered questions has a test of its own: nobody is asked here. */
type ReactorName = Exclude<keyof Config["reactors"], "answers" | "live">;
const off = { log: false, metrics: false, typing: false } satisfies Record<ReactorName, false>;
const names = Object.keys(off) as ReactorName[];

/** What each reactor brings about, in words that are the same from run to run. */
type Effects = Readonly<Record<ReactorName, readonly string[]>>;

interface Seen {
  readonly effects: Effects;
  /** What happens with or without any reactor. */
  readonly answers: readonly string[];
  readonly stored: readonly string[];
  readonly logged: readonly string[];
}

const ofLogReactor =
  /^(Turn |The gateway is|The (channel|provider|client) |A reply |It is not known|An error occurred|The model call)/;

/** The same two messages, one answered and one failed, in a gateway with these reactors. */
async function run(reactors: Partial<Record<ReactorName, boolean>>): Promise<Seen> {
  const token = "4242:reactors";
  await using telegram = await startFakeTelegram({ token });
  const showsTyping = reactors.typing !== false;
  await using model = await startFakeOpenAI({
    answer: async (request) => {
      if (request.index > 0) return { status: 401 };
      if (showsTyping) await until("a typing sign", () => telegram.typing.length > 0);
      // A sign that is not left out would have come by then.
      return { text: "hello", ...(showsTyping ? {} : { delayMs: 450 }) };
    },
  });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase, { channels, reactors }) });
  const { api } = gateway.gateway;
  for (const count of [1, 2]) {
    telegram.pushText({ chatId: 7, userId: 7, text: `message ${count}` });
    await telegram.waitForSent(count);
    await until(
      "it is at rest",
      async () => (await api.status()).inboundWaiting + (await api.status()).outboundWaiting === 0,
    );
  }
  // Waits for what is still to be told.
  await gateway.gateway.drain(1000);
  const metrics = api.metrics?.() ?? "";
  const events = await gateway.events("telegram:7");
  await gateway.gateway[Symbol.asyncDispose]();
  const lines = gateway.log.lines.map(({ level, message }) => `${level}: ${message}`).sort();
  const isOfLog = (line: string): boolean => ofLogReactor.test(line.slice(line.indexOf(":") + 2));
  return {
    effects: {
      log: lines.filter(isOfLog),
      metrics: metrics.split("\n").filter((line) => line.startsWith("maxclaw_") && !line.includes("seconds")),
      typing: [...new Set(telegram.typing.map(({ chatId, action }) => `${chatId} ${action}`))],
    },
    answers: telegram.sent.map(({ text }) => text.replace(/turn_\w+/, "turn")),
    stored: events.map(({ type }) => type),
    logged: lines.filter((line) => !isOfLog(line) && !/: reactor /.test(line)),
  };
}

test("each reactor can be left out, and what the others do and what people get stays as it is", async () => {
  const whole = await run({});
  assert.equal(whole.answers[0], "hello");
  for (const name of names) assert.ok(whole.effects[name].length > 0, `${name} does something`);
  for (const left of [...names.map((name) => [name]), names]) {
    const seen = await run(Object.fromEntries(left.map((name) => [name, false])));
    const { effects, ...rest } = seen;
    for (const name of names) assert.deepEqual(effects[name], left.includes(name) ? [] : whole.effects[name], name);
    assert.deepEqual(rest, { answers: whole.answers, stored: whole.stored, logged: whole.logged }, left.join());
  }
});

/** The parts that the log says have started or stopped, in order. */
function named(log: ReturnType<typeof keepLog>, word: "started" | "stopped"): readonly string[] {
  return log.lines.flatMap(({ message }) => (message.startsWith(`${word}: `) ? [message.slice(word.length + 2)] : []));
}

test("the log names each part as it starts, in order, and as it stops, in reverse", async () => {
  const token = "4242:parts";
  await using telegram = await startFakeTelegram({ token });
  await using model = await startFakeOpenAI({ answer: { text: "hi" } });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const heard: string[] = [];
  const own: Reactor = {
    name: "own",
    start: (bus) => void heard.push(`start with ${Object.keys(bus).sort()}`),
    stop: () => void heard.push("stop"),
  };
  const config = openAIConfig(model.apiBase, { channels, reactors: { metrics: false } });
  await using gateway = await startGateway({ config, reactors: [own] });
  const { log } = gateway;
  const started = named(log, "started");
  assert.deepEqual(started, [
    "event bus",
    "locks of the home and the workspace",
    "engine",
    "own log",
    "sessions",
    "MCP servers",
    "pushes",
    "MCP logins",
    "reactor log",
    "reactor typing",
    "reactor answers",
    "reactor live",
    "reactor own",
    // The test's gateway has one too.
    "reactor recorder",
    "HTTP server",
    "replies",
    "turns",
    "channel telegram",
  ]);
  assert.deepEqual(named(log, "stopped"), []);
  await gateway.gateway.drain(0);
  await gateway.gateway[Symbol.asyncDispose]();
  assert.deepEqual(named(log, "stopped"), started.toReversed());
  assert.deepEqual(heard, ["start with on,onAny,once", "stop"]);
});

test("a gateway that cannot start stops what had started, in reverse, and names it", async () => {
  await using other = await startGateway();
  const port = Number(other.gateway.address.split(":").at(-1));
  const home = await tempHome();
  const log = keepLog();
  const config = await loadConfig({ home, env: { HOME: home } });
  await assert.rejects(openGateway({ config, home, log, version: "0.0.0-test", http: { port } }), /port is in use/);
  const started = named(log, "started");
  assert.ok(started.includes("engine") && !started.includes("HTTP server"));
  assert.deepEqual(named(log, "stopped"), started.toReversed());
  await rm(home, { recursive: true, force: true });
});
