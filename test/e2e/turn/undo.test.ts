import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gate } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { assertSound, startWithModel, type TestGateway } from "../../support/worlds/gateway.js";

async function said(gateway: TestGateway): Promise<readonly string[]> {
  const { messages } = await gateway.gateway.api.getSession("webui:test");
  return messages.map(({ content }) => content).filter((text) => !text.startsWith("/") && !text.startsWith("Undone"));
}

test("/undo leaves the last turn out, again the one before, and says when nothing is left; the log keeps all of it", async () => {
  await using t = await startWithModel(({ userText }) => ({ text: `re: ${userText.split("\n").at(-1)}` }));
  for (const text of ["apples", "pears", "plums"]) await t.gateway.ask(text);
  const before = await t.gateway.events();
  assert.match((await t.gateway.ask("/undo")).response, /^Undone\. I no longer see “plums”/);
  assert.deepEqual(await said(t.gateway), ["apples", "re: apples", "pears", "re: pears"]);
  assert.match((await t.gateway.ask("/undo")).response, /^Undone\. I no longer see “pears”/);
  await using again = await t.gateway.restart();
  assert.deepEqual(await said(again), ["apples", "re: apples"]);
  await again.ask("cherries");
  assert.match(t.model.requests.at(-1)?.bodyText ?? "", /apples.*cherries/s);
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /pears|plums|undo/i);
  for (const text of ["cherries", "apples"])
    assert.match((await again.ask("/undo")).response, new RegExp(`^Undone\\. I no longer see “${text}”`));
  assert.equal((await again.ask("/undo")).response, "There is nothing to undo.");
  const events = await again.events();
  assertSound(events);
  assert.deepEqual(events.slice(0, before.length), before, "nothing that was written is changed");
  const undone = events.flatMap((event) => (event.type === "session_history_changed" ? [event.payload] : []));
  assert.deepEqual(
    undone.map(({ kind }) => kind),
    ["undo", "undo", "undo", "undo"],
  );
  await again.gateway.drain(0);
  await again.gateway[Symbol.asyncDispose]();
  const document = JSON.parse(readFileSync(join(again.workspace, ".sessions", "webui_test.json"), "utf8"));
  assert.doesNotMatch(JSON.stringify(document.messages), /apples"|pears"|plums"/);
});

test("/undo waits for the turn that runs and takes that one back, with what the tools did told", async () => {
  const held = gate();
  await using t = await startWithModel(async ({ index }) => {
    if (index === 0) return { text: "first" };
    await held.opened;
    return index === 1
      ? { toolCalls: [{ id: "c", name: "write_file", input: { path: "note.txt", content: "x" } }] }
      : { text: "written" };
  });
  await t.gateway.ask("one");
  const running = await t.gateway.post("write it down");
  await t.model.waitForRequests(2);
  const undo = await t.gateway.post("/undo");
  held.open();
  assert.equal((await t.gateway.outcome(running)).response, "written");
  assert.match((await t.gateway.outcome(undo)).response, /“write it down”.*What its tools did stays done/);
  assert.deepEqual(await said(t.gateway), ["one", "first"]);
  assertSound(await t.gateway.events());
});

test("a fresh conversation has nothing to undo, whatever was before it", async () => {
  await using t = await startWithModel({ text: "ok" });
  await t.gateway.ask("melons");
  await t.gateway.ask("/new");
  assert.equal((await t.gateway.ask("/undo")).response, "There is nothing to undo.");
  await t.gateway.ask("quinces");
  await t.gateway.ask("/undo");
  assert.deepEqual((await said(t.gateway)).slice(0, 2), ["melons", "ok"]);
  await t.gateway.ask("figs");
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /melons|quinces/);
});

test("in a group only who asked, or an owner, can undo it, and nobody once it is over", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using t = await startWithModel({ text: "ok" }, { channels, owners: ["telegram:1"] });
  const reply = async (userId: number, text: string, count: number): Promise<string> => {
    telegram.pushText({ chatId: -5, userId, text, replyTo: { messageId: 1, fromBot: true } });
    return (await telegram.waitForSent(count)).at(-1)?.text ?? "";
  };
  await reply(2, "tea", 1);
  assert.match(await reply(3, "/undo", 2), /Somebody else asked that/);
  assert.match(await reply(2, "/undo", 3), /“tea”/);
  await reply(2, "coffee", 4);
  assert.match(await reply(1, "/undo@my_bot", 5), /“coffee”/);
  await t.gateway.gateway.api.completeSession("telegram:-5");
  assert.match(await reply(1, "/undo", 6), /This conversation is completed\. Send \/new/);
  assertSound(await t.gateway.events("telegram:-5"));
});
