import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { type Daemon, runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, startGateway, tempHome } from "../../../support/worlds/gateway.js";

const damagedText = /What I have stored of this conversation was damaged on my disk/;

async function ask(daemon: Daemon, content: string) {
  const response = await fetch(`${daemon.url}/api/message`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sessionKey: "webui:home", content }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function statusProblems(daemon: Daemon): Promise<readonly string[]> {
  return ((await (await fetch(`${daemon.url}/api/status`)).json()) as { problems: string[] }).problems;
}

test("a chat whose log is damaged goes on at once: its people and the owner are told once, status and doctor name it", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const config = openAIConfig(model.apiBase, { channels, owners: ["telegram:1"] });
  await using gateway = await startGateway({ config });
  telegram.pushText({ chatId: 1, userId: 1, text: "I am the owner" });
  telegram.pushText({ chatId: 9, userId: 9, text: "one" });
  await telegram.waitForSent(2);
  await gateway.gateway.drain(2000);
  await gateway.gateway[Symbol.asyncDispose]();
  const path = join(gateway.workspace, ".sessions", "telegram_9.events.jsonl");
  const bytes = readFileSync(path);
  const secondLine = bytes.indexOf(10) + 1;
  bytes.fill(0, secondLine + 20, secondLine + 60);
  writeFileSync(path, bytes);

  await using again = await startGateway({ home: gateway.home, isRuled: false });
  telegram.pushText({ chatId: 9, userId: 9, text: "two" });
  telegram.pushText({ chatId: 8, userId: 8, text: "other" });
  const sent = await telegram.waitForSent(6);
  const to = (chat: string): readonly string[] => sent.filter(({ chatId }) => chatId === chat).map(({ text }) => text);
  assert.deepEqual(to("8"), ["ok"]);
  assert.deepEqual(to("9").filter((text) => text === "ok").length, 2, "the message is answered");
  assert.equal(to("9").filter((text) => damagedText.test(text)).length, 1);
  assert.match(to("1").at(-1) ?? "", /^The log of telegram:9 was damaged, .*Lost: event 2\./);
  const [problem = ""] = (await again.gateway.api.status()).problems.filter((text) => text.includes("telegram:9"));
  assert.match(problem, /The damaged file is kept as .*telegram_9\.events\.jsonl\.damaged-/);
  for (const text of ["/status", "/undo", "/new", "three"]) telegram.pushText({ chatId: 9, userId: 9, text });
  const later = (await telegram.waitForSent(10)).filter(({ chatId }) => chatId === "9").map(({ text }) => text);
  assert.equal(later.at(-1), "ok");
  assert.equal(later.filter((text) => /Something went wrong|cannot read/.test(text)).length, 0);
  const fork = await again.gateway.api.forkSession("telegram:9", undefined);
  assert.ok((await again.gateway.api.getSession(fork.key)).messages.length > 0);

  await using third = await again.restart();
  telegram.pushText({ chatId: 9, userId: 9, text: "four" });
  const all = await telegram.waitForSent(11);
  assert.equal(
    all.filter(({ text }) => damagedText.test(text) || text.startsWith("The log of")).length,
    2,
    "told once",
  );
  assert.equal((await third.gateway.api.status()).problems.filter((text) => text.includes("telegram:9")).length, 1);
  for (const name of readdirSync(join(gateway.workspace, ".sessions")))
    if (name.includes(".damaged-")) rmSync(join(gateway.workspace, ".sessions", name));
  assert.equal((await third.gateway.api.status()).problems.filter((text) => text.includes("telegram:9")).length, 0);
});

test("HTTP never says that nothing was stored of a message that was accepted", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  const home = await tempHome();
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  {
    await using daemon = await startDaemon({ home });
    await ask(daemon, "one");
    await daemon.end("SIGTERM");
  }
  const path = join(home, "workspace", ".sessions", "webui_home.events.jsonl");
  const bytes = readFileSync(path);
  bytes.fill("~", 30, 50);
  writeFileSync(path, bytes);
  await using daemon = await startDaemon({ home });
  const answer = await ask(daemon, "two");
  assert.deepEqual([answer.status, answer.body.response], [200, "ok"], JSON.stringify(answer.body));
  assert.match((await statusProblems(daemon)).join("\n"), /The log of webui:home was damaged/);
  const doctor = await runMaxclaw(["doctor"], home);
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, /The log of webui:home was damaged/);
  await daemon.end("SIGTERM");
  const offline = await runMaxclaw(["doctor"], home);
  assert.match(offline.stdout, /The log of webui:home was damaged/);
  const repair = await runMaxclaw(["repair"], home);
  assert.match(
    repair.stdout,
    /^Nothing is damaged\. Nothing was changed\.\nWhat maxclaw status shows was repaired before:\nThe log of webui:home was damaged, and has been repaired /,
  );
});

test("a gateway whose journal has lost its end does not start, says what is missing, and starts after a repair", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  const home = await tempHome();
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  {
    await using daemon = await startDaemon({ home });
    for (const text of ["one", "two", "three"]) await ask(daemon, text);
    const log = join(home, "workspace", ".sessions", "webui_home.events.jsonl");
    const ends = (): number =>
      existsSync(log) ? readFileSync(log, "utf8").split("turn_execution_complete").length - 1 : 0;
    await until("the log holds what was said", () => ends() === 3);
    await daemon.end("SIGKILL");
  }
  const journal = join(home, "journal");
  const [name = ""] = readdirSync(journal);
  const lines = readFileSync(join(journal, name), "utf8").split("\n");
  const half = lines.slice(0, Math.floor(lines.length / 2));
  const cases: readonly (() => void)[] = [
    () => writeFileSync(join(journal, name), `${half.join("\n")}\n`),
    () => rmSync(journal, { recursive: true }),
  ];
  const kept = await tempHome();
  cpSync(home, kept, { recursive: true });
  for (const damage of cases) {
    rmSync(home, { recursive: true });
    cpSync(kept, home, { recursive: true });
    damage();
    const refused = await runMaxclaw(["gateway", "-p", "0"], home);
    assert.equal(refused.code, 65, refused.stderr);
    assert.match(refused.stderr, /The journal in .* is (gone|older than it was).*maxclaw repair/);
    const asked = await runMaxclaw(["doctor"], home);
    assert.deepEqual([asked.code, /The journal in .* is (gone|older)/.test(asked.stdout)], [1, true], asked.stdout);
    const status = await runMaxclaw(["status"], home);
    assert.equal(status.code, 1);
    assert.match(status.stdout, /Problem: .*The journal in .* is (gone|older).* does not start.*maxclaw repair/);
    const repaired = await runMaxclaw(["repair"], home);
    assert.equal(repaired.code, 0, repaired.stderr);
    assert.match(repaired.stdout, /Recovered from the conversations:/);
    assert.ok(existsSync(journal));
    const before = model.requests.length;
    await using daemon = await startDaemon({ home });
    assert.equal((await ask(daemon, "four")).status, 200);
    assert.equal(model.requests.length, before + 1, "no message is answered a second time");
    await daemon.end("SIGTERM");
    assert.equal((await runMaxclaw(["doctor"], home)).code, 0);
  }
});

test("messages whose events are lost come back from the document, to people and to the model, where they were", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "Nice to meet you." } });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  for (const text of ["I am Ada", "I live in Kassel"]) await gateway.ask(text);
  const before = (await gateway.gateway.api.getSession("webui:test")).messages;
  await gateway.gateway.drain(1000);
  await gateway.gateway[Symbol.asyncDispose]();
  const path = join(gateway.workspace, ".sessions", "webui_test.events.jsonl");
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0, 100, bytes.indexOf('"type":"turn_execution_complete"')));
  await using again = await startGateway({ home: gateway.home, isRuled: false });
  assert.equal((await again.ask("Who am I?")).response, "Nice to meet you.");
  const { messages } = await again.gateway.api.getSession("webui:test");
  assert.deepEqual(
    messages.slice(0, before.length).map(({ role, content }) => [role, content]),
    before.map(({ role, content }) => [role, content]),
  );
  const asked = JSON.stringify(model.requests.at(-1)?.body);
  const places = ["I am Ada", "I live in Kassel", "Who am I?"].map((text) => asked.indexOf(text));
  assert.ok(
    places.every((place) => place > 0),
    asked,
  );
  assert.deepEqual(
    places,
    [...places].sort((one, other) => one - other),
  );
  await using third = await again.restart();
  const later = (await third.gateway.api.getSession("webui:test")).messages;
  assert.deepEqual(
    later.map(({ content }) => content),
    messages.map(({ content }) => content),
  );
});

for (const [name, spoil] of [
  ["gone", (path: string) => rmSync(path)],
  ["empty", (path: string) => writeFileSync(path, "")],
  ["cut where a line ends", (path: string) => writeFileSync(path, readFileSync(path).subarray(0, lineEnd(path, 4)))],
] as const)
  test(`a log that is ${name} is named by doctor, told by repair and to the chat, and messages come back from the document`, async () => {
    await using model = await startFakeOpenAI({ answer: { text: "ok" } });
    await using telegram = await startFakeTelegram({ token: "4242:test" });
    const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
    const config = openAIConfig(model.apiBase, { channels, owners: ["telegram:1"] });
    await using gateway = await startGateway({ config });
    for (const text of ["I am Ada", "I live in Kassel"]) {
      telegram.pushText({ chatId: 9, userId: 9, text });
      await telegram.waitForSent(text === "I am Ada" ? 1 : 2);
    }
    const { messages: before } = await gateway.gateway.api.getSession("telegram:9");
    await gateway.gateway.drain(2000);
    await gateway.gateway[Symbol.asyncDispose]();
    spoil(join(gateway.workspace, ".sessions", "telegram_9.events.jsonl"));

    const found = await runMaxclaw(["doctor"], gateway.home);
    assert.equal(found.code, 1, found.stdout);
    assert.match(found.stdout, /The log of telegram:9 (has no events|ends with event \d+), and its document shows/);
    const repaired = await runMaxclaw(["repair"], gateway.home);
    assert.match(repaired.stdout, /telegram:9/);
    assert.doesNotMatch((await runMaxclaw(["doctor"], gateway.home)).stdout, /its document shows/);
    await using again = await startGateway({ home: gateway.home, isRuled: false });
    telegram.pushText({ chatId: 9, userId: 9, text: "Who am I?" });
    const told = (): number =>
      telegram.sent.filter(({ chatId, text }) => chatId === "9" && damagedText.test(text)).length;
    await until("the chat is told and answered", () => told() === 1 && telegram.sent.at(-1)?.text === "ok");
    const { messages } = await again.gateway.api.getSession("telegram:9");
    assert.deepEqual(
      messages.slice(0, before.length).map(({ content }) => content),
      before.map(({ content }) => content),
    );
    assert.equal((await again.gateway.api.status()).problems.filter((text) => text.includes("telegram:9")).length, 1);
  });

function lineEnd(path: string, line: number): number {
  const bytes = readFileSync(path);
  let end = 0;
  for (let at = 0; at < line; at += 1) end = bytes.indexOf(10, end) + 1;
  return end;
}
