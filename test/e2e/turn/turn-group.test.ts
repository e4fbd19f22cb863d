import assert from "node:assert/strict";
import { test } from "node:test";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { assertSound, causesOf, startWithModel } from "../../support/worlds/gateway.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

const group = "-100";
const key = `telegram:${group}`;

async function startGroup(answer: AnswerScript, more: Record<string, unknown> = {}) {
  const telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const scripted = await startWithModel(answer, { channels, ...more });
  return {
    ...scripted,
    telegram,
    [Symbol.asyncDispose]: async () => {
      await scripted[Symbol.asyncDispose]();
      await telegram.stop();
    },
  };
}

function say(telegram: FakeTelegram, userId: number, name: string, text: string): void {
  const replyTo = { messageId: 1, fromBot: true };
  telegram.pushText({ chatId: group, userId, name, text, chatType: "group", replyTo });
}

const textsTo = (telegram: FakeTelegram): readonly string[] => telegram.sent.map((message) => message.text);

test("in a group each is answered in order, and the model reads who said what", async () => {
  await using t = await startGroup((request) => ({ text: `answer ${request.index}` }));
  say(t.telegram, 1, "Ann", "I like tea");
  say(t.telegram, 2, "Ben", "I like coffee");
  await t.telegram.waitForSent(2);
  assert.deepEqual(textsTo(t.telegram), ["answer 0", "answer 1"]);
  assert.match(t.model.requests[0]?.userText ?? "", /<sender>Ann<\/sender>[\s\S]*tea/);
  assert.match(t.model.requests[1]?.userText ?? "", /<sender>Ben<\/sender>[\s\S]*coffee/);
  assertSound(await t.gateway.events(key));
});

test("one person's stop does not end another's turn", async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using t = await startGroup(async () => {
    await held;
    return { text: "for Ann" };
  });
  say(t.telegram, 1, "Ann", "work for me");
  await t.model.waitForRequests(1);
  say(t.telegram, 2, "Ben", "/stop");
  await t.gateway.waitForEvent((event) => event.type === "user_message_queued" && event.payload.sender_id === "2", key);
  release();
  await t.telegram.waitForSent(2);
  assert.deepEqual(textsTo(t.telegram), ["for Ann", "Nothing is running."]);
  assertSound(await t.gateway.events(key));
});

test("another person's message does not join the running turn, and waits for its own", async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using t = await startGroup(async (request) => {
    if (request.index > 0) return { text: request.userText.includes("Ben") ? "for Ben" : "for Ann" };
    await held;
    return { toolCalls: [{ id: "look", name: "list_dir", input: { path: "." } }] };
  });
  say(t.telegram, 1, "Ann", "work for me");
  await t.model.waitForRequests(1);
  say(t.telegram, 2, "Ben", "me too");
  await t.gateway.waitForEvent((event) => event.type === "user_message_queued" && event.payload.sender_id === "2", key);
  release();
  await t.telegram.waitForSent(2);
  assert.deepEqual(textsTo(t.telegram), ["for Ann", "for Ben"]);
  assert.doesNotMatch(t.model.requests[1]?.bodyText ?? "", /me too/);
  assertSound(await t.gateway.events(key));
});

test("an owner may stop anybody's turn", async () => {
  await using t = await startGroup((request) => (request.index === 0 ? { hang: "start" } : { text: "next" }), {
    owners: ["telegram:3"],
  });
  say(t.telegram, 1, "Ann", "work for me");
  await t.model.waitForRequests(1);
  say(t.telegram, 3, "Olga", "/stop");
  await t.telegram.waitForSent(1);
  assert.deepEqual(textsTo(t.telegram), ["Stopped."]);
  assertSound(await t.gateway.events(key));
});

test("everything that is told about a reply leads back to the message without a gap", async () => {
  await using t = await startGroup([
    { toolCalls: [{ id: "look", name: "list_dir", input: { path: "." } }] },
    { text: "done" },
  ]);
  t.telegram.failNext({ method: "sendMessage", status: 429, retryAfter: 1 });
  say(t.telegram, 1, "Ann", "look");
  await t.telegram.waitForSent(1);
  await t.gateway.waitForEvent(
    (event) => event.type === "outbound_delivery_changed" && event.payload.status === "sent",
    key,
  );
  const events = await t.gateway.events(key);
  assertSound(events);
  const told = events.filter((event) => event.type === "outbound_delivery_changed");
  assert.deepEqual(
    told.map((event) => event.type === "outbound_delivery_changed" && event.payload.status),
    ["queued", "sending", "retrying", "sending", "sent"],
  );
  for (const event of told) {
    const chain = causesOf(event, events);
    assert.equal(chain.at(-1)?.type, "user_message_queued");
    assert.ok(chain.some((cause) => cause.type === "assistant_message" && cause.payload.final));
    assert.ok(chain.some((cause) => cause.type === "tool_execution_complete"));
  }
});
