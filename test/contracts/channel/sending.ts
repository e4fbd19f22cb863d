import assert from "node:assert/strict";
import { until } from "../../support/engine/engine-kit.js";
import {
  failureOf,
  never,
  recordPublish,
  reply,
  startChannel,
  textsOf,
} from "../../support/worlds/channels/channel-kit.js";
import { type ChannelTest, channelTest, limitMs } from "./far-side.js";

export const sendingTests: readonly ChannelTest[] = [
  channelTest("a sent message is shown once, and has an id", async (far) => {
    const [chat] = far.chats;
    const channel = far.open();
    const first = await channel.send(reply(chat, "Hello **you**"), never);
    const second = await channel.send(reply(chat, "again", { id: "out_1#2" }), never);
    assert.notEqual(first.platformMessageId, "");
    assert.notEqual(first.platformMessageId, second.platformMessageId);
    assert.deepEqual(
      far.shown().map(({ chatId, text }) => [chatId, text.replaceAll("*", "")]),
      [
        [chat, "Hello you"],
        [chat, "again"],
      ],
    );
  }),
  channelTest(
    "each way in which a send can fail says whether the message may have arrived and what helps",
    async (far) => {
      const [chat] = far.chats;
      const channel = far.open();
      const failing = async (signal = never) => {
        const failure = await failureOf(channel.send(reply(chat, "x"), signal));
        for (const secret of far.secrets) assert.ok(!textsOf(failure).includes(secret), failure.message);
        return [failure.outcome, failure.retryable, failure.retryAfterMs];
      };
      far.refuseNextSend("for good");
      assert.deepEqual(await failing(), ["refused", false, undefined]);
      far.refuseNextSend("with a wait");
      assert.deepEqual(await failing(), ["refused", true, 1000]);
      far.cutNextSend();
      assert.deepEqual(await failing(), ["unknown", true, undefined]);
      far.hangNextSend();
      assert.deepEqual(await failing(), ["unknown", true, undefined]);
      assert.deepEqual(await failing(AbortSignal.abort()), ["refused", true, undefined]);
      const stop = new AbortController();
      far.hangNextSend();
      const cut = failing(stop.signal);
      setImmediate(() => stop.abort());
      assert.equal((await cut)[1], true);
      assert.deepEqual(far.shown(), []);
    },
  ),
  channelTest("what is not refused for itself waits, and is shown when it is taken again", async (far) => {
    const [chat] = far.chats;
    const channel = far.open();
    for (const [n, refuse] of (far.passingRefusals ?? []).entries()) {
      const message = reply(chat, `answer ${n}`, { id: `out_${n}#1` });
      refuse();
      const { outcome, retryable, message: why } = await failureOf(channel.send(message, never));
      assert.deepEqual([outcome, retryable], ["refused", true], why);
      await channel.send(message, never);
    }
    assert.equal(far.shown().length, far.passingRefusals?.length ?? 0);
  }),
  channelTest(
    "cuts a long reply into pieces that the platform takes, with each code block whole in its piece",
    async (far) => {
      const channel = far.open();
      const words = Array.from({ length: 3000 }, (_, index) => `word${index}`);
      const code = Array.from({ length: 800 }, (_, index) => `const line${index} = ${index};`);
      const pieces = channel.split(`${words.join(" ")}\n\n\`\`\`js\n${code.join("\n")}\n\`\`\`\n\nThe end.`);
      if (Number.isFinite(far.longestMessage)) assert.ok(pieces.length > 2);
      for (const piece of pieces) {
        assert.ok(far.lengthOf(piece) <= far.longestMessage);
        assert.equal((piece.match(/^```/gm) ?? []).length % 2, 0);
      }
      const text = pieces.join("\n");
      let at = -1;
      for (const part of [...words, ...code, "The end."]) {
        const next = text.indexOf(part, at + 1);
        assert.ok(next > at, `${part} is in its place`);
        at = next;
      }
      assert.deepEqual(channel.split("short"), ["short"]);
      assert.deepEqual(channel.split(" \n "), []);
    },
  ),
  channelTest("what is split can be sent", async (far) => {
    const [chat] = far.chats;
    const channel = far.open();
    const pieces = channel.split("<&> lorem **ipsum** `dolor`\n".repeat(900));
    for (const [n, piece] of pieces.entries()) await channel.send(reply(chat, piece, { id: `out_1#${n + 1}` }), never);
    assert.equal(far.shown().length, pieces.length);
  }),
  channelTest(
    "no address of ours is fetched by the platform: not of an answer, a live preview or a notice",
    async (far) => {
      const [chat] = far.chats;
      const address = "https://example.org/?secret=1";
      const channel = far.open();
      const { platformMessageId } = await channel.send(reply(chat, `Look: ${address}`), never);
      await channel.send(reply(chat, `**[here](${address})**`, { id: "out_2#1" }), never);
      await channel.edit?.({ chatId: chat, platformMessageId, content: `Look again: ${address}` }, never);
      const gateway = recordPublish(() => ({ status: "refused", reply: `Ask at ${address}` }));
      await using _running = startChannel(channel, gateway.publish);
      far.write(chat, "hello?");
      await until("the sentence is shown", () => far.shown().length === 3, limitMs);
      assert.deepEqual(far.previewed?.() ?? [], []);
    },
  ),
];
