import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Attachment } from "../../../src/bus/messages.js";
import { ChannelError } from "../../../src/errors.js";
import { sendCall } from "../../support/fakes/qq/fake-qq.js";
import { failureOf, never, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { ann, group, openQqWorld, say } from "../../support/worlds/channels/qq-world.js";

const chat = `group-${group}`;

async function fileOf(filename: string, mimeType: string): Promise<Attachment> {
  const path = join(await mkdtemp(join(tmpdir(), "maxclaw-qq-")), filename);
  await writeFile(path, "made here");
  return { path, filename, mimeType, sizeBytes: 9 };
}

test("answers go to the message that they name, and when its five replies are used up to the newest one that has some", async () => {
  await using world = await openQqWorld({ mayBegin: false });
  const { qq } = world;
  const channel = world.open();
  await world.start(channel);
  const first = qq.write({ from: ann, text: "one" });
  const second = qq.write({ from: ann, text: "two" });
  await world.heard(2);
  for (let n = 1; n <= 6; n += 1)
    await channel.send(reply(ann, `answer ${n}`, { id: `out_${n}#1`, replyTo: first }), never);
  assert.deepEqual(
    qq.bodies.map(({ msg_id: id, msg_seq: seq }) => [id, seq]),
    [...[1, 2, 3, 4, 5].map((seq) => [first, seq]), [second, 1]],
  );
});

test("a reply whose end nobody knows is not shown again, also by another process", async () => {
  await using world = await openQqWorld({ mayBegin: false });
  const { qq } = world;
  const before = world.open();
  const running = await world.start(before);
  const id = qq.write({ from: ann, text: "one" });
  await world.kept(ann);
  // From here on this process knows that the bot may not use Markdown.
  await say(before, ann, "first");
  const message = reply(ann, "the answer", { id: "out_7#1", replyTo: id });
  qq.server.failNext(sendCall, { kind: "cut", carriedOut: true });
  assert.equal((await failureOf(before.send(message, never))).outcome, "unknown");
  assert.deepEqual(qq.chats.showings(ann), ["first", "the answer"]);
  await running.stop();
  const after = world.open();
  await after.send(message, never);
  await say(after, ann, "next");
  assert.deepEqual(qq.chats.showings(ann), ["first", "the answer", "next"]);
});

test("a number that somebody else has used is not taken for a repeat", async () => {
  await using world = await openQqWorld({ mayBegin: false });
  const { qq } = world;
  const before = world.open();
  const running = await world.start(before);
  qq.write({ from: ann, text: "hello" });
  await world.kept(ann);
  await say(before, ann, "from one process");
  await running.stop();
  // As after a restored backup: the message comes again, and nobody knows that it was answered.
  const { records } = world.context;
  await records.delete(`chat:${ann}`);
  await records.put("session", { ...(records.get("session") as object), seq: 1 });
  const after = world.open();
  await world.start(after);
  await world.kept(ann);
  await say(after, ann, "and more");
  assert.deepEqual(qq.chats.showings(ann), ["from one process", "and more"]);
});

test("an answer that is too late is refused for good, and the next one says so, also after a restart", async () => {
  await using world = await openQqWorld({ mayBegin: false });
  const { qq } = world;
  const before = world.open();
  const running = await world.start(before);
  qq.write({ from: "member", group, text: "one" });
  await world.heard(1);
  qq.endReplies();
  const failure = await failureOf(before.send(reply(chat, "much later"), never));
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", false]);
  assert.match(failure.message, /for 5 minutes, five times at most/);
  await running.stop();
  const after = world.open();
  await world.start(after);
  qq.write({ from: "member", group, text: "two" });
  await world.heard(2);
  await say(after, chat, "in time", "and this");
  const [first = "", second] = qq.chats.showings(chat);
  assert.match(first, /^\(QQ did not take an earlier answer of mine[^\n]+\n\nin time$/);
  assert.equal(second, "and this");
});

test("a chat in which nothing can be answered gets a message that answers nothing, where the bot may begin", async () => {
  await using world = await openQqWorld({ mayBegin: true });
  const channel = world.open();
  await say(channel, ann, "good morning");
  assert.deepEqual(world.qq.chats.showings(ann), ["good morning"]);
  assert.equal(world.qq.bodies[0]?.msg_id, undefined);
});

test("a message that seems too old by our clock is still tried, for QQ decides", async () => {
  await using world = await openQqWorld({ mayBegin: false });
  const channel = world.open({ now: () => Date.now() + 86_400_000 });
  await world.start(channel);
  world.qq.write({ from: ann, text: "one" });
  await world.heard(1);
  await say(channel, ann, "in time");
  assert.deepEqual(world.qq.chats.showings(ann), ["in time"]);
});

test("too many too fast waits; when QQ says so again and again, the message takes no more", async () => {
  await using world = await openQqWorld({ mayBegin: false });
  const { qq } = world;
  const channel = world.open();
  await world.start(channel);
  qq.write({ from: ann, text: "one" });
  await world.heard(1);
  const limited = { kind: "answer", status: 400, body: { code: 22_009, message: "msg limit exceed" } } as const;
  qq.server.failNext(sendCall, limited, 3);
  const message = reply(ann, "answer");
  for (let n = 0; n < 2; n += 1) {
    const { retryable, retryAfterMs } = await failureOf(channel.send(message, never));
    assert.deepEqual([retryable, retryAfterMs], [true, 5000]);
  }
  assert.equal((await failureOf(channel.send(message, never))).retryable, false);
});

test("Markdown and buttons are sent where QQ takes them, and a press of them names who pressed", async () => {
  const presses: unknown[] = [];
  const press = async (one: unknown) => {
    presses.push(one);
    return { status: presses.length === 1 ? "taken" : "refused", text: "" } as const;
  };
  await using world = await openQqWorld({ hasMarkdown: true }, { press });
  const { qq } = world;
  const channel = world.open();
  await world.start(channel);
  const buttons = [
    { label: "Yes", value: "ask_1:1" },
    { label: "No", value: "ask_1:2" },
  ];
  await channel.send(reply(ann, "**Shall** I?", { buttons }), never);
  assert.deepEqual(qq.chats.newest(ann)?.buttons, buttons);
  assert.equal(qq.chats.newest(ann)?.text, "**Shall** I?");
  const resolved = (value: string) => ({ type: 11, resolved: { button_data: value } });
  qq.press({ id: "i1", chat_type: 2, user_openid: ann, data: resolved("ask_1:1") });
  qq.press({ id: "i2", chat_type: 1, group_openid: group, group_member_openid: "member", data: resolved("ask_1:2") });
  qq.press({ id: "i3", chat_type: 2, user_openid: ann, data: { type: 12, resolved: { feature_id: "menu" } } });
  qq.write({ from: ann, text: "after" });
  await world.heard(1);
  await world.qq.gateway.whenKnown(() => undefined);
  for (const deadline = Date.now() + 5000; qq.pressed.length < 2 && Date.now() < deadline; )
    await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(presses, [
    { chatId: ann, chatType: "dm", senderId: ann, value: "ask_1:1" },
    { chatId: chat, chatType: "group", senderId: "member", value: "ask_1:2" },
  ]);
  assert.deepEqual(
    qq.pressed.toSorted((a, b) => a.id.localeCompare(b.id)),
    [
      { id: "i1", code: 0 },
      { id: "i2", code: 4 },
    ],
  );
});

test("without the right to use them, buttons are numbered lines and Markdown is plain text", async () => {
  await using world = await openQqWorld();
  const buttons = [
    { label: "Yes", value: "ask_1:1" },
    { label: "No", value: "ask_1:2" },
  ];
  const channel = world.open();
  await channel.send(reply(ann, "**Shall** I?", { buttons }), never);
  await say(channel, ann, "[a](https://x.example/y)", "again");
  assert.deepEqual(world.qq.chats.showings(ann), ["Shall I?\n\n1. Yes\n2. No", "a (https://x.example/y)", "again"]);
  // Three texts, the refusal of the buttons and that of the first Markdown: the rest is not asked again.
  assert.equal(world.qq.server.calls.filter(({ name }) => sendCall.test(name)).length, 5);
});

test("a text with addresses that QQ does not take is shown with addresses that can be read", async () => {
  for (const hasMarkdown of [true, false]) {
    await using world = await openQqWorld({ refusesAddresses: true, hasMarkdown });
    await say(world.open(), ann, "See https://docs.example.org/a?b=1 and crawler.py, at 3.14 Uhr.");
    assert.equal(
      world.qq.chats.newest(ann)?.text.replaceAll("\\", ""),
      "See docs[.]example[.]org/a?b=1 and crawler[.]py, at 3.14 Uhr.",
    );
  }
});

test("nobody is called by what a model writes, and no picture is fetched", async () => {
  for (const hasMarkdown of [true, false]) {
    await using world = await openQqWorld({ hasMarkdown });
    const texts = ["@everyone <@!123> <qqbot-at-everyone />", '`<qqbot-cmd-enter text="x" />` <#5> <emoji:1>'];
    await say(world.open(), ann, ...texts, "![cat](https://x.example/c.png?secret=1)");
    assert.equal(world.qq.chats.showings(ann).length, 3);
    assert.deepEqual([world.qq.commands, world.qq.fetched], [[], []]);
  }
});

test("files go to people and groups by an upload, pictures without a name", async () => {
  await using world = await openQqWorld();
  const { qq } = world;
  const channel = world.open();
  await channel.send(reply(chat, "", { attachments: [await fileOf("答案.pdf", "application/pdf")] }), never);
  await channel.send(reply(ann, "", { attachments: [await fileOf("cat.png", "image/png")] }), never);
  const uploads = qq.server.calls.filter(({ name }) => name.endsWith("/files")).map(({ name, json }) => [name, json]);
  const file_data = Buffer.from("made here").toString("base64");
  assert.deepEqual(uploads, [
    [`POST /v2/groups/${group}/files`, { file_type: 4, file_data, srv_send_msg: false, file_name: "答案.pdf" }],
    [`POST /v2/users/${ann}/files`, { file_type: 1, file_data, srv_send_msg: false }],
  ]);
  assert.deepEqual(
    qq.chats.all.map(({ files }) => files.map(({ bytes }) => bytes.toString())),
    [["made here"], ["made here"]],
  );
});

test("guilds get text, and pictures with the message; anything else is refused with the reason", async () => {
  await using world = await openQqWorld({ mayBegin: false });
  const { qq } = world;
  const channel = world.open();
  await world.start(channel);
  const id = qq.write({ from: "1234", channel: "55", text: "hi" });
  const direct = qq.write({ from: "1234", guild: "guild-9", text: "psst" });
  await world.heard(2);
  await say(channel, "channel-55", "**in** the channel");
  await say(channel, "1234", "between us");
  assert.deepEqual(qq.bodies, [
    { content: "in the channel", msg_id: id },
    { content: "between us", msg_id: direct },
  ]);
  assert.deepEqual(qq.chats.showings("guild-9"), ["between us"]);
  await channel.send(
    reply("channel-55", "", { id: "out_2#1", attachments: [await fileOf("cat.png", "image/png")] }),
    never,
  );
  assert.equal(qq.chats.newest("channel-55")?.files[0]?.bytes.toString(), "made here");
  const pdf = reply("channel-55", "", { id: "out_3#1", attachments: [await fileOf("a.pdf", "application/pdf")] });
  assert.match((await failureOf(channel.send(pdf, never))).message, /only png and jpg pictures/);
});

test("the access token is renewed before it ends, and when QQ does not know it any more", async () => {
  await using world = await openQqWorld();
  const { qq } = world;
  const channel = world.open();
  await say(channel, ann, "one", "two");
  assert.equal(qq.tokensGiven, 1);
  qq.endTokens();
  const { outcome, retryable } = await failureOf(channel.send(reply(ann, "three"), never));
  assert.deepEqual([outcome, retryable], ["refused", true]);
  await say(channel, ann, "three");
  assert.equal(qq.tokensGiven, 2);
  qq.tokenSeconds = 40;
  await say(world.open(), ann, "four", "five");
  assert.ok(qq.tokensGiven > 3, "one with 40 seconds left is not used again");
});

test("what QQ has against the bot, and not against the message, lets the message wait and ends the run", async () => {
  await using world = await openQqWorld();
  const { qq } = world;
  for (const code of [100_007, 100_016, 11_298]) {
    const body = { code, message: "no" };
    qq.server.failNext(/getAppAccessToken/, { kind: "answer", body });
    const { outcome, retryable } = await failureOf(world.open().send(reply(ann, "x"), never));
    assert.deepEqual([outcome, retryable], ["refused", true], String(code));
    for (const failing of [/getAppAccessToken/, /GET \/gateway$/]) {
      qq.server.failNext(failing, { kind: "answer", status: 400, body });
      const ended = await startChannel(world.open(), world.gateway.publish).ended;
      assert.ok(ended instanceof ChannelError && !ended.retryable, `${code} ${failing}`);
    }
  }
  assert.deepEqual(qq.chats.showings(ann), []);
});

test("an address that is not in the whitelist, and a server that is not QQ, are named without a secret", async () => {
  await using world = await openQqWorld();
  const { qq } = world;
  const foreign = { code: 11_298, message: "接口访问源IP不在白名单" };
  qq.server.failNext(sendCall, { kind: "answer", status: 401, body: foreign });
  const failure = await failureOf(world.open().send(reply(ann, "x"), never));
  assert.deepEqual([failure.retryable, /IP whitelist/.test(failure.message)], [true, true]);
  qq.server.failNext(/getAppAccessToken/, { kind: "answer", body: Buffer.from("<html>") });
  const other = await failureOf(world.open().send(reply(ann, "x"), never));
  assert.match(other.message, /is not QQ/);
  qq.server.failNext(/getAppAccessToken/, { kind: "cut", carriedOut: false });
  assert.equal((await failureOf(world.open().send(reply(ann, "x"), never))).outcome, "refused");
});
