import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createSnapshots } from "../../support/rules/snapshots.js";
import { ann, bob, openDiscordWorld } from "../../support/worlds/channels/discord-world.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { assertSound, openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { cast, eventsOf, startOne } from "../../support/worlds/tools/sub-agents.js";

const token = "4242:heart-secret";
const noon = Date.parse("2026-11-21T12:00:00Z");
const halfHour = 30 * 60_000;
const session = "cron:heartbeat-2026-11-21";

const isBeat = ({ userText }: RecordedRequest): boolean => userText.includes("[Heartbeat]");

/** A home with something to look after. */
async function homeWith(apiBase: string, more: Record<string, unknown> = {}, home?: string): Promise<string> {
  const place = home ?? (await tempHome());
  await mkdir(join(place, "workspace/memory"), { recursive: true });
  await writeFile(join(place, "workspace/memory/heartbeat.md"), "- look at the plants\n");
  const config = openAIConfig(apiBase, {
    agents: { defaults: { model: "openai/test-model", timezone: "UTC" } },
    heartbeat: { enabled: true },
    ...more,
  });
  await writeFile(join(place, "config.json"), JSON.stringify(config));
  return place;
}

/** A clock that is set by hand and goes on from there. */
function clockAt(start: number) {
  const state = { offset: start - Date.now() };
  return {
    now: (): number => Date.now() + state.offset,
    set(at: number): void {
      state.offset = at - Date.now();
    },
  };
}

test("beats come at their time, speak in the owner's chat only when there is something to say, and keep to their budget", async () => {
  const telegram = await startFakeTelegram({ token });
  const state = { offset: 0, answer: "HEARTBEAT_OK", hangs: false, beats: 0 };
  const answer = (request: RecordedRequest): ScriptedAnswer => {
    if (!isBeat(request)) return { text: "hello" };
    state.beats += 1;
    return state.hangs ? { hang: "start" } : { text: state.answer };
  };
  await using model = await startFakeOpenAI({ answer });
  const home = await tempHome();
  await mkdir(join(home, "workspace/memory"), { recursive: true });
  await writeFile(join(home, "workspace/memory/heartbeat.md"), "# Heartbeat\n\n- look at the plants\n");
  const config = openAIConfig(model.apiBase, {
    agents: { defaults: { model: "openai/test-model", timezone: "UTC" } },
    channels: { telegram: { enabled: true, token, apiRoot: telegram.url } },
    owners: ["telegram:7"],
    heartbeat: { enabled: true, activeHours: "08:00-22:00", budget: { turns: 3 } },
  });
  const setClock = (at: number): void => {
    state.offset = at - Date.now();
  };
  const now = (): number => Date.now() + state.offset;
  const texts = () => telegram.sent.map(({ text }) => text);

  setClock(noon - 700);
  await using first = await startGateway({ home, config, now });
  telegram.pushText({ chatId: 7, userId: 7, text: "hi" });
  await until("it is answered", () => texts().length === 1);
  const isOver = (n: number) => async (): Promise<boolean> => {
    const ends = await first.events(session).catch(() => []);
    return ends.filter(({ type }) => type === "turn_execution_complete").length === n;
  };
  await until("a beat has ended", isOver(1));
  const events = await first.events(session);
  assertSound(events);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "schedule_run_changed" ? [event.payload.status] : [])).slice(0, 1),
    ["started"],
  );

  // The same moment again: the beat was dealt with.
  setClock(noon + 1000);
  const second = await first.restart();
  await second.ask("still there?");
  assert.equal(state.beats, 1);

  // A beat is cut off in the middle and goes on at the next start; its answer is for the owner.
  state.hangs = true;
  setClock(noon + halfHour - 200);
  const third = await second.restart();
  await until("the second beat is under way", () => state.beats === 2);
  state.hangs = false;
  state.answer = "HEARTBEAT_OK\n\nWater the plants.";
  const fourth = await third.restart();
  await until("it is said", () => texts().includes("Water the plants."));
  assert.deepEqual(texts(), ["hello", "Water the plants."]);
  assert.equal(telegram.sent.at(-1)?.chatId, "7");

  const beats = state.beats;
  setClock(noon + 2 * halfHour - 200);
  state.answer = "HEARTBEAT_OK";
  const fifth = await fourth.restart();
  await until("the third beat is done", () => state.beats === beats + 1);
  await fifth.waitForEvent(
    (event) => event.type === "turn_execution_complete" && event.payload.message_ids[0]?.includes("13:00") === true,
    session,
  );
  // The day's budget is used up: no more beats, and nobody hears about it.
  setClock(noon + 3 * halfHour + 1);
  await using sixth = await fifth.restart();
  await sixth.ask("and now?");
  assert.equal(state.beats, beats + 1);
  assert.equal(texts().length, 2);
  const ledger = await sixth.gateway.api.ledger();
  assert.ok(
    ledger.every(({ end }) => end === "answered"),
    JSON.stringify(ledger),
  );
  await telegram.stop();
});

test("a kill at any moment of a beat: it comes once, and is answered once", async (t) => {
  await using model = await startFakeOpenAI({ answer: { text: "Water the plants." } });
  const home = await homeWith(model.apiBase);
  const clock = clockAt(noon - 300);
  using snapshots = createSnapshots(home);
  const ends = async (gateway: Awaited<ReturnType<typeof startGateway>>): Promise<number> =>
    (await eventsOf(gateway, session)).filter(({ type }) => type === "turn_execution_complete").length;
  {
    await using gateway = await startGateway({ home, now: clock.now, onBoundary: (name) => snapshots.take(name) });
    snapshots.start();
    await until("a beat has ended", async () => (await ends(gateway)) === 1);
    await gateway.waitForEvent(
      (event) => event.type === "schedule_run_changed" && event.payload.status === "completed",
      session,
    );
    snapshots.stop();
  }
  t.diagnostic(`${snapshots.taken.length} points`);
  assert.ok(snapshots.taken.length > 10, `${snapshots.taken.length} points`);
  for (const { name, home: copy } of snapshots.taken) {
    clock.set(noon + 2000);
    await using gateway = await startGateway({ home: copy, now: clock.now });
    await until(`${name}: it has ended`, async () => (await ends(gateway)) > 0);
    const last = await gateway.restart();
    const events = await last.events(session);
    await last[Symbol.asyncDispose]();
    assertSound(events);
    const count = (type: string): number => events.filter((event) => event.type === type).length;
    assert.deepEqual(
      [count("user_message_queued"), count("turn_execution_complete"), count("assistant_message")],
      [1, 1, 1],
      name,
    );
  }
});

test("kill -9 in the middle of a beat: it goes on, the owner hears about it once, and no other comes before its time", async () => {
  const held = gate();
  await using model = await startFakeOpenAI({
    async answer(request) {
      if (!isBeat(request)) return { text: "hello" };
      await held.opened;
      return { text: "Water the plants." };
    },
  });
  const telegram = await startFakeTelegram({ token });
  const home = await homeWith(model.apiBase, {
    channels: { telegram: { enabled: true, token, apiRoot: telegram.url } },
    owners: ["telegram:7"],
    heartbeat: { enabled: true, chat: "telegram:7" },
  });
  const clock = join(home, "clock.mjs");
  await writeFile(
    clock,
    "const n = Date.now, ahead = Number(process.env.TEST_NOW) - n(); Date.now = () => n() + ahead;",
  );
  const at = (now: number) => ({ home, env: { NODE_OPTIONS: `--import=${clock}`, TEST_NOW: String(now) } });
  try {
    await using first = await startDaemon(at(noon - 500));
    await until("the beat is under way", () => model.requests.some(isBeat), 15_000);
    await first.end("SIGKILL");
    held.open();
    await using second = await startDaemon(at(noon + 10_000));
    await telegram.waitForSent(1, 15_000);
    await until(
      "the reply is known to be sent",
      async () => (await (await fetch(`${second.url}/api/sessions/${session}/events`)).text()).includes('"sent"'),
      15_000,
    );
    assert.equal(await second.end("SIGTERM"), 0);
    await using third = await startDaemon(at(noon + 30_000));
    telegram.pushText({ chatId: 7, userId: 7, text: "hi" });
    await telegram.waitForSent(2, 15_000);
    assert.equal(await third.end("SIGTERM"), 0);
    assert.deepEqual(
      telegram.sent.map(({ text }) => text),
      ["Water the plants.", "hello"],
    );
    const ledger = await runMaxclaw(["ledger", "check", "--json"], home);
    assert.equal(ledger.code, 0, ledger.stdout + ledger.stderr);
  } finally {
    await telegram.stop();
  }
});

test("conversations of beats are kept for thirty days", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "HEARTBEAT_OK" } });
  const day = 24 * 3_600_000;
  const clock = clockAt(noon - 40 * day + 1000);
  let gateway = await startGateway({ home: await homeWith(model.apiBase), now: clock.now });
  const beats = async (): Promise<readonly string[]> =>
    (await gateway.gateway.api.listSessions({ channel: "cron", limit: 99, offset: 0 })).sessions.map(({ key }) => key);
  for (const ago of [40, 30, 0]) {
    clock.set(noon - ago * day + 1000);
    if (ago < 40) gateway = await gateway.restart();
    await until("it has begun", async () => (await beats()).length > 0 && model.requests.length > 0);
    const key = `cron:heartbeat-${new Date(noon - ago * day).toISOString().slice(0, 10)}`;
    await gateway.waitForEvent(({ type }) => type === "turn_execution_complete", key);
  }
  await until("the old one is gone", async () => (await beats()).length === 2);
  assert.deepEqual([...(await beats())].sort(), ["cron:heartbeat-2026-10-22", session]);
  await gateway[Symbol.asyncDispose]();
});

test("no beat begins while the last one is at work, also not after midnight", async () => {
  const state = { hangs: true };
  await using model = await startFakeOpenAI({
    answer: () => (state.hangs ? { hang: "start" } : { text: "HEARTBEAT_OK" }),
  });
  const midnight = Date.parse("2026-11-22T00:00:00Z");
  const clock = clockAt(midnight - halfHour + 1000);
  await using first = await startGateway({ home: await homeWith(model.apiBase), now: clock.now });
  await until("it is under way", () => model.requests.length === 1);
  clock.set(midnight + 1000);
  await using second = await first.restart();
  await until("it goes on", () => model.requests.length === 2);
  state.hangs = false;
  await using third = await second.restart();
  await third.waitForEvent(({ type }) => type === "turn_execution_complete", session);
  assert.deepEqual(await eventsOf(third, "cron:heartbeat-2026-11-22"), []);
});

test("what a beat's sub-agent brings back is said only when there is something to say", async () => {
  const telegram = await startFakeTelegram({ token });
  const state = { told: "HEARTBEAT_OK" };
  await using model = await startFakeOpenAI({
    answer: cast({
      parent: (_, done) => (done === 0 ? startOne("look at the plants") : { text: "HEARTBEAT_OK" }),
      child: () => ({ text: "they are green" }),
      told: () => ({ text: state.told }),
    }),
  });
  const home = await homeWith(model.apiBase, {
    channels: { telegram: { enabled: true, token, apiRoot: telegram.url } },
    owners: ["telegram:7"],
    heartbeat: { enabled: true, chat: "telegram:7" },
  });
  const clock = clockAt(noon + 1000);
  await using first = await startGateway({ home, now: clock.now });
  const ends = async (gateway: typeof first) =>
    (await eventsOf(gateway, session)).filter(({ type }) => type === "turn_execution_complete").length;
  await until("it was told", async () => (await ends(first)) === 2);
  state.told = "One is dry.";
  clock.set(noon + halfHour + 1000);
  await using second = await first.restart();
  await until("it was told again", async () => (await ends(second)) === 4);
  await telegram.waitForSent(1);
  assert.deepEqual(
    telegram.sent.map(({ text }) => text),
    ["One is dry."],
  );
  await telegram.stop();
});

test("the direct chat in which an owner wrote last is found on Discord, too, and no server's channel counts", async () => {
  const answer = (request: RecordedRequest) => ({ text: isBeat(request) ? "Water the plants." : "hello" });
  await using w = await openDiscordWorld(answer);
  const { discord } = w;
  const channels = { discord: { enabled: true, token: discord.token, apiRoot: discord.url, allowFrom: ["*"] } };
  await homeWith(w.model.apiBase, { channels, owners: [`discord:${ann.id}`, `discord:${bob.id}`] }, w.home);
  const clock = clockAt(noon - halfHour / 2);
  await using first = await startGateway({ home: w.home, now: clock.now });
  await w.online();
  for (const author of [ann, bob]) {
    discord.write({ channelId: discord.dmOf(author.id), author, content: "hi" });
    await w.shown(discord.dmOf(author.id), "hello");
  }
  const hall = discord.addChannel();
  discord.write({ channelId: hall, author: ann, content: `<@${discord.bot.id}> hi`, mentions: [discord.bot] });
  await w.shown(hall, "hello");
  // From the page: that is not a message of the chat.
  await first.ask("hi", { key: `discord:${ann.id}` });
  clock.set(noon + 1000);
  await using _second = await first.restart();
  await w.shown(discord.dmOf(bob.id), "Water the plants.");
  assert.deepEqual([w.said(hall), w.said(discord.dmOf(ann.id))], [["hello"], ["hello"]]);
});
