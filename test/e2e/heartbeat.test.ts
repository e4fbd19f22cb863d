import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../support/engine-kit.js";
import { startFakeOpenAI } from "../support/fake-openai.js";
import { startFakeTelegram } from "../support/fake-telegram.js";
import { assertSound, openAIConfig, startGateway, tempHome } from "../support/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../support/model-script.js";

const token = "4242:heart-secret";
const noon = Date.parse("2026-11-21T12:00:00Z");
const halfHour = 30 * 60_000;
const session = "cron:heartbeat-2026-11-21";

test("beats come at their time, speak in the owner's chat only when there is something to say, and keep to their budget", async () => {
  const telegram = await startFakeTelegram({ token });
  const state = { offset: 0, answer: "HEARTBEAT_OK", hangs: false, beats: 0 };
  const isBeat = ({ userText }: RecordedRequest): boolean => userText.includes("[Heartbeat]");
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
  // The day's budget is used up: no more beats, and nobody hears of it.
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
