import assert from "node:assert/strict";
import { test } from "node:test";
import { logIn } from "../../../src/channels/slack/log-in.js";
import { SlackRefusal } from "../../../src/channels/slack/slack-error.js";
import { ChannelError } from "../../../src/errors.js";
import { until } from "../../support/engine/engine-kit.js";
import { sendCall, startFakeSlack } from "../../support/fakes/slack/fake-slack.js";
import { failureOf, never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { openSlackWorld } from "./slack-kit.js";

const cases: readonly (readonly [code: string, outcome: string, retryable: boolean, closed: boolean])[] = [
  ["invalid_auth", "refused", true, false],
  ["missing_scope", "refused", true, false],
  ["ratelimited", "refused", true, false],
  ["service_unavailable", "refused", true, false],
  ["fatal_error", "unknown", true, false],
  ["internal_error", "unknown", true, false],
  ["channel_not_found", "refused", false, true],
  ["is_archived", "refused", false, true],
  ["not_in_channel", "refused", false, true],
  ["msg_too_long", "refused", false, false],
  ["a word that is new", "refused", false, false],
];

for (const [code, outcome, retryable, closed] of cases)
  test(`${code} is ${retryable ? "waited for" : "the end of the message"}`, () => {
    const error = new SlackRefusal("chat.postMessage", { error: code, needed: "chat:write" }, "botToken");
    assert.deepEqual([error.outcome, error.retryable, error.isChatClosed], [outcome, retryable, closed]);
  });

test("a missing right is named, and so is the token that is wrong", async () => {
  await using slack = await startFakeSlack();
  const { botToken, appToken, apiRoot } = slack;
  assert.equal(await logIn({ botToken, appToken, apiRoot }, never), "@max (Acme)");
  const wrongApp = await failureOf(logIn({ botToken, appToken: "xapp-wrong", apiRoot }, never));
  assert.match(wrongApp.message, /channels\.slack\.appToken/);
  assert.equal(wrongApp.retryable, false);
  const wrongBot = await failureOf(logIn({ botToken: "xoxb-wrong", appToken, apiRoot }, never));
  assert.match(wrongBot.message, /channels\.slack\.botToken/);
  slack.rights = "app_mentions:read,channels:history,channels:read,chat:write,files:write,im:read,users:read";
  const lacking = await failureOf(logIn({ botToken, appToken, apiRoot }, never));
  assert.match(lacking.message, /lacks the rights files:read, im:history\./);
  slack.server.failNext(sendCall, {
    kind: "answer",
    body: { ok: false, error: "missing_scope", needed: "chat:write" },
  });
  await using world = await openSlackWorld({}, slack);
  const { message, outcome, retryable } = await failureOf(world.channel.send(reply("DANN", "x"), never));
  assert.match(message, /lacks the right chat:write/);
  assert.deepEqual([outcome, retryable], ["refused", true]);
});

test("Socket Mode that is switched off ends the run for good, with what to do", async () => {
  await using world = await openSlackWorld();
  const { slack, channel } = world;
  const running = startChannel(channel, recordPublish().publish);
  await until("it is connected", () => running.connections() > 0);
  slack.sockets.disconnect("link_disabled");
  const failure = await running.ended;
  assert.ok(failure instanceof ChannelError && !failure.retryable);
  assert.match(failure.message, /Socket Mode is off/);
});

test("a history that may not be read or asks to wait holds up no message for ever", async () => {
  await using world = await openSlackWorld();
  const { slack } = world;
  const direct = slack.directOf("UANN");
  const history = /conversations\.history$/;
  slack.server.failNext(history, { kind: "answer", body: { ok: false, error: "missing_scope", needed: "im:history" } });
  slack.server.failNext(/users\.conversations$/, { kind: "answer", body: { ok: false, error: "missing_scope" } }, 2);
  slack.server.failNext(/users\.info$/, { kind: "answer", body: { ok: false, error: "missing_scope" } });
  await using _running = await world.run();
  slack.write({ channel: direct, user: "UANN", text: "hello" });
  await world.came("hello");
  slack.server.failNext(history, { kind: "answer", status: 429, headers: { "retry-after": "0" } });
  slack.write({ channel: slack.directOf("UBOB"), user: "UBOB", text: "me too" });
  await world.came("me too");
});

test("files that fail before anybody can see them are refused, and one whose end is not known is found", async () => {
  await using world = await openSlackWorld();
  const { slack, channel } = world;
  const chat = slack.directOf("UANN");
  const { mkdtemp, rm, writeFile } = await import("node:fs/promises");
  const { tmpdir } = await import("node:os");
  const { join } = await import("node:path");
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-slack-"));
  try {
    const path = join(folder, "列表.txt");
    await writeFile(path, "made here");
    const attachments = [{ path, filename: "列表.txt", mimeType: "text/plain", sizeBytes: 9 }];
    const message = reply(chat, "", { attachments });
    const since = Date.now();
    slack.server.failNext(/\/upload\//, { kind: "cut", carriedOut: false });
    assert.equal((await failureOf(channel.send(message, never))).outcome, "refused");
    assert.equal(await channel.find?.(message, since, never), undefined);
    slack.server.failNext(/completeUploadExternal$/, { kind: "cut", carriedOut: true });
    assert.equal((await failureOf(channel.send(message, never))).outcome, "unknown");
    assert.notEqual(await channel.find?.(message, since, never), undefined);
    assert.deepEqual(
      slack.chats.all.flatMap(({ files }) => files.map(({ filename, bytes }) => [filename, bytes.toString()])),
      [["列表.txt", "made here"]],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a message is found by its own id and not by its words, also in a thread", async () => {
  await using world = await openSlackWorld();
  const { slack, channel } = world;
  const chat = slack.directOf("UANN");
  const root = slack.write({ channel: chat, user: "UANN", text: "root" });
  const since = Date.now();
  for (const thread of [undefined, root]) {
    const message = reply(chat, "OK", { id: `out_1#1${thread ?? ""}`, thread });
    const receipt = await channel.send(message, never);
    assert.deepEqual(await channel.find?.(message, since, never), receipt);
    assert.equal(await channel.find?.({ ...message, id: "out_2#1" }, since, never), undefined);
  }
});

test("who is named by a member's id is written to in their direct chat, and the sign of work is shown in threads", async () => {
  await using world = await openSlackWorld();
  const { slack, channel } = world;
  const { platformMessageId } = await channel.send(reply("UANN", "Good morning"), never);
  await channel.edit?.({ chatId: "UANN", platformMessageId, content: "Good day" }, never);
  assert.deepEqual(
    slack.chats.in("DANN").map(({ text }) => text),
    ["Good day"],
  );
  await channel.showTyping?.("DANN", undefined, never);
  await channel.showTyping?.("DANN", "1700000000.000100", never);
  assert.deepEqual(slack.statuses, ["1700000000.000100 is thinking…"]);
});

test("an answer that does not say which message was shown leaves that open, and a list without an end is left", async () => {
  await using world = await openSlackWorld();
  const { slack } = world;
  slack.server.failNext(sendCall, { kind: "answer", body: { ok: true } });
  const { outcome, retryable } = await failureOf(world.channel.send(reply("DANN", "x"), never));
  assert.deepEqual([outcome, retryable], ["unknown", true]);
  const endless = { ok: true, channels: [], response_metadata: { next_cursor: "again" } };
  slack.server.failNext(/users\.conversations$/, { kind: "answer", body: endless }, 1000);
  await using _running = await world.run();
  const asks = (): number => slack.server.calls.filter(({ name }) => name.endsWith("users.conversations")).length;
  await until("the conversations are listed", () => asks() >= 50);
  slack.write({ channel: "DANN", user: "UANN", text: "hello" });
  await world.came("hello");
  assert.equal(asks(), 50);
});
