import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { firstDifference } from "../../../../src/replay/compare.js";
import { findTurn } from "../../../../src/replay/find-turn.js";
import { readRecordedTurn } from "../../../../src/replay/recorded-turn.js";
import { replayTurn, seqOffset } from "../../../../src/replay/replay-turn.js";
import { until } from "../../../support/engine/engine-kit.js";
import { type ChatWorld, startWorld } from "../../../support/worlds/channels/chat-world.js";
import { hangingTool } from "../../../support/worlds/tools/hanging-tool.js";

/** Runs the only turn of the chat again: it must come out the same. */
async function replayed(w: ChatWorld): Promise<void> {
  const { home, workspace } = w.gateway;
  const [turnId = ""] = (await w.gateway.events("telegram:42")).flatMap(({ turn_id }) => turn_id ?? []);
  const found = await findTurn(home, join(workspace, ".sessions"), turnId);
  assert.ok(found !== undefined);
  const turn = readRecordedTurn(found, turnId);
  assert.equal(firstDifference(turn.events, await replayTurn(turn), seqOffset(turn.before)), undefined);
}

const atRest = (w: ChatWorld) =>
  until("all is done", async () => {
    const { inboundWaiting, outboundWaiting } = await w.gateway.gateway.api.status();
    return w.telegram.sent.length > 0 && inboundWaiting + outboundWaiting === 0;
  });

test("a turn whose answer was a beginning and a file comes out the same when it is run again", async () => {
  await using w = await startWorld({ text: "A line of many.\n\n".repeat(8000) });
  w.say(42, "tell me all");
  await until("the file is sent", () => w.telegram.sent.length === 5, 15_000);
  await atRest(w);
  await replayed(w);
});

test("a turn whose notice came below words that were there comes out the same when it is run again", async () => {
  const noop = hangingTool("read", () => {});
  const quick = { ...noop, run: async () => ({ text: "ok", isError: false, summary: "ok" }) };
  const call = { text: ["I look ", "it up."], chunkDelayMs: 700, toolCalls: [{ id: "c", name: "slow", input: {} }] };
  const empty = { delayMs: 700 };
  const config = { reactors: { live: true } };
  await using w = await startWorld(({ index }) => (index === 0 ? call : empty), { config, tools: [quick] });
  w.say(42, "go");
  await w.shown(/I look/);
  await until("the notice comes", () => /empty answer/.test(w.telegram.edited.at(-1)?.text ?? ""), 10_000);
  assert.match(w.telegram.edited.at(-1)?.text ?? "", /^I look it up\.\n\nThe model gave an empty answer/);
  await atRest(w);
  await replayed(w);
});
