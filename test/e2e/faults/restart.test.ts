import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";
import type { RecordedRequest } from "../../support/worlds/model-script.js";
import { measureRestart, restartSentence } from "../../sweep/restart.js";

const limitMs = 30_000;

test("after a kill the turns of 20 chats go on, and nobody is told anything twice", async (t) => {
  const restart = await measureRestart(20);
  t.diagnostic(restartSentence(restart));
  // `npm run sweep` tells what it takes on a machine of its own; this one may be shared.
  assert.ok(restart.resumedMs < 20_000, restartSentence(restart));
  assert.equal(restart.asked, 40, "each model call that was cut was asked again once");
  const wanted = Array.from({ length: 20 }, (_, n) => [String(n + 1), [`answer to chat ${n + 1}`]]);
  assert.deepEqual(Object.fromEntries(restart.shown), Object.fromEntries(wanted));
});

function resultsIn(request: RecordedRequest): readonly { readonly content?: unknown }[] {
  const messages = request.body.messages as readonly { readonly role: string; readonly content?: unknown }[];
  return messages.filter(({ role }) => role === "tool");
}

test("SIGTERM: what ends within the grace time is answered, the rest goes on at the next start", async () => {
  const inTime = gate();
  const life = { second: false };
  const requests = new Map<string, RecordedRequest[]>();
  await using model = await startFakeOpenAI({
    answer: async (request) => {
      const [, name = ""] = /(\w+) please/.exec(request.userText) ?? [];
      requests.set(name, [...(requests.get(name) ?? []), request]);
      if (name === "writing" && resultsIn(request).length === 0)
        return { toolCalls: [{ id: "w", name: "write_file", input: { path: "a.txt", content: "one" } }] };
      if (life.second) return { text: `${name} after the restart` };
      if (name !== "quick") return { text: "never to the end", hang: "middle" };
      await inTime.opened;
      return { text: "quick in time" };
    },
  });
  await using telegram = await startFakeTelegram({ token: "4242:drain" });
  const shown = (chatId: number): readonly string[] =>
    telegram.sent.filter((message) => message.chatId === String(chatId)).map(({ text }) => text);
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  // Replies are what is looked at, not how they grow.
  const quiet = { channels, reactors: { live: false } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, quiet)));
  const say = (chatId: number, text: string): void => void telegram.pushText({ chatId, userId: chatId, text });

  {
    await using daemon = await startDaemon({ home, args: ["--grace", "5"], readyLimitMs: limitMs });
    say(1, "quick please");
    say(2, "slow please");
    say(2, "behind please");
    say(3, "writing please");
    await until("three turns are under way", () => model.requests.length === 4, limitMs);
    await until("everything is taken", () => telegram.pending === 0, limitMs);
    const exit = daemon.end("SIGTERM");
    await until("it is stopping", () => daemon.stderr().includes("stopping"), limitMs);
    say(4, "late please");
    inTime.open();
    assert.equal(await exit, 0);
  }
  assert.deepEqual([1, 2, 3, 4].map(shown), [["quick in time"], [], [], []], "only what was ready was told");
  assert.equal(telegram.pending, 1, "what came while it stopped stays with the platform");

  life.second = true;
  {
    await using daemon = await startDaemon({ home, readyLimitMs: limitMs });
    await until("everybody is answered", () => telegram.sent.length === 5, limitMs);
    assert.equal(await daemon.end("SIGTERM"), 0);
  }
  assert.deepEqual([1, 2, 3, 4].map(shown), [
    ["quick in time"],
    ["slow after the restart", "behind after the restart"],
    ["writing after the restart"],
    ["late after the restart"],
  ]);
  const [, , again, ...more] = requests.get("writing") ?? [];
  assert.equal(more.length, 0, "the answer that was stored was not asked for again");
  assert.ok(again !== undefined);
  assert.match(JSON.stringify(resultsIn(again)), /a\.txt/, "the result of the call that was done is still known");
  const ledger = await runMaxclaw(["ledger", "check", "--json"], home);
  assert.equal(ledger.code, 0, ledger.stdout + ledger.stderr);
  await rm(home, { recursive: true, force: true });
});

test("a grace time that is not a number is refused before anything starts", async () => {
  const home = await tempHome();
  const refused = await runMaxclaw(["gateway", "--grace", "soon"], home);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /number of seconds/);
  await rm(home, { recursive: true, force: true });
});
