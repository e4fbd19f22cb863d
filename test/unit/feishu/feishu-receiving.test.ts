import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { directOf, threadIdOf } from "../../support/fakes/feishu/events.js";
import { refusal } from "../../support/fakes/feishu/rules.js";
import { accepted, recordPublish } from "../../support/worlds/channels/channel-kit.js";
import { ann, bob, group, openFeishuWorld, say } from "../../support/worlds/channels/feishu/feishu-world.js";

test("in a group the bot hears who mentions it or answers it, and nobody's name is in the text but other people's", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  const channel = world.open();
  await world.start(channel);
  feishu.write({ from: ann, group, text: "hello" });
  await world.heard(1);
  await say(channel, group, "Hello!");
  const own = feishu.chats.newest(group)?.id ?? "";
  feishu.write({ from: ann, group, mentions: false, text: "nobody" });
  feishu.write({ from: ann, group, mentions: false, text: "@_all come" });
  feishu.write({ from: bob, group, mentions: false, parent: own, text: "really?" });
  const carl = { key: "@_user_2", id: "ou_carl", name: "Carl" };
  feishu.write({ from: bob, group, mentions: false, parent: own, text: "@_user_2 look", moreMentions: [carl] });
  feishu.write({ from: bob, group, text: "ask @_user_2 and @_user_9", moreMentions: [carl] });
  feishu.write({ from: bob, group, text: "" });
  feishu.write({ from: "cli_other", group, text: "I am a bot", isBot: true });
  await world.answered();
  assert.deepEqual(gateway.texts(), ["hello", "really?", "ask @Carl and @_user_9", "@you"]);
  const [first, second] = gateway.messages;
  assert.deepEqual(
    [
      first?.chatId,
      first?.chatType,
      first?.senderId,
      first?.thread,
      first?.dedupId?.startsWith(`feishu:${feishu.appId}:om_`),
    ],
    [group, "group", ann, undefined, true],
  );
  assert.deepEqual(second?.quoted, { text: "Hello!", by: "assistant" });
});

test("each kind of message is read or said, with its files", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  await world.start(world.open());
  const bytes = Buffer.from("content");
  const image_key = feishu.keepFile({ filename: "cat.png", bytes });
  const file_key = feishu.keepFile({ filename: "list.csv", bytes });
  const kinds: readonly (readonly [type: string, content: object | string])[] = [
    ["image", { image_key }],
    ["file", { file_key, file_name: "list.csv" }],
    ["audio", { file_key, duration: 1000 }],
    ["media", { file_key, image_key, file_name: "film.mp4", duration: 1 }],
    [
      "post",
      {
        title: "Plan",
        content: [
          [
            { tag: "text", text: "see " },
            { tag: "a", text: "this", href: "https://x.example/" },
            { tag: "emotion", emoji_type: "SMILE" },
          ],
          [{ tag: "img", image_key }],
          [{ tag: "code_block", language: "JSON", text: "{}\n" }, { tag: "hr" }],
        ],
      },
    ],
    ["post", { zh_cn: { title: "", content: [[{ tag: "md", text: "**hi**" }]] } }],
    ["location", { name: "Here", longitude: "1.5", latitude: "2" }],
    ["interactive", { title: "Card", elements: [[{ tag: "text", text: "in it" }]] }],
    ["sticker", { file_key }],
    ["merge_forward", "Merged and Forwarded Message"],
    ["share_user", { user_id: "ou_x" }],
    ["folder", { file_key, file_name: "all" }],
    ["hongbao", { text: "[红包]" }],
    ["image", "not JSON"],
    ["post", { content: "odd" }],
  ];
  for (const [type, content] of kinds) feishu.write({ from: ann, type, content });
  await world.heard(kinds.length);
  const shown = gateway.messages.map(({ content, files = [], unreadable, outside }) => [
    content,
    files.map(({ filename, isVoice }) => (isVoice === true ? `${filename} (voice)` : filename)).join(),
    unreadable ?? outside ?? "",
  ]);
  assert.deepEqual(shown, [
    ["", "picture.png", ""],
    ["", "list.csv", ""],
    ["", "voice.ogg (voice)", ""],
    ["", "film.mp4", ""],
    ["Plan\nsee this (https://x.example/)[SMILE]\n\n\n```json\n{}\n```\n———", "picture.png", ""],
    ["**hi**", "", ""],
    ["[Here: 2, 1.5]", "", ""],
    ["Card\nin it", "", "a card"],
    ["", "", "stickers"],
    ["", "", "forwarded conversations"],
    ["", "", "shared contacts"],
    ["", "", "folders"],
    ["", "", "this kind of message"],
    ["", "", "this kind of message"],
    ["", "", "this kind of message"],
  ]);
  const signal = AbortSignal.timeout(10_000);
  const [picture, list] = gateway.messages.flatMap(({ files = [] }) => files);
  feishu.endTokens();
  assert.deepEqual(Buffer.from((await picture?.read(1000, signal)) ?? []), bytes, "with a token that was renewed");
  feishu.server.failNext(/resources/, { kind: "answer", ...refusal(400, 234_003, "File not in msg.") });
  await assert.rejects(async () => await list?.read(1000, signal), /234003/);
});

test("a file of 100 MB is not read to its end", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  await world.start(world.open());
  const file_key = feishu.keepFile({ filename: "huge.bin", bytes: Buffer.alloc(100 * 1024 * 1024) });
  feishu.write({ from: ann, type: "file", content: { file_key, file_name: "huge.bin" } });
  await world.heard(1);
  const [file] = gateway.messages[0]?.files ?? [];
  const read = await file?.read(1_000_000, AbortSignal.timeout(20_000));
  assert.ok(read !== undefined && read.length > 1_000_000 && read.length < 5_000_000);
});

test("a thread is a conversation of its own, in which the bot hears all once it was called", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  const channel = world.open();
  await world.start(channel);
  const root = feishu.event({ from: bob, group, mentions: false, text: "the topic" }).id;
  feishu.write({ from: ann, group, mentions: false, thread: root, text: "between us" });
  feishu.write({ from: ann, group, thread: root, text: "what do you say?" });
  await world.heard(1);
  feishu.write({ from: bob, group, mentions: false, thread: root, text: "yes, tell" });
  await world.heard(2);
  assert.deepEqual(
    gateway.messages.map(({ content, thread, quoted }) => [content, thread, quoted]),
    [
      ["what do you say?", root, { text: "the topic", by: "other" }],
      ["yes, tell", root, undefined],
    ],
  );
  await channel.send({ ...message(group, "in here"), thread: root }, new AbortController().signal);
  assert.deepEqual(
    feishu.chats.in(group, root).map(({ text }) => text),
    ["in here"],
  );
  assert.deepEqual(feishu.bodies.at(-1)?.reply_in_thread, true);
});

test("a quoted message is read with its files, one that cannot be read is left out", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  await world.start(world.open());
  const image_key = feishu.keepFile({ filename: "cat.png", bytes: Buffer.from("cat") });
  const picture = feishu.event({ from: bob, type: "image", content: { image_key } }).id;
  feishu.write({ from: ann, parent: picture, text: "what is this?" });
  const said = feishu.event({ from: ann, text: "two eggs" }).id;
  feishu.write({ from: ann, parent: said, text: "make it three" });
  feishu.write({ from: ann, parent: "om_gone", text: "and that?" });
  feishu.server.failNext(/^GET .*\/messages\/om_x/, { kind: "answer", status: 502 });
  await world.heard(3);
  assert.deepEqual(
    gateway.messages.map(({ replyTo, quoted, quotedFiles = [] }) => [replyTo, quoted, quotedFiles.length]),
    [
      [picture, undefined, 0],
      [said, { text: "two eggs", by: "sender" }, 0],
      ["om_gone", undefined, 0],
    ],
  );
  feishu.write({ from: ann, parent: picture, text: "again" });
  await world.heard(4);
  assert.deepEqual(gateway.messages[3]?.quoted, { text: "[picture.png]", by: "other" });
  assert.equal(gateway.messages[3]?.quotedFiles?.length, 1);
});

test("what is taken back is told, as far as it is known", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  await world.start(world.open());
  const id = feishu.write({ from: ann, text: "secret" });
  await world.heard(1);
  feishu.takeBack(id);
  feishu.takeBack("om_unknown");
  feishu.tell("im.message.recalled_v1", {});
  await world.answered();
  assert.equal(gateway.messages.length, 2);
  const { change, platformMessageId, content, senderId, dedupId } = gateway.messages[1] ?? {};
  assert.deepEqual([change, platformMessageId, content, senderId], ["deleted", id, "", ann]);
  assert.equal(dedupId, `${gateway.messages[0]?.dedupId}:deleted`);
});

test("an event that comes twice is passed on once, and is confirmed once it is stored", async () => {
  let isFull = true;
  const gateway = recordPublish(() => (isFull ? { status: "busy", reply: "" } : accepted));
  await using world = await openFeishuWorld({}, {}, gateway);
  const { feishu } = world;
  await world.start(world.open());
  feishu.write({ from: ann, text: "once" });
  await world.heard(2);
  feishu.line.tellAgain();
  assert.equal(feishu.line.unanswered, 1);
  isFull = false;
  await world.answered();
  const offers = gateway.messages.length;
  const { id, event } = feishu.event({ from: ann, text: "twice", id: "om_twice" });
  for (let n = 0; n < 3; n += 1) feishu.line.tell(`event-${n}`, event);
  await world.answered();
  assert.equal(id, "om_twice");
  assert.equal(gateway.messages.length, offers + 1);
});

test("events out of order, in pieces, of other kinds and of none disturb nothing", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  await world.start(world.open());
  const now = Date.now();
  feishu.line.pieces = 3;
  feishu.write({ from: ann, text: "later", at: now });
  feishu.write({ from: ann, text: "earlier", at: now - 5000 });
  feishu.line.pieces = 1;
  feishu.tell("im.chat.member.bot.added_v1", { chat_id: group });
  feishu.tell("im.message.receive_v1", { message: { message_id: 5 } });
  feishu.tell("card.action.trigger", { operator: { open_id: ann }, action: { tag: "input" } });
  feishu.line.tell("odd", { hello: "there" });
  feishu.line.sendRaw(Buffer.from([0xff, 0xff]));
  feishu.line.sendRaw(Buffer.from("text"));
  await world.answered();
  feishu.write({ from: bob, text: "end" });
  await world.heard(3);
  assert.deepEqual(gateway.texts(), ["later", "earlier", "end"]);
  assert.ok(feishu.line.answers.every(({ code }) => code === 200));
});

test("what was missed while nobody listened is read from history, exactly once, also in threads", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  const first = await world.start(world.open());
  const root = feishu.event({ from: bob, group, mentions: false, text: "the topic" }).id;
  feishu.write({ from: ann, text: "known" });
  feishu.write({ from: ann, group, text: "also known" });
  feishu.write({ from: ann, group, thread: root, text: "a thread" });
  await world.heard(3);
  await world.answered();
  await first.stop();
  // Nobody is told: Feishu has given up.
  for (let n = 0; n < 120; n += 1) feishu.event({ from: ann, text: `missed ${n}`, at: Date.now() + n });
  feishu.event({ from: bob, group, text: "missed in the group" });
  feishu.event({ from: bob, group, mentions: false, text: "not for the bot" });
  feishu.event({ from: bob, group, mentions: false, thread: root, text: "missed in the thread" });
  const deleted = feishu.event({ from: ann, text: "taken back" }).id;
  feishu.messages
    .filter(({ message_id: id }) => id === deleted)
    .forEach((one) => {
      one.deleted = true;
    });
  const before = gateway.messages.length;
  const second = await world.start(world.open());
  await world.heard(before + 122);
  feishu.write({ from: ann, text: "and now" });
  await until("it came", () => gateway.texts().includes("and now"), 10_000);
  await second.stop();
  const later = gateway.messages
    .slice(before)
    .filter(({ dedupId }) => !gateway.messages.slice(0, before).some((one) => one.dedupId === dedupId));
  const direct = later.filter(({ chatId }) => chatId === ann).map(({ content }) => content);
  assert.deepEqual(direct, [...Array.from({ length: 120 }, (_, n) => `missed ${n}`), "and now"]);
  assert.deepEqual(
    later
      .filter(({ chatId }) => chatId === group)
      .map(({ content, thread }) => [content, thread])
      .sort(),
    [
      ["missed in the group", undefined],
      ["missed in the thread", root],
    ],
  );
  assert.equal(new Set(later.map(({ dedupId }) => dedupId)).size, later.length);
  assert.ok(feishu.server.calls.some(({ query }) => query.get("container_id") === threadIdOf(root)));
});

test("a live message waits for what its chat has missed, and history that cannot be read stops nobody", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  const first = await world.start(world.open());
  feishu.write({ from: ann, text: "known" });
  await world.heard(1);
  await world.answered();
  await first.stop();
  feishu.event({ from: ann, text: "missed", at: Date.now() + 1 });
  feishu.write({ from: ann, text: "live", at: Date.now() + 2 });
  await world.start(world.open());
  await until("both came", () => gateway.texts().includes("live"), 10_000);
  assert.deepEqual(
    gateway.texts().filter((text) => text !== "known"),
    ["missed", "live"],
  );

  await using other = await openFeishuWorld();
  const running = await other.start(other.open());
  other.feishu.write({ from: ann, group, text: "known" });
  await other.answered();
  await running.stop();
  const noRight = refusal(400, 230_027, "Lack of necessary permissions");
  other.feishu.server.failNext(/^GET .*\/im\/v1\/messages$/, { kind: "answer", ...noRight }, 5);
  other.feishu.write({ from: ann, group, text: "live" });
  await other.start(other.open());
  await until("it came", () => other.gateway.texts().includes("live"), 10_000);
});

test("a connection that brings nothing is found by history, and another one is opened", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  await world.start(world.open({ spans: { lookMs: 20, graceMs: 0 } }));
  feishu.write({ from: ann, text: "known" });
  await world.heard(1);
  await world.answered();
  const calls = (): number => feishu.server.calls.filter(({ name }) => name.endsWith("/ws/endpoint")).length;
  assert.equal(calls(), 1);
  feishu.line.isDeaf = true;
  feishu.write({ from: ann, text: "unheard" });
  await until("it is found", () => gateway.texts().includes("unheard"), 10_000);
  await until("another connection", () => calls() === 2, 10_000);
  assert.deepEqual(gateway.texts(), ["known", "unheard"]);
});

test("of who may not talk nothing is kept", async () => {
  const gateway = recordPublish(() => ({ status: "refused" }));
  await using world = await openFeishuWorld({}, {}, gateway);
  await world.start(world.open());
  world.feishu.write({ from: ann, text: "hello" });
  await world.answered();
  assert.deepEqual(world.context.records.list(), []);
  assert.ok(world.feishu.messages.some(({ chat_id: chat }) => chat === directOf(ann)));
});

test("a card that was forwarded is pressed where it is seen, and not in its first chat", async () => {
  const presses: unknown[] = [];
  const press = async (one: unknown) => {
    presses.push(one);
    return { status: "taken", text: "" } as const;
  };
  await using world = await openFeishuWorld({}, { press });
  await world.start(world.open());
  const value = (chat: string, thread?: string) =>
    JSON.stringify({ press: "ask:1", chat, ...(thread === undefined ? {} : { thread }) });
  world.feishu.press(ann, value(ann));
  world.feishu.press(bob, value(ann), "oc_elsewhere");
  world.feishu.press(bob, value(group, "om_root"), group);
  await world.answered();
  assert.deepEqual(presses, [
    { senderId: ann, value: "ask:1", chatId: ann, chatType: "dm" },
    { senderId: bob, value: "ask:1", chatId: "oc_elsewhere", chatType: "group" },
    { senderId: bob, value: "ask:1", thread: "om_root", chatId: group, chatType: "group" },
  ]);
});

function message(chatId: string, content: string) {
  return { id: "out_t#1", channel: "feishu", chatId, sessionKey: "", content, attachments: [] };
}

test("what found no room before the run ended comes again in the next one", async () => {
  let isFull = true;
  const gateway = recordPublish(() => (isFull ? { status: "busy", reply: "" } : accepted));
  await using world = await openFeishuWorld({}, {}, gateway);
  const channel = world.open();
  const first = await world.start(channel);
  world.feishu.write({ from: ann, text: "no room" });
  await world.heard(1);
  await first.stop();
  const offers = gateway.messages.length;
  isFull = false;
  await world.start(channel);
  await world.answered();
  assert.equal(gateway.messages.length, offers + 1);
});

test("a chat that is not read yet is read before its live message is passed on", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  const first = await world.start(world.open());
  for (const from of ["ou_oldest", ann, bob]) {
    feishu.write({ from, text: "known" });
    await world.answered();
  }
  await first.stop();
  feishu.event({ from: "ou_oldest", text: "missed", at: Date.now() + 1 });
  feishu.write({ from: "ou_oldest", text: "live", at: Date.now() + 2 });
  feishu.server.failNext(/^GET .*\/im\/v1\/messages$/, { kind: "hang", carriedOut: false }, 2);
  await world.start(world.open());
  await until("it came", () => gateway.texts().includes("live"), 10_000);
  const later = gateway.texts().filter((text) => text !== "known");
  assert.deepEqual(later, ["missed", "live"]);
});
