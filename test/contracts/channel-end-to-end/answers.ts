import assert from "node:assert/strict";
import { gate, until } from "../../support/engine/engine-kit.js";
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
  channelTest(
    "/stop keeps the words that people are reading, and adds its own",
    { answer: { text: ["Half of ", "it"], hang: "middle" }, config: { reactors: { live: true } } },
    async (world, harness) => {
      const [ann] = harness.people;
      await harness.write({ from: ann, text: "go" });
      await world.model.waitForRequests(1);
      if (harness.grows === true) await world.seen(ann.chatId, "Half of it");
      await harness.write({ from: ann, text: "/stop" });
      const { text } = await world.seen(ann.chatId, "Stopped.");
      if (harness.grows === true) assert.match(text, /^Half of it\s+Stopped\.$/);
      await world.quiet();
      assert.equal(harness.showings(ann.chatId).length, 1);
    },
  ),
  channelTest(
    "an answer without end is a few messages, and the rest a file where the platform has files",
    { answer: { text: `${"many words ".repeat(25_000)}The end.` } },
    async (world, harness) => {
      const [ann] = harness.people;
      await harness.write({ from: ann, text: "tell me all" });
      await until("something is shown", () => harness.shown(ann.chatId).length > 0, 15_000);
      await world.quiet();
      const shown = harness.shown(ann.chatId);
      assert.ok(shown.length <= 12, `${shown.length} messages`);
      const files = shown.flatMap((one) => one.files.map(({ bytes }) => bytes.toString()));
      const isWhole = [...files, ...shown.map(({ text }) => text)].some((text) => text.includes("The end."));
      const isToldAsCut = shown.some(({ text }) => /too long|characters/.test(text));
      assert.ok(isWhole || isToldAsCut, shown.at(-1)?.text.slice(-200));
    },
  ),
];

function longAnswer(): string {
  const words = Array.from({ length: longLines }, (_, index) => `word${index} and some more of it`);
  return `${words.join("\n")}\n\nThe end.`;
}
