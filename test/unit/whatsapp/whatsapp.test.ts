import assert from "node:assert/strict";
import { test } from "node:test";
import { whatsappPlatform } from "../../../src/channels/whatsapp/platform.js";
import { createWhatsAppChannel, type WhatsAppOptions } from "../../../src/channels/whatsapp/whatsapp.js";
import { ChannelError } from "../../../src/errors.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { FakeBridge } from "../../support/fakes/whatsapp/fake-bridge.js";
import { failureOf, never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const ann = "15551230001";

async function openWorld(more: Partial<WhatsAppOptions> = {}, prepare: (fake: FakeBridge) => void = () => undefined) {
  const fake = await FakeBridge.start();
  prepare(fake);
  const told: string[] = [];
  const log = { ...silentLog, info: (text: string) => void told.push(text) };
  const options = { bridgeUrl: fake.url, ownChats: new Set<string>(), reconnectMs: 0, log, ...more };
  const channel = createWhatsAppChannel(options, testContext());
  const gateway = recordPublish();
  const running = startChannel(channel, gateway.publish);
  await until("the bridge is reached", () => fake.server.sockets.size > 0);
  return {
    fake,
    channel,
    gateway,
    running,
    told,
    async [Symbol.asyncDispose]() {
      await running.stop();
      await fake[Symbol.asyncDispose]();
    },
  };
}

const message = {
  type: "message",
  id: "3EB0",
  sender: `${ann}@s.whatsapp.net`,
  content: "hi",
  timestamp: 1,
  isGroup: false,
  fromMe: false,
};

test("it counts as connected when WhatsApp is, and the code that the bridge wants scanned is shown until then", async () => {
  await using world = await openWorld({}, (fake) => {
    fake.status = undefined;
  });
  const { fake, channel, running } = world;
  assert.equal(running.connections(), 0);
  fake.showCode("2@first");
  await until("a code is shown", () => channel.toDo?.()?.scan === "2@first");
  fake.showCode("2@second");
  await until("the next one is", () => channel.toDo?.()?.scan === "2@second");
  assert.match(channel.toDo?.()?.text.en ?? "", /Linked devices/);
  fake.tellStatus("connected");
  await until("it is connected", () => running.connections() > 0);
  assert.equal(channel.toDo?.(), undefined);
  // The Go maxclaw's bridge gives its last code to everybody who comes, also long after.
  fake.showCode("2@second");
  fake.write(ann, "hello");
  await until("the message came", () => world.gateway.messages.length === 1);
  assert.equal(channel.toDo?.(), undefined);
});

test("a bridge that has lost WhatsApp and shows no code is told as not connected", async () => {
  await using world = await openWorld({ lostMs: 30 });
  await until("it is connected", () => world.running.connections() > 0);
  world.fake.tellStatus("disconnected");
  const failure = await world.running.ended;
  assert.ok(failure instanceof ChannelError && failure.retryable);
  assert.match(failure.message, /The WhatsApp bridge runs, but it is not connected to WhatsApp/);
});

test("what the bridge says that is not as it should be harms nothing", async () => {
  await using world = await openWorld();
  const { fake, gateway } = world;
  await until("it is connected", () => world.running.connections() > 0);
  for (const odd of ["not json", "null", "7", "[]", '{"type":"other"}', '{"type":"message"}', '{"type":"qr","qr":7}'])
    fake.say(Object(odd));
  for (const frame of [
    { ...message, content: "" },
    { ...message, content: 7 },
    { ...message, sender: "" },
    { ...message, sender: "status@broadcast" },
    { ...message, sender: "1203@newsletter" },
  ])
    fake.say(frame);
  fake.say({ ...message, content: "[Voice Message]" });
  fake.say({ ...message, sender: "777:3@s.whatsapp.net", id: "", timestamp: { low: 1 } });
  fake.say({ ...message, sender: "888@lid", pn: "999@s.whatsapp.net" });
  fake.say({ ...message, sender: "888@lid" });
  await until("four came", () => gateway.messages.length === 4);
  assert.deepEqual(
    gateway.messages.map(({ chatId, content, unreadable, dedupId }) => [chatId, content, unreadable, dedupId]),
    [
      [ann, "", "voice messages that come over the bridge", `whatsapp:${ann}@s.whatsapp.net:3EB0`],
      ["777", "hi", undefined, undefined],
      ["999", "hi", undefined, "whatsapp:999@s.whatsapp.net:3EB0"],
      ["888@lid", "hi", undefined, "whatsapp:888@lid:3EB0"],
    ],
  );
  for (const { chatId, senderId } of gateway.messages) assert.equal(chatId, senderId);
});

test("in a group somebody is heard only where the bridge says who wrote, and answered where they mean the assistant", async () => {
  await using world = await openWorld();
  const { fake, gateway, told } = world;
  await until("it is connected", () => world.running.connections() > 0);
  const inGroup = { ...message, sender: "1203@g.us", isGroup: true };
  fake.say(inGroup);
  fake.say({ ...inGroup, content: "again" });
  fake.say({ ...inGroup, content: "who", participant: `${ann}:4@s.whatsapp.net` });
  fake.say({ ...inGroup, content: "you", participant: `${ann}@s.whatsapp.net`, wasMentioned: true });
  await until("two came", () => gateway.messages.length === 2);
  assert.deepEqual(
    gateway.messages.map(({ chatId, senderId, chatType, addressed }) => [chatId, senderId, chatType, addressed]),
    [
      ["1203@g.us", ann, "group", false],
      ["1203@g.us", ann, "group", true],
    ],
  );
  assert.equal(told.length, 1, "and that is said once in the log");
});

test("words of the account itself count only in chats that are named, and what the assistant has said is not one of them", async () => {
  await using world = await openWorld({ ownChats: new Set([ann]) });
  const { fake, gateway, channel } = world;
  await until("it is connected", () => world.running.connections() > 0);
  fake.echoes = true;
  await channel.send(reply(ann, "Hello **you**"), never);
  fake.say({ ...message, sender: "15559999999@s.whatsapp.net", content: "to a friend", fromMe: true });
  fake.say({ ...message, content: "to the assistant", fromMe: true });
  await until("one came", () => gateway.messages.length > 0);
  assert.deepEqual(gateway.texts(), ["to the assistant"]);
  assert.equal(fake.chats.newest(ann)?.text, "Hello *you*");
});

test("what is written while nobody listens to the bridge does not come", async () => {
  await using world = await openWorld();
  const { fake } = world;
  await until("it is connected", () => world.running.connections() > 0);
  await world.running.stop();
  await until("nobody listens", () => fake.server.sockets.size === 0);
  fake.say({ ...message, content: "lost" });
  const gateway = recordPublish();
  await using _running = startChannel(world.channel, gateway.publish);
  fake.write(ann, "heard");
  await until("the next came", () => gateway.messages.length > 0);
  assert.deepEqual(gateway.texts(), ["heard"]);
});

test("what the bridge did not send says why, and whether trying again can help", async () => {
  await using world = await openWorld();
  const { fake, channel } = world;
  const failing = async (error: string) => {
    fake.failNext({ error });
    const { outcome, retryable, message: said } = await failureOf(channel.send(reply(ann, "x"), never));
    return [outcome, retryable, said];
  };
  const text = (why: string) => `The WhatsApp bridge did not send the message: ${why}.`;
  assert.deepEqual(await failing("Error: Not connected"), ["refused", true, text("Not connected")]);
  assert.deepEqual(await failing("Error: Connection Closed"), ["refused", true, text("Connection Closed")]);
  assert.deepEqual(await failing("Error: not-acceptable"), ["refused", false, text("not-acceptable")]);
  await fake[Symbol.asyncDispose]();
  const gone = await failureOf(channel.send(reply(ann, "x"), never));
  assert.deepEqual([gone.outcome, gone.retryable], ["refused", true]);
});

test("the section of the Go maxclaw counts as it is; a token that is missing or wrong is named", async () => {
  const { section, lacks, logIn } = whatsappPlatform;
  const written = { enabled: true, bridgeUrl: "ws://localhost:3001", bridgeToken: "", allowSelf: true };
  const read = section.parse({
    ...written,
    allowFrom: ["+1 (555) 123-0001", "15551230002@s.whatsapp.net", "7:1@lid", "*"],
  });
  assert.deepEqual(read.allowFrom, [ann, "15551230002", "7@lid", "*"]);
  assert.equal(lacks?.(read), undefined);
  assert.match(lacks?.(section.parse({ enabled: true })) ?? "", /no bridgeUrl/);
  await using fake = await FakeBridge.start("the-right-one");
  const scope = { home: "/nowhere", log: silentLog };
  const tried = async (bridgeToken: string) =>
    (await logIn?.(section.parse({ ...written, bridgeUrl: fake.url, bridgeToken }), scope, never)) ?? "fine";
  assert.equal(await tried("the-right-one"), "fine");
  assert.match(
    (await failureOf(tried("a-wrong-one"))).message,
    /does not take the token\. Correct channels\.whatsapp\.bridgeToken/,
  );
  assert.match((await failureOf(tried(""))).message, /wants a token\. Set channels\.whatsapp\.bridgeToken/);
});
