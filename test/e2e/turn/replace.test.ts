import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoredEvent } from "../../../src/events/event.js";
import { gate } from "../../support/engine/engine-kit.js";
import { assertSound, startWithModel, type TestGateway } from "../../support/worlds/gateway.js";
import { postJson } from "../../support/worlds/http/http-server.js";

const sessionKey = "webui:test";
const lastWords = (text: string): string => text.slice(text.lastIndexOf("\n\n") + 2);

function seqOf(events: readonly StoredEvent[], words: string): number {
  const found = events.findLast(
    (event) => event.type === "user_message" && JSON.stringify(event.payload.content).includes(words),
  );
  return found?.seq ?? 0;
}

async function send(gateway: TestGateway, message: object): Promise<Record<string, unknown>> {
  const answer = await postJson(`http://${gateway.gateway.address}/api/message`, { sessionKey, ...message });
  // A JSON object, by the documentation of the route.
  return { status: answer.status, ...((await answer.json()) as Record<string, unknown>) };
}

async function said(gateway: TestGateway): Promise<readonly string[]> {
  const { messages } = await gateway.gateway.api.getSession(sessionKey);
  return messages.map(({ content }) => content);
}

test("a message that replaces an earlier one is answered in its place, once however often it is brought, over a restart too", async () => {
  await using t = await startWithModel(({ userText }) => ({ text: `re: ${lastWords(userText)}` }));
  for (const text of ["apples", "pears", "plums"]) await t.gateway.ask(text);
  const replaces = seqOf(await t.gateway.events(), "pears");
  const message = { content: "peaches", messageId: "msg_peaches", replaces };
  assert.equal((await send(t.gateway, message)).response, "re: peaches");
  assert.deepEqual(await said(t.gateway), ["apples", "re: apples", "peaches", "re: peaches"]);
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /pears|plums/);
  assert.equal((await send(t.gateway, message)).response, "re: peaches");
  await using again = await t.gateway.restart();
  assert.deepEqual(await said(again), ["apples", "re: apples", "peaches", "re: peaches"]);
  await again.ask("/undo");
  assert.deepEqual((await said(again)).slice(0, 2), ["apples", "re: apples"]);
  assert.doesNotMatch(JSON.stringify(await said(again)), /re: (?:peaches|pears|plums)/);
  assertSound(await again.events());
});

test("the answer that is being written stops when what it answers is replaced", async () => {
  const held = gate();
  await using t = await startWithModel(async ({ userText, index }) => {
    if (index === 1) await held.opened;
    return { text: `re: ${lastWords(userText)}` };
  });
  await t.gateway.ask("apples");
  await t.gateway.post("pears");
  await t.model.waitForRequests(2);
  const replaces = seqOf(await t.gateway.events(), "pears");
  assert.equal((await send(t.gateway, { content: "plums", mode: "append", replaces })).response, "re: plums");
  held.open();
  assert.deepEqual(await said(t.gateway), ["apples", "re: apples", "plums", "re: plums"]);
  assertSound(await t.gateway.events());
});

test("one that had joined a running answer is replaced without what came before it", async () => {
  const held = gate();
  await using t = await startWithModel(async ({ userText, index }) => {
    if (index > 0) return { text: `re: ${lastWords(userText)}` };
    await held.opened;
    return { text: "Let me look.", toolCalls: [{ id: "call", name: "list_dir", input: {} }] };
  });
  const first = await t.gateway.post("look");
  await t.model.waitForRequests(1);
  await t.gateway.post("and be quick", { mode: "append" });
  held.open();
  await t.gateway.outcome(first);
  const replaces = seqOf(await t.gateway.events(), "and be quick");
  await send(t.gateway, { content: "take your time", replaces });
  const request = t.model.requests.at(-1)?.bodyText ?? "";
  assert.match(request, /look.*Let me look.*take your time/s);
  assert.doesNotMatch(request, /be quick/, request);
  assertSound(await t.gateway.events());
});

test("what the model does not see as it was written any more cannot be replaced", async () => {
  await using t = await startWithModel({ text: "ok" });
  await t.gateway.ask("melons");
  const melons = seqOf(await t.gateway.events(), "melons");
  await t.gateway.ask("/new");
  const refused = async (replaces: number): Promise<void> => {
    const { status, code, error } = await send(t.gateway, { content: "figs", replaces });
    assert.deepEqual([status, code], [409, "cannot_replace"]);
    assert.match(String(error), /Fork the session before it/);
  };
  await refused(melons);
  await refused(melons + 1);
  await refused(100_000);
  assert.equal((await send(t.gateway, { content: "figs", replaces: 0 })).status, 400);
  assert.equal(t.model.requests.length, 1);
});
