import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createSnapshots } from "../../support/rules/snapshots.js";
import { answeredIn, askedIn, callThenDone, isAsked, lastResult } from "../../support/worlds/channels/chat-world.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { assertSound, openAIConfig, startGateway, type TestGateway, tempHome } from "../../support/worlds/gateway.js";

const edit = { path: "counter.txt", old_text: "END", new_text: "+END" };
const counterIn = (home: string): string => join(home, "workspace", ".sessions", "webui_test", "counter.txt");

async function homeWithCounter(apiBase: string): Promise<string> {
  const home = await tempHome();
  const config = openAIConfig(apiBase, { policy: { rules: [{ tool: "edit_file", verdict: "ask" }] } });
  await writeFile(join(home, "config.json"), JSON.stringify(config));
  mkdirSync(join(counterIn(home), ".."), { recursive: true });
  writeFileSync(counterIn(home), "END");
  return home;
}

/** Answers with yes if the turn asks, and resolves with the turn's end. */
async function seeThrough(gateway: TestGateway, messageId: string) {
  const { api } = gateway.gateway;
  const ended = gateway.outcome(messageId);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until("the turn asks or is over", () => isOver || api.listQuestions().length > 0, 10_000);
  const open = api.listQuestions()[0];
  if (open !== undefined) {
    // A message that answers it may be on its way already.
    await api
      .answerQuestion({ sessionKey: open.sessionKey, requestId: open.requestId, answer: "allow_once" })
      .catch((error: unknown) => assert.match(String(error), /closed|no such question/));
  }
  return await ended;
}

test("a kill at any moment of a question: asked once, answered once, and what was allowed is done at most once", async (t) => {
  await using model = await startFakeOpenAI({ answer: callThenDone("edit_file", edit) });
  const home = await homeWithCounter(model.apiBase);
  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, onBoundary: (name) => snapshots.take(name) });
    snapshots.start();
    const first = await gateway.post("count", { messageId: "message-1" });
    await gateway.waitForEvent(isAsked);
    await gateway.post("1", { messageId: "message-2" });
    assert.match((await gateway.outcome(first)).response, /done: edited/);
    snapshots.stop();
    assertSound(await gateway.events());
    assert.equal(readFileSync(counterIn(home), "utf8"), "+END");
  }
  const points = snapshots.taken;
  assert.ok(points.length > 15, `${points.length} points`);
  let waiting = 0;
  let interrupted = 0;
  for (const [index, { name, home: copy }] of points.entries()) {
    const where = `point ${index}, ${name}`;
    await using gateway = await startGateway({ home: copy });
    if (!(await isAccepted(gateway))) continue;
    const before = await gateway.events();
    const wasAsked = askedIn(before).length > 0;
    const wasAnswered = answeredIn(before).length > 0;
    // Started, and nobody can tell from the log what it has done: told to the model, never tried again.
    const isUnclear = before.some(({ type }) => type === "tool_execution_start") && (!wasAsked || wasAnswered);
    if (wasAsked && !wasAnswered) waiting += 1;
    await seeThrough(gateway, "message-1");
    const events = await gateway.events();
    assertSound(events);
    const done = events.filter((event) => event.type === "tool_execution_complete");
    assert.equal(done.length, 1, where);
    const wasInterrupted = done.some(
      (event) => event.type === "tool_execution_complete" && event.payload.error_code === "INTERRUPTED_BY_RESTART",
    );
    assert.ok(
      !wasInterrupted || isUnclear,
      `${where}: a call that only asked has done nothing yet and is not given up`,
    );
    if (wasInterrupted) interrupted += 1;
    const times = wasInterrupted && !wasAsked ? 0 : 1;
    assert.equal(askedIn(events).length, times, `${where}: asked once`);
    assert.equal(answeredIn(events).filter(({ outcome }) => outcome === "answered").length, times, where);
    assert.equal(answeredIn(events).length, times, `${where}: answered once`);
    const counter = readFileSync(counterIn(copy), "utf8");
    assert.ok(counter === "+END" || (wasInterrupted && counter === "END"), `${where}: ${counter}`);
    const ends = (await gateway.gateway.api.ledger()).map(({ messageId, end }) => `${messageId} ${end}`);
    assert.ok(ends.includes("message-1 answered"), `${where}: ${ends.join(", ")}`);
    assert.ok(!ends.some((end) => end.includes("lost")), where);
    await until("nothing waits", async () => (await gateway.gateway.api.status()).inboundWaiting === 0);
  }
  t.diagnostic(`${points.length} points, ${waiting} with an open question, ${interrupted} interrupted`);
  assert.ok(waiting > 0 && interrupted > 0);
});

async function isAccepted(gateway: TestGateway): Promise<boolean> {
  return (await gateway.gateway.api.ledger()).some(({ messageId }) => messageId === "message-1");
}

test("kill -9 while asking in a chat: the button pressed meanwhile answers, and the ledger is clean", async () => {
  await using model = await startFakeOpenAI({
    answer: callThenDone("ask_human", { question: "Go on?", options: ["Yes", "No"] }),
  });
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })));
  await using first = await startDaemon({ home });
  telegram.pushText({ chatId: 9, userId: 9, text: "ask me" });
  await telegram.waitForSent(1, 10_000);
  const question = telegram.sent[0];
  assert.ok(question);
  const waiting = async (): Promise<number> =>
    ((await (await fetch(`${first.url}/api/status`)).json()) as { outboundWaiting: number }).outboundWaiting;
  await until("the send is confirmed", async () => (await waiting()) === 0);
  // As often as a message may end the process before it is buried, and once more: waiting is not its fault.
  await first.end("SIGKILL");
  for (let kill = 0; kill < 3; kill++) {
    await using daemon = await startDaemon({ home });
    await until("the question is open", async () => {
      const { questions } = (await (await fetch(`${daemon.url}/api/questions`)).json()) as { questions: unknown[] };
      return questions.length === 1;
    });
    await daemon.end("SIGKILL");
  }
  telegram.pushPress({ messageId: question.messageId, label: "No", userId: 9 });
  await using last = await startDaemon({ home });
  await until("it is answered", () => telegram.sent.some(({ text }) => text === "done: No"), 15_000);
  assert.equal(telegram.sent.filter(({ text }) => text.includes("Go on?")).length, 1);
  assert.equal(lastResult(model.requests.at(-1)), "No");
  assert.equal(await last.end("SIGTERM"), 0);
  const ledger = await runMaxclaw(["ledger", "check", "--json"], home);
  assert.equal(ledger.code, 0, ledger.stdout + ledger.stderr);
});
