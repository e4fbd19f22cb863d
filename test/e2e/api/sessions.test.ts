import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../support/worlds/gateway.js";

async function start(more: Record<string, unknown> = {}) {
  const model = await startFakeOpenAI({ answer: { text: "ok" } });
  // With one provider alone any name would be one of its models.
  const { apiBase } = model;
  const providers = { openai: { apiKey: "sk-test-key", apiBase }, groq: { apiKey: "gsk-test-key", apiBase } };
  const gateway = await startGateway({ config: openAIConfig(apiBase, { providers, ...more }) });
  return {
    model,
    gateway,
    api: gateway.gateway.api,
    url: `http://${gateway.gateway.address}`,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

interface Page {
  readonly sessions: readonly { readonly key: string; readonly messageCount: number; readonly lastMessage?: string }[];
  readonly total: number;
}

test("sessions are listed newest first, in pages without gaps or repeats, by channel and by chat", async () => {
  await using t = await start();
  for (const key of ["webui:a", "cli:b", "webui:c", "telegram:7", "telegram:7:3", "telegram:77"])
    await t.gateway.ask(`hello ${key}`, { key });
  const list = async (query: string): Promise<Page> =>
    (await (await fetch(`${t.url}/api/sessions?${query}`)).json()) as Page;
  const keys = (page: Page): readonly string[] => page.sessions.map(({ key }) => key);
  assert.deepEqual(keys(await list("")), ["telegram:77", "telegram:7:3", "telegram:7", "webui:c", "cli:b", "webui:a"]);
  assert.deepEqual(keys(await list("limit=4&offset=1")), ["telegram:7:3", "telegram:7", "webui:c", "cli:b"]);
  assert.equal((await list("limit=4&offset=1")).total, 6);
  assert.deepEqual(keys(await list("offset=6")), []);
  assert.deepEqual(keys(await list("channel=webui")), ["webui:c", "webui:a"]);
  assert.deepEqual(keys(await list("chat_id=7")), ["telegram:7:3", "telegram:7"]);
  assert.deepEqual(keys(await list("channel=cli&chat_id=7")), []);
  const [first] = (await list("limit=1")).sessions;
  assert.deepEqual([first?.messageCount, first?.lastMessage], [2, "ok"]);
  assert.ok(!keys(await list("limit=200")).some((key) => key.startsWith("system:")));
});

test("a session made for a model uses it; one that no provider has is refused with what to do", async () => {
  await using t = await start();
  const made = await t.api.createSession({
    key: "webui:other",
    model: "openai/other-model",
    title: "Other",
    cwd: ".",
  });
  assert.deepEqual(made, { key: "webui:other", reused: false });
  assert.deepEqual(await t.api.createSession({ key: "webui:other" }), { key: "webui:other", reused: true });
  const before = (await t.api.getSession("webui:other")).metadata;
  assert.deepEqual([before.state, before.model, before.cwd], ["created", "openai/other-model", "."]);
  assert.equal((await t.gateway.ask("hi", { key: "webui:other" })).end, "complete");
  assert.equal(t.model.requests[0]?.body.model, "other-model");
  await assert.rejects(t.api.createSession({ key: "webui:wrong", model: "nobody/has-this" }), /nobody\/has-this/);
  await assert.rejects(t.api.getSession("webui:wrong"), /no session/);
});

test("a session is made only for a folder of the workspace", async () => {
  await using t = await start();
  await mkdir(join(t.gateway.workspace, "project"));
  await writeFile(join(t.gateway.workspace, "notes.txt"), "text");
  await symlink("/etc", join(t.gateway.workspace, "away"));
  for (const [cwd, why] of [
    ["/etc", /cwd: \/etc is outside the workspace\. Name a folder in the workspace \/.*\/workspace\.$/],
    ["../..", /is outside the workspace/],
    ["away", /is outside the workspace/],
    ["nope", /nope does not exist/],
    ["notes.txt", /notes\.txt is not a folder/],
  ] as const) {
    await assert.rejects(t.api.createSession({ key: "webui:wrong", cwd }), why);
    await assert.rejects(t.api.getSession("webui:wrong"), /no session/);
  }
  assert.equal((await t.api.createSession({ key: "webui:right", cwd: "project" })).reused, false);
});

test("a title stays through turns and restarts, and is cut between characters", async () => {
  await using t = await start();
  await t.gateway.ask("hi");
  await t.api.renameSession("webui:test", `  ${"x".repeat(199)}😀 and more  `);
  await t.gateway.ask("again");
  const document = await t.api.getSession("webui:test");
  assert.deepEqual([document.title, document.titleSource], ["x".repeat(199), "user"]);
  await assert.rejects(t.api.renameSession("webui:test", "   "), /at least one character/);
  await assert.rejects(t.api.renameSession("webui:unknown", "title"), /no session/);
  await using again = await t.gateway.restart();
  assert.equal((await again.gateway.api.listSessions({ limit: 1, offset: 0 })).sessions[0]?.title, "x".repeat(199));
});

test("looking at what is not there makes no session", async () => {
  await using t = await start();
  const { signal } = new AbortController();
  await assert.rejects(t.api.waitForTurn("webui:nobody", "msg_unknown", signal), /no message/);
  await assert.rejects(t.api.getSession("webui:nobody"), /no session/);
  assert.equal((await t.api.listSessions({ limit: 10, offset: 0 })).total, 0);
});

test("the end of a turn can be asked for long after it, also after a restart", async () => {
  await using t = await start();
  const first = await t.gateway.post("one");
  assert.equal((await t.gateway.outcome(first)).response, "ok");
  t.model.setAnswer({ text: "later" });
  for (let n = 0; n < 5; n++) await t.gateway.ask(`more ${n}`);
  const stopped = await t.gateway.post("/stop");
  await t.gateway.outcome(stopped);
  assert.equal((await t.gateway.outcome(first)).response, "ok");
  await using again = await t.gateway.restart();
  assert.deepEqual([(await again.outcome(first)).end, (await again.outcome(first)).response], ["complete", "ok"]);
  assert.equal((await again.outcome(stopped)).response, "Nothing is running.");
});

test("an id that another conversation has used is told, and the one that has used it is answered as before", async () => {
  await using t = await start();
  const post = async (sessionKey: string, query = "") => {
    const answer = await fetch(`${t.url}/api/message${query}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sessionKey, content: "hi", messageId: "abc-0001" }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const first = await post("webui:one");
  assert.equal(first.status, 200);
  for (const query of ["", "?stream=1"]) {
    const other = await post("webui:other", query);
    assert.equal(other.status, 409);
    assert.match(
      other.text,
      /abc-0001 was used before, in another conversation.*unique over all conversations.*id_used/,
    );
  }
  assert.deepEqual(await post("webui:one"), first);
  await assert.rejects(t.api.getSession("webui:other"), /no session|not_found|There is/);
});
