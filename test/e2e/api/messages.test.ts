import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { StoredEvent } from "../../../src/events/event.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createSnapshots } from "../../support/rules/snapshots.js";
import { callThenDone, lastResult, resultsIn, startWorld } from "../../support/worlds/channels/chat-world.js";
import { assertSound, openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";

const artifacts = (events: readonly StoredEvent[]) =>
  events.flatMap((event) => (event.type === "artifact_state_changed" ? [event.payload] : []));

test("message: here at once; elsewhere only for an owner, after a yes, and only where somebody has written", async () => {
  let input: Record<string, unknown> = {};
  await using w = await startWorld((request) =>
    resultsIn(request) === 0
      ? { toolCalls: [{ id: `c${request.index}`, name: "message", input }] }
      : { text: `done: ${lastResult(request)}` },
  );
  input = { text: "on my way" };
  w.say(7, "hello");
  await w.shown("done: Sent here.");
  assert.deepEqual(
    w.telegram.sent.map(({ chatId, text }) => [String(chatId), text]),
    [
      ["7", "on my way"],
      ["7", "done: Sent here."],
    ],
  );
  input = { text: "psst", chat: "1" };
  w.say(7, "tell the owner");
  await w.shown(/done: message may write to other chats for an owner/);
  input = { text: "psst", chat: "99" };
  w.say(7, "tell nobody");
  await until("the same sentence for a chat that there is not", () => w.telegram.sent.length === 4);
  assert.equal(w.telegram.sent[3]?.text, w.telegram.sent[2]?.text);
  for (const [wanted, why] of [
    [{ chat: "99" }, /I do not know a chat 99 on telegram/],
    [{ chat: "" }, /I do not know a chat/],
    [
      { channel: "telegram", chat_id: "7" },
      /chat_id.* is not a field \(did you mean .*chat.*\?\)\. Fields: text, channel, chat\./,
    ],
    [{ to: "Bob" }, /\bto\b.* is not a field.* Fields: text, channel, chat\./],
    [{ channel: "discord", chat: "7" }, /There is no channel discord\. Channels: telegram\./],
    [{ channel: "webui", chat: "x" }, /You cannot write to people on webui/],
    [{ channel: "discord" }, /Which chat of discord/],
  ] as const) {
    input = { text: "hi", ...wanted };
    w.say(1, `try ${JSON.stringify(wanted)}`);
    await w.shown(why);
  }
  input = { text: "dinner is ready", channel: "telegram", chat: "7" };
  w.say(1, "call them");
  const question = await w.shown(/May I write to telegram:7/);
  assert.equal(String(question.chatId), "1");
  assert.ok(!w.telegram.sent.some(({ text }) => text === "dinner is ready"), "not before the yes");
  w.press(question, "1. Allow once", 1);
  const shown = await w.shown(/^dinner is ready$/);
  assert.equal(String(shown.chatId), "7");
  await w.shown("done: Sent to telegram:7.");
  const events = await w.gateway.events("telegram:1");
  assertSound(events);
  const told = events.filter(
    (event) => event.type === "outbound_delivery_changed" && event.payload.content === "dinner is ready",
  );
  assert.equal(told.length, 1);
});

test("anyone who answers what was said to them from another chat is understood", async () => {
  const script = callThenDone("message", { text: "Dinner is at eight.", chat: "7" });
  await using w = await startWorld((request) =>
    /call them|once more/.test(request.bodyText) ? script(request) : { text: "hm" },
  );
  w.say(7, "hello");
  await w.shown("hm");
  w.say(1, "call them");
  w.press(await w.shown(/May I write to telegram:7/), "1. Allow once", 1);
  await w.shown("done: Sent to telegram:7.");
  w.say(7, "can we make it nine?");
  await until("the answer is asked for", () => w.model.requests.at(-1)?.bodyText.includes("make it nine") === true);
  const messages = w.model.requests.at(-1)?.body.messages as readonly { role: string; content: unknown }[];
  const said = messages.filter(({ content }) => JSON.stringify(content).includes("Dinner is at eight."));
  assert.deepEqual(
    said.map(({ role }) => role),
    ["assistant"],
  );
  w.gateway = await w.gateway.restart();
  const { messages: shown } = await w.gateway.gateway.api.getSession("telegram:7");
  assert.equal(shown.filter(({ content }) => content === "Dinner is at eight.").length, 1, "and people find it there");
});

test("on the page the text is in the conversation, and the model does not see it a second time", async () => {
  await using model = await startFakeOpenAI({ answer: callThenDone("message", { text: "one moment" }) });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase), isRuled: true });
  assert.equal((await gateway.ask("go")).response, "done: Sent here.");
  const said = (await gateway.events()).flatMap((event) =>
    event.type === "assistant_message" && event.source === "gateway" ? [event.payload.content] : [],
  );
  assert.deepEqual(said, [[{ type: "text", text: "one moment" }]]);
  const seen = JSON.stringify(model.requests[1]?.body.messages).split("one moment").length - 1;
  assert.equal(seen, 1, "in the call's input only");
});

test("send_file: a copy that stays, told, and read over HTTP with the token alone", async () => {
  let file = "a.txt";
  await using w = await startWorld((request) =>
    resultsIn(request) === 0
      ? { toolCalls: [{ id: `c${request.index}`, name: "send_file", input: { path: file, text: "as you asked" } }] }
      : { text: `done: ${lastResult(request)}` },
  );
  const folder = join(w.gateway.workspace, ".sessions", "telegram_7");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a.txt"), "first");
  w.say(7, "send it");
  await until("it is ready", async () => {
    const events = await w.gateway.events("telegram:7").catch(() => []);
    return artifacts(events).some(({ status }) => status === "ready");
  });
  const [created, ready] = artifacts(await w.gateway.events("telegram:7"));
  assert.equal(created?.status, "created");
  assert.equal(ready?.size_bytes, 5);
  assert.equal(ready?.mime_type, "text/plain");
  writeFileSync(join(folder, "a.txt"), "second");
  const { api, address } = w.gateway.gateway;
  const url = (id: string, key = "telegram:7"): string =>
    `http://${address}/api/sessions/${encodeURIComponent(key)}/artifacts/${encodeURIComponent(id)}`;
  const id = ready?.artifact_id ?? "";
  const response = await fetch(url(id));
  assert.equal(response.status, 200);
  assert.equal(await response.text(), "first");
  assert.match(response.headers.get("content-disposition") ?? "", /^attachment; filename="a\.txt"/);
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  assert.match(response.headers.get("content-security-policy") ?? "", /sandbox/);
  assert.equal((await fetch(url(id), { method: "HEAD" })).headers.get("content-length"), "5");
  for (const [wrong, key] of [
    [id, "telegram:8"],
    ["art_00000000000000000000", "telegram:7"],
    ["../a.txt", "telegram:7"],
    ["..", "telegram:7"],
  ] as const)
    assert.equal((await fetch(url(wrong, key))).status, 404, wrong);
  // What a tool puts there leads nowhere.
  const planted = "art_aaaaaaaaaaaaaaaaaaaa";
  mkdirSync(join(folder, "artifacts", planted), { recursive: true });
  symlinkSync(join(w.home, "config.json"), join(folder, "artifacts", planted, "config.json"));
  assert.equal((await fetch(url(planted))).status, 404);
  symlinkSync(w.home, join(folder, "artifacts", "art_bbbbbbbbbbbbbbbbbbbb"));
  assert.equal((await fetch(url("art_bbbbbbbbbbbbbbbbbbbb"))).status, 404);
  mkdirSync(join(folder, "artifacts", "art_cccccccccccccccccccc"));
  execFileSync("mkfifo", [join(folder, "artifacts", "art_cccccccccccccccccccc", "a.txt")]);
  assert.equal((await fetch(url("art_cccccccccccccccccccc"))).status, 404);
  // The copy is not where tools write, and one from before is still found there.
  assert.ok(existsSync(join(w.gateway.workspace, ".sessions/.kept/telegram_7/artifacts", id, "a.txt")));
  mkdirSync(join(folder, "artifacts", "art_dddddddddddddddddddd"));
  writeFileSync(join(folder, "artifacts", "art_dddddddddddddddddddd", "old.txt"), "old");
  assert.equal(await (await fetch(url("art_dddddddddddddddddddd"))).text(), "old");
  for (const [path, why] of [
    ["missing.txt", /missing\.txt does not exist/],
    [join(w.home, "config.json"), /The gateway's own files are not shown to tools/],
    ["../telegram_8/x", /is not for this chat/],
  ] as const) {
    file = path;
    w.say(7, `send ${path}`);
    await w.shown(why);
  }
  await api.deleteSession("telegram:7");
  assert.equal((await fetch(url(id))).status, 404);
});

test("a kill at any moment of a message and a file: each is sent once", async () => {
  await using model = await startFakeOpenAI({
    answer: (request) =>
      [
        { toolCalls: [{ id: "a", name: "message", input: { text: "first" } }] },
        { toolCalls: [{ id: "a", name: "message", input: { text: "second" } }] },
        { toolCalls: [{ id: "f", name: "send_file", input: { path: "a.txt" } }] },
      ][resultsIn(request)] ?? { text: "done" },
  });
  const home = await tempHome();
  const folder = join(home, "workspace", ".sessions", "webui_test");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a.txt"), "content");
  using snapshots = createSnapshots(home);
  {
    const config = openAIConfig(model.apiBase);
    await using gateway = await startGateway({ home, config, onBoundary: (name) => snapshots.take(name) });
    snapshots.start();
    await gateway.ask("go", { messageId: "message-1" });
    snapshots.stop();
  }
  assert.ok(snapshots.taken.length > 12, `${snapshots.taken.length} points`);
  for (const [index, { name, home: copy }] of snapshots.taken.entries()) {
    const where = `point ${index}, ${name}`;
    await using gateway = await startGateway({ home: copy });
    const before = await gateway.events().catch(() => []);
    if (!before.some(({ type }) => type === "user_message_queued")) continue;
    assert.equal((await gateway.outcome("message-1")).response, "done", where);
    const events = await gateway.events();
    assertSound(events);
    const said = events.flatMap((event) =>
      event.type === "assistant_message" && event.source === "gateway" ? [JSON.stringify(event.payload.content)] : [],
    );
    assert.deepEqual(
      said.map((text) => /first|second/.exec(text)?.[0]),
      ["first", "second"],
      where,
    );
    assert.deepEqual(
      artifacts(events).map(({ status }) => status),
      ["created", "ready"],
      where,
    );
    const results = events.filter((event) => event.type === "tool_execution_complete" && event.payload.is_error);
    assert.deepEqual(results, [], where);
    const calls = ["tool_execution_start", "tool_execution_complete"].map(
      (type) => events.filter((event) => event.type === type).length,
    );
    assert.deepEqual(calls, [3, 3], where);
  }
});
