import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startWithModel } from "../../support/worlds/gateway.js";
import type { RecordedRequest } from "../../support/worlds/model-script.js";

const call = (name: string, input: unknown) => ({ toolCalls: [{ id: "call_1", name, input }] });
const toolResult = ({ bodyText }: RecordedRequest): string =>
  /"role":"tool".*?"content":"(.*?)"\}/.exec(bodyText)?.[1] ?? "";

test("what is to be remembered is in every later conversation", async () => {
  await using t = await startWithModel([call("memory_write", { text: "The cat is called Mia." }), { text: "Noted." }]);
  assert.equal((await t.gateway.ask("remember that my cat is called Mia")).response, "Noted.");
  assert.equal(await readFile(join(t.gateway.workspace, "memory/MEMORY.md"), "utf8"), "- The cat is called Mia.\n");
  t.model.setAnswer({ text: "Mia" });
  await t.gateway.ask("what is my cat called?", { key: "webui:other" });
  assert.match(t.model.requests.at(-1)?.bodyText ?? "", /# Memory\\n- The cat is called Mia\./);
});

test("what is remembered is known to the very next message, however soon it comes", async () => {
  await using t = await startWithModel({ text: "ok" });
  for (let n = 0; n < 20; n++) {
    t.model.setAnswer([call("memory_write", { text: `Cat ${n} is black.` }), { text: "Noted." }]);
    await t.gateway.ask("remember it");
    t.model.setAnswer({ text: "ok" });
    await t.gateway.ask("what do you know?", { key: "webui:other" });
    assert.ok(t.model.requests.at(-1)?.bodyText.includes(`- Cat ${n} is black.`), `cat ${n}`);
  }
});

test("earlier conversations are found, also in Chinese and after a restart, but not the question itself", async () => {
  await using t = await startWithModel({ text: "好的，我记住了龙虾网关。" });
  await t.gateway.ask("我的项目叫做龙虾网关", { key: "webui:old" });
  await using again = await t.gateway.restart();
  t.model.setAnswer([call("memory_search", { query: "龙虾网关" }), { text: "ok" }]);
  await again.ask("龙虾网关 是什么？", { key: "webui:new" });
  const found = toolResult(t.model.requests.at(-1) as RecordedRequest);
  assert.match(found, /webui:old, user\] 我的项目叫做龙虾网关/);
  assert.doesNotMatch(found, /webui:new/);
});

test("a conversation is named by the model once, and a person's own title stays", async () => {
  const answer = (request: RecordedRequest) =>
    /Name this conversation/.test(request.bodyText) ? { text: '"Tea and cats."\n' } : { text: "ok" };
  await using t = await startWithModel(answer, { memory: { titles: "model" } });
  await t.gateway.ask("let us talk about tea and cats");
  const named = await t.gateway.waitForEvent(
    (event) => event.type === "session_title_generated" && event.payload.generated_by === "model",
  );
  assert.ok(named.type === "session_title_generated");
  const { title, generated_by } = named.payload;
  assert.deepEqual([title, generated_by], ["Tea and cats", "model"]);
  await t.gateway.ask("more");
  await t.api.renameSession("webui:test", "Mine");
  await t.gateway.ask("and more");
  assert.equal((await t.api.getSession("webui:test")).title, "Mine");
  assert.equal(t.model.requests.filter(({ bodyText }) => /Name this conversation/.test(bodyText)).length, 1);
});

test("a chat command asks for no title and is in none: the first words for the model are", async () => {
  const answer = (request: RecordedRequest) =>
    /Name this conversation/.test(request.bodyText) ? { text: "Tea" } : { text: "ok" };
  await using t = await startWithModel(answer, { memory: { titles: "model" } });
  await t.gateway.ask("/help");
  await t.gateway.ask("/help");
  await t.gateway.ask("let us talk about tea");
  await t.gateway.waitForEvent(
    (event) => event.type === "session_title_generated" && event.payload.generated_by === "model",
  );
  const asked = t.model.requests.flatMap(({ bodyText }) => (/Name this/.test(bodyText) ? [bodyText] : []));
  assert.equal(asked.length, 1);
  assert.match(asked[0] ?? "", /user: let us talk about tea.*assistant: ok/);
  assert.doesNotMatch(asked[0] ?? "", /help|what you can type/);
});

test("a model that gives no title leaves the first words", async () => {
  const answer = (request: RecordedRequest) =>
    /Name this conversation/.test(request.bodyText) ? { status: 500 } : { text: "ok" };
  await using t = await startWithModel(answer, { memory: { titles: "model" } });
  await t.gateway.ask("one two three four five six seven eight nine ten eleven twelve thirteen");
  const named = await t.gateway.waitForEvent(({ type }) => type === "session_title_generated");
  assert.ok(named.type === "session_title_generated");
  assert.deepEqual(named.payload, {
    title: "one two three four five six seven eight nine ten eleven …",
    generated_by: "fallback",
  });
});
