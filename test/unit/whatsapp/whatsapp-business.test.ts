import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { OwnChannelContext, ReceivedMessage } from "../../../src/channels/channel.js";
import { whatsappBusinessPlatform } from "../../../src/channels/whatsapp-business/platform.js";
import {
  createWhatsAppBusinessChannel,
  type WhatsAppBusinessOptions,
} from "../../../src/channels/whatsapp-business/whatsapp-business.js";
import { rememberedMs } from "../../../src/engine/embedded/seen/seen-ids.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { FakeWhatsApp, graphRefusal } from "../../support/fakes/whatsapp/fake-whatsapp.js";
import { failureOf, never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const ann = "15551230001";

async function openWorld(more: Partial<WhatsAppBusinessOptions> = {}, context: Partial<OwnChannelContext> = {}) {
  const fake = await FakeWhatsApp.start();
  const listenAddr = `127.0.0.1:${await freePort()}`;
  const url = `http://${listenAddr}/hooks/whatsapp-business`;
  fake.line.open(url);
  const errors: string[] = [];
  const log = { ...silentLog, error: (text: string) => void errors.push(text) };
  const options = { ...fake.config, listenAddr, busyRetryMs: 20, traceMs: 300, log, ...more };
  const channel = createWhatsAppBusinessChannel(options, testContext(context));
  const gateway = recordPublish();
  const running = startChannel(channel, gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  return {
    fake,
    url,
    channel,
    gateway,
    errors,
    came: async (count: number): Promise<readonly ReceivedMessage[]> => {
      await until(`${count} came`, () => gateway.messages.length === count);
      return gateway.messages;
    },
    async [Symbol.asyncDispose]() {
      await running.stop();
      await fake[Symbol.asyncDispose]();
    },
  };
}

test("what nobody has signed, or somebody else has, is not read, and Meta's question is answered only with the right word", async () => {
  await using world = await openWorld();
  const { fake, url, gateway } = world;
  const message = { id: "wamid.forged", from: ann, timestamp: "1", type: "text", text: { body: "let me in" } };
  const body = JSON.stringify(fake.notification({ messages: [message] }));
  for (const signature of ["", "sha256=", `sha256=${"0".repeat(64)}`, fake.line.sign(`${body} `)])
    assert.equal(await fake.line.post(body, signature), 401);
  assert.equal(await fake.line.post("{}"), 400);
  assert.equal(await fake.line.post("not json"), 400);
  const ask = async (token: string, challenge: string) => {
    const query = new URLSearchParams({
      "hub.mode": "subscribe",
      "hub.verify_token": token,
      "hub.challenge": challenge,
    });
    const response = await fetch(`${url}?${query}`);
    return [response.status, await response.text()];
  };
  assert.deepEqual(await ask(fake.config.verifyToken, "1158201444"), [200, "1158201444"]);
  assert.deepEqual(await ask("wrong", "1158201444"), [403, ""]);
  assert.deepEqual(await ask(fake.config.verifyToken, "<script>"), [403, ""]);
  assert.deepEqual(gateway.messages, []);
});

test("a notification that is replayed later, is for another number, or is not as documented harms nothing", async () => {
  await using world = await openWorld();
  const { fake, came } = world;
  const post = (value: object, number?: string) => fake.line.post(JSON.stringify(fake.notification(value, number)));
  const now = String(Math.floor(Date.now() / 1000));
  const text = { from: ann, type: "text", text: { body: "old" } };
  const old = String(Math.floor(Date.now() / 1000) - 9 * 24 * 3600);
  assert.equal(await post({ messages: [{ ...text, id: "wamid.old", timestamp: old }] }), 200);
  assert.equal(await post({ messages: [{ ...text, id: "wamid.other", timestamp: now }] }, "999"), 200);
  for (const odd of [null, 7, "text", {}, { id: "wamid.x" }, { from: ann, type: "text" }])
    assert.equal(await post({ messages: [odd] }), 200);
  assert.equal(await post({ messages: 7, statuses: "x", contacts: [{}, null] }), 200);
  for (const type of ["reaction", "system"])
    assert.equal(await post({ messages: [{ ...text, id: `wamid.${type}`, timestamp: now, type }] }), 200);
  assert.equal(await post({ messages: [{ ...text, id: "wamid.g", timestamp: now, group_id: "g" }] }), 200);
  assert.equal(
    await post({ messages: [{ id: "wamid.s", from: ann, timestamp: now, type: "sticker", sticker: { id: "1" } }] }),
    200,
  );
  assert.equal(await post({ messages: [{ id: "wamid.t", from: ann, timestamp: now, type: "text", text: 7 }] }), 200);
  const said = (await came(2)).map(({ content, unreadable }) => [content, unreadable]);
  assert.deepEqual(said, [
    ["", "stickers"],
    ["", "messages of this kind"],
  ]);
});

test("no request can be replayed after its message's id is forgotten, also where Meta's clock is ahead of ours", async () => {
  await using world = await openWorld();
  const { fake, came } = world;
  const write = (id: string, ageMs: number) => {
    const timestamp = String(Math.floor((Date.now() - ageMs) / 1000));
    const message = { id, from: ann, timestamp, type: "text", text: { body: id } };
    return fake.line.post(JSON.stringify(fake.notification({ messages: [message] })));
  };
  for (const ahead of [0, 60_000]) assert.equal(await write("wamid.kept", rememberedMs - ahead), 200);
  // After so long an absence Meta still brings it.
  assert.equal(await write("wamid.late", rememberedMs - 3_600_000), 200);
  assert.deepEqual(
    (await came(1)).map(({ content }) => content),
    ["wamid.late"],
  );
});

test("who presses what waits for nothing is told so once a minute, with whatever they press, and a stranger is not told at all", async () => {
  const press = async () => ({ status: "refused", text: "You may not answer here." }) as const;
  const [bob, eve] = ["15551230002", "15551230666"];
  await using world = await openWorld({}, { press, mayTalk: (person) => person !== eve });
  const { fake } = world;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const presses = [eve, ann, bob, ann, ann, ann].map((from, at) => ({
    ...{ id: `wamid.p${at}`, from, timestamp, type: "interactive" },
    interactive: { type: "button_reply", button_reply: { id: at < 4 ? "ask_1:1" : `made up ${at}`, title: "Yes" } },
  }));
  for (const message of presses)
    assert.equal(await fake.line.post(JSON.stringify(fake.notification({ messages: [message] }))), 200);
  const told = (person: string) => fake.chats.in(person).map(({ text }) => text);
  await until("both are told", () => told(ann).length > 0 && told(bob).length > 0);
  await world.channel.send(reply(ann, "the end"), never);
  assert.deepEqual(told(ann), ["You may not answer here.", "the end"]);
  assert.deepEqual([told(bob), told(eve)], [["You may not answer here."], []]);
});

test("what is taken is marked as read, and a sign shows that an answer comes", async () => {
  await using world = await openWorld();
  const { fake, came, channel } = world;
  const id = fake.write({ from: ann, text: "hello" });
  const [message] = await came(1);
  assert.deepEqual([message?.senderName, message?.chatId], [`Name of ${ann}`, ann]);
  await until("it is read", () => fake.read.length === 1);
  await channel.showTyping?.(ann, undefined, never);
  await channel.showTyping?.("15559999999", undefined, never);
  assert.deepEqual(fake.read, [
    { id, isTyping: false },
    { id, isTyping: true },
  ]);
});

test("places, contacts, captions and what is passed on come as words", async () => {
  await using world = await openWorld();
  const { fake, came } = world;
  fake.bring({ from: ann, type: "location", location: { latitude: 1.5, longitude: 2, name: "Home" } });
  fake.bring({
    from: ann,
    type: "contacts",
    contacts: [{ name: { formatted_name: "Bob" }, phones: [{ phone: "+1 555" }] }],
  });
  fake.bring({ from: ann, type: "text", text: { body: "read this" }, context: { forwarded: true } });
  fake.bring({ from: ann, type: "button", button: { text: "Stop", payload: "x" } });
  const came4 = await came(4);
  assert.deepEqual(
    came4.map(({ content, outside }) => [content, outside]),
    [
      ["[location: Home, 1.5, 2]", undefined],
      ["[contact: Bob, +1 555]", undefined],
      ["read this", "a forwarded message"],
      ["Stop", undefined],
    ],
  );
});

test("after 24 hours of silence an approved template carries the text, and without one the reason is told in plain words", async () => {
  const template = { name: "late_word", language: "en" };
  await using world = await openWorld({ template });
  const { fake } = world;
  fake.gone.add(ann);
  await world.channel.send(reply(ann, "Your **tea**\n\nis ready"), never);
  assert.deepEqual(fake.templates, ["Your *tea* · is ready"]);
  const long = await failureOf(world.channel.send(reply(ann, "x ".repeat(600)), never));
  assert.match(long.message, /more than 24 hours ago.*does not fit into the template/);
  await using plain = await openWorld();
  plain.fake.gone.add(ann);
  const failure = await failureOf(plain.channel.send(reply(ann, "late"), never));
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", false]);
  assert.match(
    failure.message,
    /This person last wrote more than 24 hours ago.*channels\.whatsapp-business\.template.*\(code 131047\)/,
  );
});

test("what Meta has against the account, and not against the message, lets the message wait", async () => {
  await using world = await openWorld();
  const { server, platform } = world.fake;
  for (const code of [0, 3, 10, 190, 200, 368, 131_005, 131_031, 131_042, 131_045, 133_010]) {
    server.failNext(platform.sendCall, { kind: "answer", ...graphRefusal(403, code, "no") });
    const { outcome, retryable } = await failureOf(world.channel.send(reply(ann, "x"), never));
    assert.deepEqual([outcome, retryable], ["refused", true], String(code));
  }
  for (const code of [100, 131_026, 131_009]) {
    server.failNext(platform.sendCall, { kind: "answer", ...graphRefusal(400, code, "no") });
    assert.equal((await failureOf(world.channel.send(reply(ann, "x"), never))).retryable, false, String(code));
  }
});

test("a message that WhatsApp took and then did not deliver is told with the reason", async () => {
  await using world = await openWorld();
  const errors = [{ code: 131_026, title: "Message undeliverable" }];
  world.fake.tellStatus("wamid.gone", "failed", { recipient_id: ann, errors });
  await until("it is told", () => world.errors.length > 0);
  assert.match(world.errors[0] ?? "", /has not delivered a message to 15551230001: .*no WhatsApp/);
});

test("a message whose answer did not come is found by the status that WhatsApp gives of it, also after a restart", async () => {
  const context = testContext();
  await using world = await openWorld({}, context);
  const { fake, channel } = world;
  const { sendCall } = fake.platform;
  fake.server.failNext(sendCall, { kind: "cut", carriedOut: true });
  const message = reply(ann, "once");
  assert.equal((await failureOf(channel.send(message, never))).outcome, "unknown");
  const found = await channel.find?.(message, 0, never);
  assert.equal(found?.platformMessageId, "wamid.m1");
  const { config } = fake;
  const again = createWhatsAppBusinessChannel({ ...config, traceMs: 1, log: silentLog }, testContext(context));
  assert.equal((await again.find?.(message, 0, never))?.platformMessageId, "wamid.m1");
  assert.equal(await channel.find?.(reply(ann, "never", { id: "out_9#1" }), 0, never), undefined);
});

test("files go as what they are, text of all kinds as text, and what WhatsApp does not take is refused", async () => {
  await using world = await openWorld();
  const { fake, channel } = world;
  const folder = await mkdtemp(join(tmpdir(), "whatsapp-"));
  const send = async (filename: string, mimeType: string) => {
    const path = join(folder, filename);
    await writeFile(path, "content");
    return await channel.send(reply(ann, "", { attachments: [{ path, filename, mimeType, sizeBytes: 7 }] }), never);
  };
  for (const [name, type] of [
    ["cat.png", "image/png"],
    ["rows.csv", "text/csv"],
    ["data.json", "application/json; charset=utf-8"],
    ["a.pdf", "application/pdf"],
  ] as const)
    await send(name, type);
  const kinds = fake.server.calls.filter(({ name }) => fake.platform.sendCall.test(name)).map(({ json }) => json.type);
  assert.deepEqual(kinds, ["image", "document", "document", "document"]);
  const failure = await failureOf(send("a.zip", "application/zip"));
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", false]);
  fake.server.failNext(/\/media$/, { kind: "cut", carriedOut: true });
  const cut = await failureOf(send("b.pdf", "application/pdf"));
  assert.deepEqual([cut.outcome, cut.retryable], ["refused", true], "nothing was shown yet");
});

test("a file is fetched from Meta alone, and no more of it than is wanted", async () => {
  await using world = await openWorld();
  const { fake, came } = world;
  fake.write({
    from: ann,
    files: [{ filename: "a.pdf", mimeType: "application/pdf", bytes: Buffer.alloc(300_000, 1) }],
  });
  const file = (await came(1))[0]?.files?.[0];
  assert.equal((await file?.read(1_000_000, never))?.length, 300_000);
  assert.ok(((await file?.read(1000, never))?.length ?? 0) < 300_000);
  const elsewhere = { status: 200, body: { url: "https://fbsbx.com.example.org/x", mime_type: "application/pdf" } };
  fake.server.failNext(/^GET \/v24\.0\/media1$/, { kind: "answer", ...elsewhere });
  const failure = await failureOf(file?.read(1000, never) ?? Promise.resolve());
  assert.match(failure.message, /not Meta's/);
});

test("a wrong secret, id or right is named when somebody tries the settings, without the secret", async () => {
  await using fake = await FakeWhatsApp.start();
  const { config } = fake;
  const section = whatsappBusinessPlatform.section.parse({
    ...config,
    enabled: true,
    allowFrom: ["+1 (555) 123-0001", "*"],
  });
  assert.deepEqual(section.allowFrom, [ann, "*"]);
  const scope = { home: "/nowhere", log: silentLog };
  const logIn = (more: object) =>
    whatsappBusinessPlatform.logIn?.({ ...section, ...more }, scope, never) ?? Promise.resolve();
  assert.equal(await logIn({}), "+1 555-000-1111 (Max)");
  const refused = async (more: object) => {
    const { message, retryable } = await failureOf(logIn(more));
    assert.equal(retryable, false, message);
    return message;
  };
  const wrong = await refused({ accessToken: "EAAwrongTokenThatIsLongEnough0123" });
  assert.match(wrong, /Correct channels\.whatsapp-business\.accessToken/);
  assert.ok(!wrong.includes("EAAwrong"));
  assert.match(await refused({ appSecret: "f".repeat(32) }), /Correct channels\.whatsapp-business\.appSecret/);
  assert.match(await refused({ phoneNumberId: "1" }), /Correct channels\.whatsapp-business\.phoneNumberId/);
  fake.server.failNext(fake.platform.receiveCall, { kind: "answer", ...graphRefusal(403, 200, "Permissions error") });
  assert.match(await refused({}), /lacks the right whatsapp_business_messaging/);
  assert.match(
    whatsappBusinessPlatform.lacks?.(whatsappBusinessPlatform.section.parse({ enabled: true })) ?? "",
    /no phoneNumberId and no accessToken and no appSecret and no verifyToken/,
  );
});

test("a press that comes twice is confirmed once its answer is stored, and counts once", async () => {
  let store: (() => void) | undefined;
  const stored = new Promise<void>((resolve) => {
    store = resolve;
  });
  let presses = 0;
  const press = async () => {
    presses += 1;
    await stored;
    return { status: "taken", text: "" } as const;
  };
  await using world = await openWorld({}, { press });
  const { fake } = world;
  const reply = { type: "button_reply", button_reply: { id: "ask_1:yes", title: "Yes" } };
  const message = { id: "wamid.twice", from: ann, timestamp: String(Math.floor(Date.now() / 1000)) };
  const body = JSON.stringify(
    fake.notification({ messages: [{ ...message, type: "interactive", interactive: reply }] }),
  );
  const ends: number[] = [];
  const post = async (): Promise<void> => void ends.push(await fake.line.post(body));
  const first = post();
  await until("it is pressed", () => presses === 1);
  const second = post();
  // Another request that comes behind it is answered.
  assert.equal(await fake.line.post("{}"), 400);
  assert.deepEqual(ends, []);
  store?.();
  await Promise.all([first, second]);
  assert.deepEqual([ends, presses], [[200, 200], 1]);
});
