import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import {
  answeredIn,
  type ChatWorld,
  callThenDone,
  group,
  startWorld,
} from "../../../support/worlds/channels/chat-world.js";
import { assertSound } from "../../../support/worlds/gateway.js";

const drinks = { question: "What shall I order?", options: ["Coffee", "Tea"] };

const openIn = (w: ChatWorld): number => w.gateway.gateway.api.listQuestions().length;

for (const [command, answer] of [
  ["/help", "/status – how the gateway is doing"],
  ["/status", /waiting|model|Running|up/i],
  ["/usage", "This conversation:"],
  ["/model", "Default:"],
  ["/compact", "I am working on an answer."],
  ["/skills", "/skills off NAME"],
  ["/cron", "Nothing is scheduled in this chat."],
  ["/plan", "There is no plan here."],
  ["/deny", "Nothing is waiting for your approval here."],
] as const)
  test(`${command} is answered at once while a question is open, and the question stays open`, async () => {
    await using w = await startWorld(callThenDone("ask_human", { ...drinks }));
    w.say(1, "order something");
    await w.shown("What shall I order?");
    const before = w.telegram.sent.length;
    w.say(1, command);
    await until("the command is answered", () => w.telegram.sent.length > before, 10_000);
    const said = w.telegram.sent[before]?.text ?? "";
    if (typeof answer === "string") assert.ok(said.includes(answer), said);
    else assert.match(said, answer);
    assert.equal(openIn(w), 1);
    w.say(1, "2");
    await w.shown("done: Tea");
    const events = await w.gateway.events("telegram:1");
    assertSound(events);
    assert.deepEqual(
      answeredIn(events).map(({ answer: given }) => given),
      ["Tea"],
    );
    assert.ok(!w.model.requests.some(({ bodyText }) => bodyText.includes(command)), "the model does not see it");
  });

test("a command that was typed before the question opened does not wait behind it", async () => {
  await using w = await startWorld(async (request) => {
    if (request.index === 0) w.say(1, "/usage");
    if (request.index === 0)
      await until("it is accepted", async () => (await w.gateway.gateway.api.status()).inboundWaiting === 2);
    return request.index === 0 ? { toolCalls: [{ id: "ask", name: "ask_human", input: drinks }] } : { text: "done" };
  });
  w.say(1, "order something");
  await w.shown("What shall I order?");
  await w.shown("This conversation:");
  assert.equal(openIn(w), 1);
});

test("an unknown command is told at once while a permission is asked for", async () => {
  await using w = await startWorld(callThenDone("write_file", { path: "../../notes.txt", content: "x" }));
  w.say(1, "write it down");
  await w.shown(/May I write/);
  w.say(1, "/hepl");
  await w.shown("/hepl is not a command. Did you mean /help?");
  assert.equal(openIn(w), 1);
});

test("/new and /undo take the question back and are answered at once", async () => {
  for (const [command, answer] of [
    ["/new", "A fresh conversation."],
    ["/undo", "Undone."],
  ] as const) {
    await using w = await startWorld(callThenDone("ask_human", drinks));
    w.say(1, "order something");
    await w.shown("What shall I order?");
    w.say(1, command);
    await w.shown(answer);
    assert.equal(openIn(w), 0);
    const events = await w.gateway.events("telegram:1");
    assert.deepEqual(
      answeredIn(events).map(({ outcome }) => outcome),
      ["cancelled"],
    );
  }
});

test("/stop ends the turn that asks", async () => {
  await using w = await startWorld(callThenDone("ask_human", drinks));
  w.say(1, "order something");
  await w.shown("What shall I order?");
  w.say(1, "/stop");
  await w.shown("Stopped.");
  assert.equal(openIn(w), 0);
});

test("in a group, others are answered as well, and end nobody's question", async () => {
  await using w = await startWorld(callThenDone("ask_human", drinks));
  w.sayInGroup(42, "Ann", "order something");
  await w.shown("What shall I order?");
  w.sayInGroup(43, "Ben", "/help");
  await w.shown("/status – how the gateway is doing");
  w.sayInGroup(43, "Ben", "/new");
  await w.gateway.waitForEvent(
    (event) =>
      event.type === "user_message_queued" && event.payload.content.some((p) => p.type === "text" && p.text === "/new"),
    group,
  );
  assert.equal(openIn(w), 1);
  w.sayInGroup(42, "Ann", "1");
  await w.shown("done: Coffee");
  await w.shown("A fresh conversation.");
});

test("what was answered beside a question is not answered again after a restart", async () => {
  await using w = await startWorld(callThenDone("ask_human", drinks));
  w.say(1, "order something");
  await w.shown("What shall I order?");
  w.say(1, "/usage");
  await w.shown("This conversation:");
  w.gateway = await w.gateway.restart(undefined, 10_000);
  w.say(1, "Coffee");
  await w.shown("done: Coffee");
  assert.equal(w.telegram.sent.filter(({ text }) => text.includes("This conversation:")).length, 1);
  const { messages } = await w.gateway.gateway.api.getSession("telegram:1");
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content.split("\n")[0]?.slice(0, 18)]),
    [
      ["user", "order something"],
      ["user", "/usage"],
      ["assistant", "This conversation:"],
      ["user", "Coffee"],
      ["assistant", "done: Coffee"],
    ],
  );
});

test("a program that speaks as to OpenAI gets the command's answer, not the question again", async () => {
  await using w = await startWorld(callThenDone("ask_human", drinks));
  const say = async (content: string): Promise<string> => {
    const body = { model: "maxclaw", user: "me", messages: [{ role: "user", content }] };
    const response = await fetch(`http://${w.gateway.gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as {
      readonly choices: readonly { readonly message: { content: string } }[];
    };
    return answer.choices[0]?.message.content ?? "";
  };
  assert.match(await say("order something"), /What shall I order\?/);
  assert.match(await say("/usage"), /^This conversation:/);
  assert.equal(openIn(w), 1);
  assert.match(await say("2"), /done: Tea/);
});

test("a request over HTTP for a command ends with its answer, whole or as a stream", async () => {
  await using w = await startWorld(callThenDone("ask_human", drinks));
  const sessionKey = "webui:0000beef";
  const { api } = w.gateway.gateway;
  await api.send({ sessionKey, content: "order something" });
  await until("it asks", () => openIn(w) === 1);
  const post = (stream: boolean): Promise<Response> =>
    fetch(`http://${w.gateway.gateway.address}/api/message`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sessionKey, content: "/usage", stream }),
    });
  const { response, end } = (await (await post(false)).json()) as { readonly response: string; readonly end: string };
  assert.match(response, /^This conversation:/);
  assert.equal(end, "complete");
  const frames = await (await post(true)).text();
  assert.match(frames, /event: content_delta\ndata: .*This conversation:/);
  assert.match(frames, /event: final\ndata: .*This conversation:/);
  assert.equal(openIn(w), 1);
});
