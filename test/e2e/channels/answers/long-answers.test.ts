import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { startWorld } from "../../../support/worlds/channels/chat-world.js";
import { ann, openDiscordWorld } from "../../../support/worlds/channels/discord-world.js";
import { startGateway } from "../../../support/worlds/gateway.js";

const paragraph = "A paragraph of the long answer that goes on.\n\n";
const long = `It begins.\n\n${paragraph.repeat(6000)}It ends.`;

for (const live of [false, true])
  test(`an answer of 276,000 characters is a few messages and a file on Telegram${live ? ", also while it grows" : ""}`, async () => {
    const text = live ? [long.slice(0, 50_000), long.slice(50_000, 150_000), long.slice(150_000)] : long;
    await using w = await startWorld({ text, chunkDelayMs: live ? 700 : 0 }, { config: { reactors: { live } } });
    w.say(42, "tell me all");
    await until("the file is sent", () => w.telegram.sent.some(({ file }) => file !== undefined), 20_000);
    const { sent } = w.telegram;
    assert.equal(sent.length, 5);
    assert.match(sent[0]?.text ?? "", /^It begins\./);
    assert.match(sent[3]?.text ?? "", /answer\.md holds all of it/);
    assert.equal(sent[4]?.file?.filename, "answer.md");
    assert.equal(sent[4]?.file?.bytes.toString("utf8"), long);
    await until("all is done", async () => (await w.gateway.gateway.api.status()).outboundWaiting === 0);
    assert.deepEqual(
      (await w.gateway.gateway.api.ledger()).map(({ end }) => end),
      ["answered"],
    );
  });

test("on Discord it is a few messages and a file as well", async () => {
  await using w = await openDiscordWorld(() => ({ text: long }));
  await using _gateway = await startGateway({ home: w.home });
  await w.online();
  const dm = w.discord.dmOf(ann.id);
  w.discord.write({ channelId: dm, author: ann, content: "tell me all" });
  await w.shown(dm, "answer.md holds all of it");
  await until("the file is sent", () => w.said(dm).length === 5, 10_000);
  const [file] = w.discord.sent.filter(({ channelId }) => channelId === dm).at(-1)?.files ?? [];
  assert.deepEqual([file?.filename, file?.bytes.length], ["answer.md", Buffer.byteLength(long)]);
});

test("a file that Telegram refuses is told in the chat, and the model knows at the next message", async () => {
  await using w = await startWorld({ text: long });
  w.telegram.failNext({ method: "sendDocument", status: 413, description: "Request Entity Too Large" });
  w.say(42, "tell me all");
  await w.shown(/answer\.md could not be sent here\. .*413.*Ask for a smaller file/);
  w.say(42, "why?");
  await until("the model is asked", () => w.model.requests.length === 2, 10_000);
  assert.match(w.model.requests[1]?.bodyText ?? "", /Note: answer\.md did not reach this chat/);
});
