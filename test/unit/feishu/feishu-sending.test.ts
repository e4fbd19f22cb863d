import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Attachment } from "../../../src/bus/messages.js";
import { mimeTypeOf } from "../../../src/util/files/content-types.js";
import { editCall, sendCall } from "../../support/fakes/feishu/fake-feishu.js";
import { plainRefusal, refusal } from "../../support/fakes/feishu/rules.js";
import { failureOf, never, reply } from "../../support/worlds/channels/channel-kit.js";
import { ann, group, openFeishuWorld, say } from "../../support/worlds/channels/feishu/feishu-world.js";

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

async function fileOf(filename: string, bytes: Buffer): Promise<Attachment> {
  const path = join(await mkdtemp(join(tmpdir(), "maxclaw-feishu-")), filename);
  await writeFile(path, bytes);
  return { path, filename, mimeType: mimeTypeOf(filename), sizeBytes: bytes.length };
}

test("a repeated send is shown once: it has the same uuid, of 50 characters at most", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  const channel = world.open();
  feishu.server.failNext(sendCall, { kind: "cut", carriedOut: true });
  assert.equal((await failureOf(channel.send(reply(ann, "hi"), never))).outcome, "unknown");
  const again = await world.open().send(reply(ann, "hi"), never);
  await channel.send(reply(ann, "hi", { id: "out_1#2" }), never);
  assert.deepEqual(feishu.chats.showings(ann), ["hi", "hi"]);
  assert.equal(again.platformMessageId, feishu.chats.all[0]?.id);
  const uuids = feishu.server.calls.filter(({ name }) => sendCall.test(name)).map(({ json }) => String(json.uuid));
  assert.deepEqual([uuids.length, new Set(uuids).size, uuids.every((uuid) => uuid.length <= 50)], [3, 2, true]);
});

test("a message whose repeat Feishu would not know any more is looked for in history", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  let now = Date.now();
  const channel = world.open({ now: () => now });
  await world.start(channel);
  feishu.write({ from: ann, text: "known" });
  await world.heard(1);
  const since = now;
  const message = reply(ann, "**hi**", { id: "out_9#1" });
  const { platformMessageId } = await channel.send(message, never);
  assert.equal(await channel.find?.(message, since, never), undefined, "within the hour it is sent again");
  now += 2 * 3_600_000;
  assert.deepEqual(await channel.find?.(message, since, never), { platformMessageId });
  assert.equal(await channel.find?.(reply(ann, "**hi**", { id: "out_8#1" }), since, never), undefined);
  const file = reply(ann, "", { id: "out_7#1", attachments: [await fileOf("a.csv", Buffer.from("a"))] });
  await channel.send(file, never);
  assert.equal(await channel.find?.(file, since, never), undefined, "history does not name files of a bot");
});

test("groups get answers to the message, and who took it back gets the answer all the same", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  const channel = world.open();
  const asked = feishu.event({ from: ann, group, text: "?" }).id;
  await channel.send(reply(group, "one", { replyTo: asked }), never);
  assert.ok(feishu.server.calls.at(-1)?.name.endsWith(`/${asked}/reply`));
  feishu.takeBack(asked);
  await channel.send(reply(group, "two", { id: "out_2#1", replyTo: asked }), never);
  await channel.send(reply(group, "three", { id: "out_3#1", thread: "om_gone" }), never);
  assert.deepEqual(feishu.chats.showings(group), ["one", "two", "three"]);
  const root = feishu.event({ from: ann, group, text: "topic" }).id;
  feishu.server.failNext(sendCall, { kind: "answer", ...refusal(400, 230_071, "no thread") });
  await channel.send(reply(group, "four", { id: "out_4#1", thread: root }), never);
  assert.equal(feishu.bodies.at(-1)?.reply_in_thread, false);
});

test("a card that Feishu does not take is sent and changed without marks", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  const channel = world.open();
  const odd = { kind: "answer", ...refusal(400, 230_099, "Failed to create card content") } as const;
  feishu.server.failNext(sendCall, odd);
  const { platformMessageId } = await channel.send(reply(ann, "**odd** [a](https://x.example)"), never);
  assert.deepEqual(feishu.chats.showings(ann), ["odd a (https://x.example)"]);
  feishu.server.failNext(editCall, odd);
  await channel.edit?.({ chatId: ann, platformMessageId, content: "**odder**" }, never);
  assert.equal(feishu.chats.newest(ann)?.text, "odder");
  feishu.server.failNext(sendCall, odd, 2);
  assert.equal((await failureOf(channel.send(reply(ann, "x"), never))).retryable, false);
});

test("pictures go as pictures, everything else by its kind and with its name", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  const channel = world.open();
  const large = Buffer.concat([pixel, Buffer.alloc(11 * 1024 * 1024)]);
  const files: readonly (readonly [string, Buffer])[] = [
    ["cat.png", pixel],
    ["答案.pdf", Buffer.from("pdf")],
    ["film.mp4", Buffer.from("film")],
    ["voice.opus", Buffer.from("voice")],
    ["data.bin", Buffer.from("data")],
    ["fake.png", Buffer.from("no picture")],
    ["huge.png", large],
  ];
  for (const [n, [name, bytes]] of files.entries())
    await channel.send(reply(ann, "", { id: `out_${n}#1`, attachments: [await fileOf(name, bytes)] }), never);
  assert.deepEqual(
    feishu.bodies.map(({ msg_type: type }) => type),
    ["image", "file", "media", "audio", "file", "file", "file"],
  );
  assert.deepEqual(
    feishu.chats.all.flatMap(({ files: [file] }) => [file?.filename]),
    ["picture.png", ...files.slice(1).map(([name]) => name)],
  );
  assert.deepEqual(feishu.chats.all[0]?.files[0]?.bytes, pixel);
  const empty = await failureOf(
    channel.send(reply(ann, "", { attachments: [await fileOf("e.txt", Buffer.alloc(0))] }), never),
  );
  assert.match(empty.message, /e\.txt is empty/);
  feishu.server.failNext(/\/im\/v1\/files$/, { kind: "cut", carriedOut: true });
  const cut = reply(ann, "", { id: "out_c#1", attachments: [await fileOf("c.txt", Buffer.from("c"))] });
  assert.equal((await failureOf(channel.send(cut, never))).outcome, "refused", "an upload shows nothing");
});

test("the access token is renewed before it ends, and once when Feishu does not know it any more", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  const channel = world.open();
  await say(channel, ann, "one", "two");
  assert.equal(feishu.tokensGiven, 1);
  feishu.endTokens();
  await say(channel, ann, "three");
  assert.equal(feishu.tokensGiven, 2);
  feishu.server.failNext(sendCall, { kind: "answer", ...plainRefusal(401) }, 2);
  const { outcome, retryable } = await failureOf(channel.send(reply(ann, "four"), never));
  assert.deepEqual([outcome, retryable], ["refused", true]);
  feishu.tokenSeconds = 200;
  await say(world.open(), ann, "five", "six");
  assert.ok(feishu.tokensGiven > 4, "one with so little time left is not used again");
});

const refusals: readonly (readonly [
  what: string,
  answer: ReturnType<typeof refusal>,
  said: RegExp,
  expected: object,
])[] = [
  [
    "a missing right, by the list that Feishu gives",
    refusal(400, 99_991_672, "Access denied. One of the following scopes is required: [im:message:send, im:message].", {
      permission_violations: [{ type: "action_scope_required", subject: "im:message:send_as_bot" }],
    }),
    /the right im:message:send_as_bot/,
    { retryable: true },
  ],
  [
    "missing rights, by Feishu's words",
    refusal(400, 99_991_672, "Access denied. One of the following scopes is required: [im:message:send, im:message]."),
    /one of the rights im:message:send, im:message /,
    { retryable: true },
  ],
  ["an app without a bot", refusal(400, 230_006, "Bot ability is not activated."), /ability Bot/, { retryable: true }],
  [
    "a bot that was removed",
    refusal(400, 230_002, "Bot/User can NOT be out of the chat."),
    /230002/,
    { isChatClosed: true, retryable: false },
  ],
  [
    "a person out of its range",
    refusal(400, 230_013, "Bot has NO availability to this user."),
    /range of availability/,
    { isChatClosed: true },
  ],
  [
    "too many messages in a chat",
    refusal(400, 230_020, "This operation triggers the frequency limit."),
    /230020/,
    { retryable: true, retryAfterMs: 1000 },
  ],
  [
    "the same message under way",
    refusal(400, 230_049, "The message is being sent."),
    /230049/,
    { retryable: true, outcome: "unknown" },
  ],
  ["a foreign address", refusal(400, 99_991_401, "denied by app setting"), /IP whitelist/, { retryable: true }],
];

for (const [what, answer, said, expected] of refusals)
  test(`Feishu's no says what to do: ${what}`, async () => {
    await using world = await openFeishuWorld();
    world.feishu.server.failNext(sendCall, { kind: "answer", ...answer });
    const failure = await failureOf(world.open().send(reply(ann, "x"), never));
    assert.match(failure.message, said);
    for (const [key, value] of Object.entries(expected)) assert.equal(Reflect.get(failure, key), value, key);
  });

test("a run ends for good where only its owner can help, and says with what", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  const failing = async (more = {}) =>
    await failureOf(world.open(more).run(world.gateway.publish, () => undefined, AbortSignal.timeout(10_000)));
  const noBot = { kind: "answer", ...refusal(400, 11_205, "app do not have bot") } as const;
  feishu.server.failNext(/bot\/v3\/info/, noBot);
  assert.match((await failing()).message, /ability Bot/);
  assert.match((await failing({ appId: "cli_other" })).message, /10003.*channels\.feishu\.appId/s);
  feishu.endpointSays = { code: 403, msg: "forbidden" };
  assert.equal((await failing()).retryable, false);
  feishu.endpointSays = { code: 1_000_040_350, msg: "exceed conn limit" };
  assert.match((await failing({ limits: { reconnectMs: 0 } })).message, /too many connections/);
  feishu.endpointSays = { code: 0, data: { URL: "javascript:alert(1)" } };
  assert.match((await failing({ limits: { reconnectMs: 0 } })).message, /no address/);
  feishu.server.failNext(/bot\/v3\/info/, { kind: "answer", body: Buffer.from("<html>") });
  const foreign = await failing();
  assert.deepEqual([foreign.retryable, /is not Feishu/.test(foreign.message)], [true, true]);
});
