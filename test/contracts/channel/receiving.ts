import assert from "node:assert/strict";
import { gate, until } from "../../support/engine/engine-kit.js";
import { accepted, recordPublish, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { type ChannelTest, channelTest, limitMs } from "./far-side.js";

export const receivingTests: readonly ChannelTest[] = [
  channelTest(
    "passes messages on in platform order, with who wrote them and an id to know them again by",
    async (far) => {
      const [chat] = far.chats;
      const gateway = recordPublish();
      const channel = far.open();
      far.write(chat, "one");
      far.write(chat, "two");
      await using running = startChannel(channel, gateway.publish);
      await until("two messages came", () => gateway.messages.length === 2, limitMs);
      far.write(chat, "three");
      await until("a third came", () => gateway.messages.length === 3, limitMs);
      assert.deepEqual(gateway.texts(), ["one", "two", "three"]);
      assert.ok(running.connections() >= 1);
      const ids = gateway.messages.map((message) => message.dedupId);
      assert.equal(new Set(ids).size, 3);
      for (const message of gateway.messages) {
        assert.ok(message.dedupId?.startsWith(`${channel.name}:`));
        assert.deepEqual([message.chatId, message.chatType, message.addressed], [chat, "dm", true]);
        assert.notEqual(message.senderId, "");
      }
    },
  ),
  channelTest("a chat whose message is not taken yet holds up no other chat", async (far) => {
    const [stuck, other] = far.chats;
    const hold = gate();
    const gateway = recordPublish(async (message) => {
      if (message.chatId === stuck) await hold.opened;
      return accepted;
    });
    await using _running = startChannel(far.open(), gateway.publish);
    far.write(stuck, "waits");
    await until("the first message came", () => gateway.texts().includes("waits"), limitMs);
    for (const text of ["a", "b", "c"]) {
      far.write(other, text);
      await until(`${text} came`, () => gateway.texts().includes(text), limitMs);
    }
    hold.open();
  }),
  channelTest(
    "a message for which there is no room is offered until it is taken, and its chat stays in order",
    async (far) => {
      const [chat, other] = far.chats;
      let isFull = true;
      const taken: string[] = [];
      const gateway = recordPublish((message) => {
        if (isFull && message.content === "first") return { status: "busy", reply: "Later, please." };
        taken.push(message.content);
        return accepted;
      });
      await using _running = startChannel(far.open(), gateway.publish);
      far.write(chat, "first");
      await until(
        "the first is offered again",
        () => gateway.texts().filter((text) => text === "first").length > 1,
        limitMs,
      );
      far.write(chat, "second");
      far.write(other, "elsewhere");
      await until("the other chat goes on", () => taken.includes("elsewhere"), limitMs);
      assert.deepEqual(
        far.shown().map(({ chatId, text }) => [chatId, text]),
        [[chat, "Later, please."]],
      );
      isFull = false;
      await until("both are taken", () => taken.length === 3, limitMs);
      assert.deepEqual(taken, ["elsewhere", "first", "second"]);
    },
  ),
  channelTest(
    "what acts at once is passed on before what its chat has sent earlier, and the rest keeps its order",
    async (far) => {
      const [chat] = far.chats;
      const hold = gate();
      const taken: string[] = [];
      const gateway = recordPublish(async ({ content }) => {
        if (content === "a slow file") await hold.opened;
        taken.push(content);
        return accepted;
      });
      const channel = far.open(undefined, ({ content }) => content === "/stop");
      await using _running = startChannel(channel, gateway.publish);
      using _freed = { [Symbol.dispose]: hold.open };
      far.write(chat, "a slow file");
      await until("it is under way", () => gateway.messages.length === 1, limitMs);
      for (const text of ["next", "/stop", "last"]) far.write(chat, text);
      await until("it is stopped", () => taken.length > 0, limitMs);
      assert.deepEqual(taken, ["/stop"]);
      hold.open();
      await until("all came", () => taken.length === 4, limitMs);
      assert.deepEqual(taken, ["/stop", "a slow file", "next", "last"]);
    },
  ),
  channelTest("a sentence for a person who is refused is shown in their chat", async (far) => {
    const [chat] = far.chats;
    const gateway = recordPublish(() => ({ status: "refused", reply: "I do not know you." }));
    await using _running = startChannel(far.open(), gateway.publish);
    far.write(chat, "hello?");
    await until("the sentence is shown", () => far.shown().length > 0, limitMs);
    assert.deepEqual(far.shown(), [{ chatId: chat, text: "I do not know you." }]);
    assert.equal(gateway.messages.length, 1);
  }),
];
