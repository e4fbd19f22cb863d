import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createSnapshots } from "../../support/rules/snapshots.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { assertSound, openAIConfig, startGateway, type TestGateway, tempHome } from "../../support/worlds/gateway.js";
import { cast, changesIn, children, eventsOf, resultsOf, startOne } from "../../support/worlds/tools/sub-agents.js";

const key = "webui:test";

const said = async (gateway: TestGateway, text: string): Promise<number> =>
  (await eventsOf(gateway, key)).filter(
    (event) =>
      event.type === "assistant_message" && event.payload.final && JSON.stringify(event.payload).includes(text),
  ).length;

test("a kill at any moment from the call to the report: started once, and told once", async (t) => {
  await using model = await startFakeOpenAI({
    answer: cast({
      parent: (_, count) => (count === 0 ? startOne("find it") : { text: "started" }),
      child: () => ({ text: "found" }),
      told: () => ({ text: "I was told" }),
    }),
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, onBoundary: (name) => snapshots.take(name) });
    snapshots.start();
    await gateway.post("go", { messageId: "message-1" });
    await until("the result was told", async () => (await said(gateway, "I was told")) === 1, 10_000);
    snapshots.stop();
  }
  t.diagnostic(`${snapshots.taken.length} points`);
  assert.ok(snapshots.taken.length > 30, `${snapshots.taken.length} points`);
  let begun = 0;
  for (const [index, { name, home: copy }] of snapshots.taken.entries()) {
    const where = `point ${index}, ${name}`;
    await using gateway = await startGateway({ home: copy });
    const before = await eventsOf(gateway, key);
    if (!before.some(({ type }) => type === "user_message_queued")) continue;
    if (before.some(({ type }) => type === "tool_execution_start")) begun += 1;
    await until(`${where}: the result is told`, async () => (await said(gateway, "I was told")) > 0, 10_000);
    const events = await gateway.events(key);
    assertSound(events);
    const changes = changesIn(events).map(({ from, to }) => `${from} ${to}`);
    assert.deepEqual(changes, ["none pending", "pending running", "running completed"], where);
    assert.equal(resultsOf(events).length, 1, where);
    assert.equal(await said(gateway, "I was told"), 1, where);
    const keys = await children(gateway);
    assert.equal(keys.length, 1, where);
    const child = await gateway.events(keys[0]);
    assertSound(child);
    assert.equal(child.filter(({ type }) => type === "user_message_queued").length, 1, where);
  }
  assert.ok(begun > 20, `${begun} points behind the begin of the call`);
});

test("kill -9 while the sub-agent works: it goes on, and the chat hears about it once", async () => {
  const held = gate();
  await using model = await startFakeOpenAI({
    answer: cast({
      parent: (_, count) => (count === 0 ? startOne("find it") : { text: "started" }),
      async child() {
        await held.opened;
        return { text: "found" };
      },
      told: () => ({ text: "I was told" }),
    }),
  });
  const telegram = await startFakeTelegram({ token: "4242:spawn" });
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })));
  try {
    await using first = await startDaemon({ home });
    telegram.pushText({ chatId: 9, userId: 9, text: "go" });
    await telegram.waitForSent(1, 15_000);
    await until("the sub-agent works", () => model.requests.length === 3, 15_000);
    // A reply whose way is not known yet would be sent again.
    await until(
      "the first reply is known to be sent",
      async () => (await (await fetch(`${first.url}/api/sessions/telegram:9/events`)).text()).includes('"sent"'),
      15_000,
    );
    await first.end("SIGKILL");
    held.open();
    await using second = await startDaemon({ home });
    await telegram.waitForSent(2, 15_000);
    assert.equal(await second.end("SIGTERM"), 0);
    assert.deepEqual(
      telegram.sent.map(({ text }) => text),
      ["started", "I was told"],
    );
    const ledger = await runMaxclaw(["ledger", "check", "--json"], home);
    assert.equal(ledger.code, 0, ledger.stdout + ledger.stderr);
  } finally {
    await telegram.stop();
  }
});

test("orderly stops while the sub-agent works store each event once", async () => {
  const held = gate();
  await using model = await startFakeOpenAI({
    answer: cast({
      parent: (_, count) => (count === 0 ? startOne("find it") : { text: "started" }),
      async child() {
        await held.opened;
        return { text: "found" };
      },
      told: () => ({ text: "I was told" }),
    }),
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  let gateway = await startGateway({ home });
  try {
    await gateway.post("go", { messageId: "message-1" });
    let asked = 0;
    for (let stops = 0; stops < 3; stops += 1) {
      await until("the sub-agent works", async () => changesIn(await eventsOf(gateway, key)).at(-1)?.to === "running");
      await until("a model is asked", () => model.requests.length > asked, 10_000);
      asked = model.requests.length;
      gateway = await gateway.restart();
    }
    held.open();
    await until("the result is told", async () => (await said(gateway, "I was told")) > 0, 10_000);
    const events = await gateway.events(key);
    assertSound(events);
    const ids = events.map(({ event_id: id }) => id);
    assert.equal(new Set(ids).size, ids.length, "each event id is there once");
    const changes = changesIn(events).map(({ from, to }) => `${from} ${to}`);
    assert.deepEqual(changes, ["none pending", "pending running", "running completed"]);
  } finally {
    held.open();
    await gateway[Symbol.asyncDispose]();
  }
});
