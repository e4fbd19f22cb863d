import assert from "node:assert/strict";
import { gate } from "../../support/engine/engine-kit.js";
import { type HarnessWorldOptions, openHarnessWorld } from "../../support/worlds/channels/harness-world.js";
import { type ChannelPromise, channelTest, harnessTest } from "./promise.js";

/** Several messages on each platform, and on none as many as become a file. */
const longLines = 500;

export const answersTests: readonly ChannelPromise[] = [
  channelTest(
    "a long answer comes in pieces, in order, with code whole",
    { answer: { text: longAnswer() } },
    async (world, harness) => {
      const [ann] = harness.people;
      await harness.write({ from: ann, text: "tell me all" });
      await world.seen(ann.chatId, "The end.");
      await world.quiet();
      const text = harness
        .shown(ann.chatId)
        .map((one) => one.text)
        .join("\n");
      let at = -1;
      for (let line = 0; line < longLines; line++) {
        const next = text.indexOf(`word${line} `, at + 1);
        assert.ok(next > at, `word${line} is in its place`);
        at = next;
      }
    },
  ),
  harnessTest("while an answer grows it is one message, and in the end it is the whole text", async (openHarness) => {
    const rest = gate();
    let chunks = ["The first ", "and the rest."];
    const answer: HarnessWorldOptions["answer"] = async () => {
      const [first = "", last = ""] = chunks;
      await rest.opened;
      return { text: [first, last], chunkDelayMs: 450 };
    };
    await using world = await openHarnessWorld(openHarness, { answer, config: { reactors: { live: true } } });
    const { harness } = world;
    const [ann] = harness.people;
    rest.open();
    await harness.write({ from: ann, text: "go" });
    await world.seen(ann.chatId, "The first and the rest.");
    await world.quiet();
    assert.deepEqual(
      harness.shown(ann.chatId).map(({ text }) => text),
      ["The first and the rest."],
    );
    assert.ok(harness.showings(ann.chatId).length === 1);
    chunks = ["Short."];
    await harness.write({ from: ann, text: "again" });
    await world.seen(ann.chatId, "Short.");
  }),
];

function longAnswer(): string {
  const words = Array.from({ length: longLines }, (_, index) => `word${index} and some more of it`);
  return `${words.join("\n")}\n\nThe end.`;
}
