import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createRandom } from "../../support/random.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

async function world(answer: AnswerScript) {
  const model = await startFakeOpenAI({ answer });
  const telegram = await startFakeTelegram({ token: "4242:test" });
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })));
  return {
    model,
    telegram,
    home,
    async [Symbol.asyncDispose]() {
      await telegram.stop();
      await model[Symbol.asyncDispose]();
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 30_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error("Waited 30 s in vain");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("after kill -9 at random moments every accepted message is answered, in order, and the ledger shows no loss", async (t) => {
  const seed = Number(process.env.CRASH_SEED ?? Date.now() % 100_000);
  t.diagnostic(`CRASH_SEED=${seed}`);
  const random = createRandom(seed);
  await using w = await world((request) => ({
    text: [
      "answer to ",
      /message-\d+-\d+/.exec(request.userText)?.[0] ?? JSON.stringify(request.body.messages).slice(-700),
    ],
    chunkDelayMs: 2,
  }));
  const chats = [101, 102, 103];
  const perChat = 8;
  let pushed = 0;
  const answered = (chat: number, n: number): boolean =>
    w.telegram.sent.some((message) => message.text.includes(`answer to message-${chat}-${n}`));
  for (let kill = 0; kill < 3; kill++) {
    await using daemon = await startDaemon({ home: w.home });
    // A message that ends the process three times would be buried: each kill gets messages of its own.
    await until(() => chats.every((chat) => pushed === 0 || answered(chat, pushed - 1)));
    for (let n = 0; n < 2; n++, pushed++)
      for (const chat of chats) w.telegram.pushText({ chatId: chat, userId: chat, text: `message-${chat}-${pushed}` });
    await new Promise((resolve) => setTimeout(resolve, random() * 120));
    await daemon.end("SIGKILL");
  }
  for (; pushed < perChat; pushed++)
    for (const chat of chats) w.telegram.pushText({ chatId: chat, userId: chat, text: `message-${chat}-${pushed}` });
  await using daemon = await startDaemon({ home: w.home });
  await until(() => chats.every((chat) => answered(chat, perChat - 1)));
  for (const chat of chats) {
    const texts = w.telegram.sent
      .filter((message) => String(message.chatId) === String(chat))
      .map((message) => message.text);
    const numbers = texts.map((text) => Number(/message-\d+-(\d+)/.exec(text)?.[1]));
    assert.deepEqual([...new Set(numbers)], [0, 1, 2, 3, 4, 5, 6, 7], `chat ${chat}: ${texts.join(" | ")}`);
    // Telegram cannot tell a repeated send: only a reply that was on its way at one of the three kills may be there twice.
    assert.ok(texts.length - perChat <= 3, `chat ${chat} got ${texts.length} replies`);
  }
  assert.equal(await daemon.end("SIGTERM"), 0);
  const ledger = await runMaxclaw(["ledger", "check", "--json"], w.home);
  assert.equal(ledger.code, 0, ledger.stdout + ledger.stderr);
  for (const chat of chats) {
    const log = await readFile(join(w.home, "workspace", ".sessions", `telegram_${chat}.events.jsonl`), "utf8");
    const events = log
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line.slice(9)) as { seq: number; type: string });
    assert.deepEqual(
      events.map((event) => event.seq),
      events.map((_, index) => index + 1),
    );
    assert.equal(events.filter((event) => event.type === "turn_execution_complete").length, perChat);
  }
});

test("a tool with an effect that was running at the kill is not run again, and the model is told", async () => {
  await using w = await world((request) =>
    request.index === 0
      ? { toolCalls: [{ id: "call_1", name: "write_file", input: { path: "a.txt", content: "x".repeat(10) } }] }
      : request.index === 1
        ? { text: ["thinking about it"], hang: "middle" as const }
        : { text: "done" },
  );
  await using first = await startDaemon({ home: w.home });
  w.telegram.pushText({ chatId: 9, userId: 9, text: "write a file" });
  await w.model.waitForRequests(2);
  await first.end("SIGKILL");
  await using second = await startDaemon({ home: w.home });
  await w.telegram.waitForSent(1, 15_000);
  assert.equal(w.telegram.sent[0]?.text, "done");
  // The first answer was in the log: it was not asked for again. Only the one that was cut was.
  assert.equal(w.model.requests.length, 3);
  assert.equal(JSON.stringify(w.model.requests[2]?.body.messages), JSON.stringify(w.model.requests[1]?.body.messages));
  await second.end("SIGTERM");
});

test("SIGTERM lets a running turn finish and exits 0; the next start has nothing left to do", async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using w = await world(async () => {
    await held;
    return { text: "finished in time" };
  });
  await using daemon = await startDaemon({ home: w.home });
  w.telegram.pushText({ chatId: 9, userId: 9, text: "hello" });
  await w.model.waitForRequests(1);
  const exit = daemon.end("SIGTERM");
  await new Promise((resolve) => setTimeout(resolve, 200));
  release();
  assert.equal(await exit, 0);
  assert.deepEqual(
    w.telegram.sent.map((message) => message.text),
    ["finished in time"],
  );
});

test("a second SIGTERM ends at once, and the turn goes on at the next start", async () => {
  await using w = await world((request) => (request.index === 0 ? { hang: "start" as const } : { text: "after all" }));
  await using daemon = await startDaemon({ home: w.home });
  w.telegram.pushText({ chatId: 9, userId: 9, text: "hello" });
  await w.model.waitForRequests(1);
  daemon.child.kill("SIGTERM");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const startedAt = Date.now();
  assert.notEqual(await daemon.end("SIGTERM"), 0);
  assert.ok(Date.now() - startedAt < 8000, "and not after the 10 s of grace");
  await using next = await startDaemon({ home: w.home });
  await w.telegram.waitForSent(1, 15_000);
  assert.deepEqual(
    w.telegram.sent.map((message) => message.text),
    ["after all"],
  );
  assert.equal(await next.end("SIGTERM"), 0);
});

test("two gateways on one home: the second says who holds it and touches nothing", async () => {
  await using w = await world({ text: "ok" });
  await using first = await startDaemon({ home: w.home });
  const second = await runMaxclaw(["gateway", "-p", "0"], w.home);
  assert.equal(second.code, 1);
  assert.match(second.stderr, new RegExp(String(first.child.pid)));
  assert.equal((await fetch(`${first.url}/ready`)).status, 200);
  assert.equal(await first.end("SIGTERM"), 0);
});
