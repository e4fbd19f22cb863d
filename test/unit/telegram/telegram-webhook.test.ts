import assert from "node:assert/strict";
import { test } from "node:test";
import { createTelegramChannel } from "../../../src/channels/telegram/telegram.js";
import { ChannelError } from "../../../src/errors.js";
import { silentLog } from "../../../src/log.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { accepted, recordPublish, startChannel } from "../../support/worlds/channels/channel-kit.js";

const token = "4242:hook-secret";
const secret = "only-Telegram-knows";

async function open(gateway = recordPublish()) {
  const telegram = await startFakeTelegram({ token });
  const port = await freePort();
  const webhook = { url: "https://bot.example/hook", secret, host: "127.0.0.1", port };
  const options = { token, apiRoot: telegram.url, webhook, busyRetryMs: 20, log: silentLog };
  const running = startChannel(createTelegramChannel(options, { cursor: async () => undefined }), gateway.publish);
  let updateId = 100;
  const post = async (body: unknown, headers: Record<string, string> = {}, path = "/hook"): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return response.status;
  };
  const text = (content: string, id = ++updateId) => ({
    update_id: id,
    message: {
      message_id: id,
      date: 0,
      chat: { id: 42, type: "private" },
      from: { id: 42, is_bot: false, first_name: "Ada" },
      text: content,
    },
  });
  return {
    telegram,
    gateway,
    running,
    post,
    text,
    async [Symbol.asyncDispose]() {
      await running.stop();
      await telegram.stop();
    },
  };
}

test("tells Telegram where to bring updates, and confirms one once it is durable", async () => {
  const hold = gate();
  const gateway = recordPublish(async () => {
    await hold.opened;
    return accepted;
  });
  await using t = await open(gateway);
  await until("it is connected", () => t.running.connections() > 0);
  assert.deepEqual(t.telegram.webhook, { url: "https://bot.example/hook", secret });
  assert.equal(t.telegram.calls("getUpdates"), 0);
  let status = 0;
  const posting = t.post(t.text("one")).then((code) => {
    status = code;
  });
  await until("it is passed on", () => gateway.messages.length === 1);
  assert.equal(status, 0, "nothing is confirmed that is not on disk");
  hold.open();
  await posting;
  assert.equal(status, 200);
  assert.deepEqual(gateway.texts(), ["one"]);
});

test("an update that Telegram brings again while it is being taken is passed on once", async () => {
  const hold = gate();
  const gateway = recordPublish(async () => {
    await hold.opened;
    return accepted;
  });
  await using t = await open(gateway);
  await until("it is connected", () => t.running.connections() > 0);
  const update = t.text("twice", 7);
  const first = t.post(update);
  await until("it is passed on", () => gateway.messages.length === 1);
  const second = t.post(update);
  // Answered after the one before it in this gateway, so that it has been looked at by then.
  assert.equal(await t.post("{"), 400);
  hold.open();
  assert.deepEqual(await Promise.all([first, second]), [200, 200]);
  assert.deepEqual(t.gateway.texts(), ["twice"]);
});

test("a part of an album that comes when the others are passed on is a message of its own, a repeated one is not", async () => {
  await using t = await open();
  await until("it is connected", () => t.running.connections() > 0);
  const part = (id: number) => {
    const { message } = t.text("");
    const document = { file_id: `f${id}`, file_name: `${id}.txt` };
    const named = { caption: "@maxclaw_test_bot look", caption_entities: [{ type: "mention", offset: 0, length: 17 }] };
    const chat = { id: -5, type: "supergroup" };
    const about = { message_id: id, text: undefined, chat, media_group_id: "9", document, ...(id === 1 ? named : {}) };
    return { update_id: id, message: { ...message, ...about } };
  };
  await Promise.all([t.post(part(1)), t.post(part(2))]);
  // People name the bot in one part only.
  for (const id of [3, 2]) assert.equal(await t.post(part(id)), 200);
  assert.deepEqual(
    t.gateway.messages.map(({ dedupId, addressed, files = [] }) => [
      dedupId,
      addressed,
      files.map(({ filename }) => filename).join(),
    ]),
    [
      ["telegram:4242:album:9", true, "1.txt,2.txt"],
      ["telegram:4242:3", true, "3.txt"],
      ["telegram:4242:album:9", true, "2.txt"],
    ],
  );
});

test("nobody but Telegram is listened to, and what is not an update harms nothing", async () => {
  await using t = await open();
  await until("it is connected", () => t.running.connections() > 0);
  const name = "x-telegram-bot-api-secret-token";
  assert.equal(await t.post(t.text("x"), { [name]: "wrong" }), 401);
  assert.equal(await t.post(t.text("x"), { [name]: "" }), 401);
  assert.equal(await t.post(t.text("x"), {}, "/other"), 404);
  assert.equal(await t.post("{"), 400);
  assert.equal(await t.post("x".repeat(1_100_000)), 413);
  assert.equal(await t.post({ hello: "there" }), 200);
  assert.deepEqual(t.gateway.texts(), []);
});

test("an address that is taken is said with the key's name", async () => {
  await using first = await open();
  await until("it is connected", () => first.running.connections() > 0);
  const { port } = new URL(first.telegram.url);
  const webhook = { url: "https://bot.example/hook", secret, host: "127.0.0.1", port: Number(port) };
  const options = { token, apiRoot: first.telegram.url, webhook, log: silentLog };
  const second = startChannel(
    createTelegramChannel(options, { cursor: async () => undefined }),
    recordPublish().publish,
  );
  const failure = await second.ended;
  assert.ok(failure instanceof ChannelError);
  assert.match(failure.message, /channels\.telegram\.webhook: 127\.0\.0\.1:\d+ cannot be listened on/);
});
