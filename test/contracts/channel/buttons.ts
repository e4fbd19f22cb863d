import assert from "node:assert/strict";
import type { PressOutcome, ReceivedPress } from "../../../src/channels/channel.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import {
  accepted,
  failureOf,
  never,
  recordPublish,
  reply,
  startChannel,
} from "../../support/worlds/channels/channel-kit.js";
import { type ButtonsFarSide, type ChannelTest, channelTest, type FarSide, limitMs } from "./far-side.js";

const buttons = ["Yes", "No", "A much longer label than the others"].map((label, index) => ({
  label,
  value: `ask_0123456789abcdef0123:${index + 1}`,
}));

/** Says nothing about a platform that has no buttons. */
function buttonsTest(title: string, run: (far: FarSide, buttons: ButtonsFarSide) => Promise<void>): ChannelTest {
  return channelTest(title, async (far) => {
    if (far.buttons !== undefined) await run(far, far.buttons);
  });
}

export const buttonsTests: readonly ChannelTest[] = [
  buttonsTest(
    "shows buttons, passes a press on with who pressed it, and tells them what came of it",
    async (far, side) => {
      const [chat, other] = far.chats;
      const presses: ReceivedPress[] = [];
      const outcomes: PressOutcome[] = [
        { status: "taken", text: "Yes" },
        { status: "refused", text: "This is closed." },
        { status: "busy", text: "Later." },
      ];
      const channel = side.open(async (press) => outcomes[presses.push(press) - 1] as PressOutcome);
      assert.ok((channel.maxButtons ?? 0) >= 3);
      await using running = startChannel(channel, recordPublish().publish);
      await until("it is connected", () => running.connections() >= 1, limitMs);
      await channel.send(reply(chat, "Shall I?", { buttons }), never);
      await channel.send(reply(other, "No buttons", { id: "out_2#1" }), never);
      assert.deepEqual(
        side.below(chat),
        buttons.map(({ label }) => label),
      );
      assert.deepEqual(side.below(other), []);
      assert.deepEqual(far.previewed?.() ?? [], []);
      for (const label of ["Yes", "No", "No"]) side.press(chat, label);
      const quiet = side.showsPresses === true ? [] : [{ text: "Yes", isLoud: false }];
      await until("all are told", () => presses.length === 3 && side.told().length === quiet.length + 2, limitMs);
      assert.deepEqual(
        presses.map(({ chatId, chatType, value }) => [chatId, chatType, value]),
        [
          [chat, "dm", buttons[0]?.value],
          [chat, "dm", buttons[1]?.value],
          [chat, "dm", buttons[1]?.value],
        ],
      );
      for (const { senderId } of presses) assert.notEqual(senderId, "");
      assert.deepEqual(side.told(), [
        ...quiet,
        { text: "This is closed.", isLoud: true },
        { text: "Later.", isLoud: true },
      ]);
      assert.deepEqual(far.previewed?.() ?? [], []);
    },
  ),
  buttonsTest("a press waits for no message of its chat", async (far, side) => {
    const [chat] = far.chats;
    const hold = gate();
    let presses = 0;
    const channel = side.open(async () => {
      presses += 1;
      return { status: "taken", text: "Yes" };
    });
    const gateway = recordPublish(async () => {
      await hold.opened;
      return accepted;
    });
    await using _running = startChannel(channel, gateway.publish);
    await channel.send(reply(chat, "Shall I?", { buttons }), never);
    far.write(chat, "stuck");
    await until("the message came", () => gateway.messages.length > 0, limitMs);
    side.press(chat, "Yes");
    try {
      await until("the press is told", () => presses === 1 && (side.showsPresses || side.told().length === 1), limitMs);
    } finally {
      hold.open();
    }
  }),
  buttonsTest(
    "an edit puts another text in place of that of a message and takes its buttons away, or says that it did not",
    async (far, side) => {
      const [chat] = far.chats;
      const channel = side.open(async () => ({ status: "taken", text: "Yes" }));
      if (channel.edit === undefined) return;
      const { platformMessageId } = await channel.send(reply(chat, "Shall **I**?", { buttons }), never);
      side.failNextEdit();
      const edit = { chatId: chat, platformMessageId, content: "Shall **I**?\n\n✓ Yes" };
      await failureOf(channel.edit(edit, never));
      assert.equal(side.below(chat).length, 3);
      await channel.edit(edit, never);
      assert.deepEqual([side.text(chat).replaceAll("*", ""), side.below(chat)], ["Shall I?\n\n✓ Yes", []]);
    },
  ),
];
