import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { sendCall } from "../../support/fakes/fake-discord.js";
import { callThenDone } from "../../support/worlds/channels/chat-world.js";
import { ann, bob, openDiscordWorld } from "../../support/worlds/channels/discord-world.js";
import { echo, wordsOf } from "../../support/worlds/channels/harness-world.js";
import { startDaemon } from "../../support/worlds/daemon.js";
import { startGateway } from "../../support/worlds/gateway.js";
import type { RecordedRequest } from "../../support/worlds/model-script.js";

test("a server's channel is answered when the bot is mentioned or replied to, and other talk is never stored", async () => {
  await using w = await openDiscordWorld();
  await using gateway = await startGateway({ home: w.home });
  const { discord } = w;
  const hall = discord.addChannel();
  await w.online();
  discord.write({ channelId: hall, author: ann, content: "only between us" });
  const asked = discord.write({
    channelId: hall,
    author: ann,
    content: `<@${discord.bot.id}> what does <@${bob.id}> want?`,
    mentions: [discord.bot, bob],
  });
  const answer = await w.shown(hall, "You said: what does @bob want?");
  assert.equal(answer.replyTo, asked.id);
  discord.write({ channelId: hall, author: bob, content: "and I?", replyTo: answer as never });
  await w.shown(hall, "You said: and I?");
  assert.match(w.model.requests.at(-1)?.userText ?? "", /<in_reply_to from="you">/);
  const bot = { id: "100000000000000044", username: "other", bot: true };
  discord.write({ channelId: hall, author: bot, content: `<@${discord.bot.id}> loop?` });
  discord.write({ channelId: hall, author: ann, content: `<@${discord.bot.id}> the end` });
  await w.shown(hall, "You said: the end");
  assert.ok(!w.model.requests.some(({ bodyText }) => /only between us|loop\?/.test(bodyText)));
  assert.equal((await gateway.gateway.api.ledger()).length, 3);
});

test("a thread is a conversation of its own, answered where it is, also while the answer grows", async () => {
  const answer = (request: RecordedRequest) => ({ text: ["It grows ", `to ${wordsOf(request)}`], chunkDelayMs: 450 });
  await using w = await openDiscordWorld(answer, { reactors: { live: true } });
  await using gateway = await startGateway({ home: w.home });
  const { discord } = w;
  const hall = discord.addChannel();
  const thread = discord.addChannel({ parent: hall });
  await w.online();
  discord.write({ channelId: thread, author: ann, content: `<@${discord.bot.id}> inside` });
  await w.shown(thread, "It grows to inside");
  discord.write({ channelId: hall, author: ann, content: `<@${discord.bot.id}> outside` });
  await w.shown(hall, "It grows to outside");
  assert.deepEqual([w.said(thread), w.said(hall)], [["It grows to inside"], ["It grows to outside"]]);
  assert.ok(discord.edits > 0, "it was shown while it grew");
  assert.ok(!w.model.requests.at(-1)?.bodyText.includes("inside"));
  assert.ok((await gateway.events(`discord:${hall}:${thread}`)).length > 0);
  assert.ok((await gateway.events(`discord:${hall}`)).length > 0);
});

test("a question comes with buttons, only who asked can press them, and they go with the answer", async () => {
  const drinks = { question: "What shall I order?", options: ["Coffee", "Tea"] };
  await using w = await openDiscordWorld(callThenDone("ask_human", drinks));
  await using _gateway = await startGateway({ home: w.home });
  const { discord } = w;
  const hall = discord.addChannel();
  await w.online();
  discord.write({ channelId: hall, author: ann, content: `<@${discord.bot.id}> order something` });
  const question = await w.shown(hall, "What shall I order?");
  const labels = question.components.flatMap((row) => row.components.map(({ label }) => label));
  assert.equal(labels.length, 2);
  const tea = labels.find((label) => label.includes("Tea")) ?? "";
  discord.press(question.id, tea, bob);
  await until("the other is told", () => discord.interactionReplies.length === 1);
  assert.match(discord.interactionReplies[0]?.text ?? "", /Only/);
  discord.press(question.id, tea, ann);
  await w.shown(hall, "done: Tea");
  await until("the buttons are gone", () => question.components.length === 0);
  assert.equal(discord.interactionReplies.length, 2);
});

test("slash commands are registered once, and each is answered in its chat", async () => {
  await using w = await openDiscordWorld();
  await using gateway = await startGateway({ home: w.home });
  const { discord } = w;
  await w.online();
  await until("they are registered", () => discord.commands.length > 0);
  const names = discord.commands.map(({ name }) => name);
  for (const name of ["help", "new", "stop", "status"]) assert.ok(names.includes(name), String(name));
  discord.command(discord.dmOf(ann.id), "status", ann);
  await until("it is confirmed", () => discord.interactionReplies.length === 1);
  await until("it is answered", () => w.said(discord.dmOf(ann.id)).length === 1);
  assert.equal(w.model.requests.length, 0);
  await using _again = await gateway.restart();
  await until("it is online again", () => discord.gateway.identifies.length === 2);
  await until("it has asked for the commands", () => discord.countCalls(/^GET .*\/commands$/) === 2);
  discord.command(discord.dmOf(ann.id), "help", ann);
  await until("it is answered", () => w.said(discord.dmOf(ann.id)).length === 2);
  assert.equal(discord.countCalls(/^PUT .*\/commands$/), 1);
});

test("what came while the gateway was killed is answered once: in chats, channels and threads, past a hundred messages", async () => {
  await using w = await openDiscordWorld();
  const { discord } = w;
  const [dm, hall] = [discord.dmOf(ann.id), discord.addChannel()];
  const thread = discord.addChannel({ parent: hall });
  const places = [dm, hall, thread];
  const say = (channelId: string, text: string): unknown =>
    discord.write({ channelId, author: ann, content: `<@${discord.bot.id}> ${text}` });
  {
    await using daemon = await startDaemon({ home: w.home });
    await w.online();
    for (const place of places) say(place, "before");
    for (const place of places) await w.shown(place, "You said: before");
    await daemon.end("SIGKILL");
  }
  await until("it is gone", () => discord.gateway.sockets.length === 0);
  for (let n = 0; n < 130; n++) discord.write({ channelId: hall, author: bob, content: `among us ${n}` });
  for (const place of places) for (const word of ["m1", "m2"]) say(place, word);
  await using daemon = await startDaemon({ home: w.home });
  for (const place of places) await w.shown(place, "m2");
  for (const place of places) say(place, "after");
  for (const place of places) await w.shown(place, "after");
  for (const place of places)
    for (const word of ["before", "m1", "m2", "after"])
      assert.equal(w.said(place).filter((text) => text.includes(word)).length, 1, `${word} in ${w.said(place)}`);
  await daemon.end("SIGTERM");
  assert.ok(!w.model.requests.some(({ bodyText }) => bodyText.includes("among us")));
});

test("a reconnect that lost its place loses nothing, answers nothing twice, and keeps the order", async () => {
  await using w = await openDiscordWorld();
  await using gateway = await startGateway({ home: w.home });
  const { discord } = w;
  const dm = discord.dmOf(ann.id);
  const say = (content: string): unknown => discord.write({ channelId: dm, author: ann, content });
  await w.online();
  say("one");
  await w.shown(dm, "You said: one");
  discord.gateway.invalidate();
  say("two");
  say("three");
  await until("it has a new place", () => discord.gateway.identifies.length === 2, 20_000);
  say("four");
  await w.shown(dm, "four");
  const heard = (await gateway.events(`discord:${ann.id}`)).flatMap((event) =>
    event.type === "user_message_queued"
      ? [event.payload.content.map((part) => ("text" in part ? part.text : ""))[0]]
      : [],
  );
  assert.deepEqual(heard, ["one", "two", "three", "four"]);
  const said = w.said(dm).join("\n");
  for (const word of ["one", "two", "three", "four"]) assert.equal(said.split(word).length, 2, said);
});

test("an answer with an unknown end is looked up in its chat before it is sent again, long after the nonce is forgotten", async () => {
  await using w = await openDiscordWorld(echo, { reactors: { live: false } });
  await using gateway = await startGateway({ home: w.home, sendTimeoutMs: 2000, sendRetryMs: 50 });
  const { discord } = w;
  const dm = discord.dmOf(ann.id);
  await w.online();
  discord.nonceMs = 0;
  discord.failNext(sendCall, { kind: "cut", carriedOut: true });
  discord.write({ channelId: dm, author: ann, content: "once" });
  await w.shown(dm, "You said: once");
  const idle = async () => (await gateway.gateway.api.status()).outboundWaiting === 0;
  await until("it is known to be sent", async () => (await idle()) && discord.countCalls(/^GET .*\/messages$/) > 0);
  assert.deepEqual(w.said(dm), ["You said: once"]);
});

test("a missing intent is said in status, with the switch to set", async () => {
  await using w = await openDiscordWorld();
  w.discord.gateway.refuseIdentifyWith = 4014;
  await using gateway = await startGateway({ home: w.home });
  const reason = async () => JSON.stringify((await gateway.gateway.api.status()).channels);
  await until("it is off", async () => (await reason()).includes("disconnected"), 10_000);
  assert.match(await reason(), /Message Content Intent/);
  assert.equal(w.discord.gateway.identifies.length, 1, "it is not tried again");
});
