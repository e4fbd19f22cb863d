import assert from "node:assert/strict";
import { until } from "../../support/engine/engine-kit.js";
import { foreignTool } from "../../support/foreign-tool.js";
import { callThenDone } from "../../support/worlds/channels/chat-world.js";
import { echo, openHarnessWorld, wordsOf } from "../../support/worlds/channels/harness-world.js";
import { type ChannelPromise, harnessTest } from "./promise.js";

/** What somebody who was let in tries, in the hope that it counts for the owner. */
const tries = ["yes", "1", "allow", "/approve", "/approve always", "stop", "/stop", "/new", "/undo", "/pair list"];

/** Of two people on one platform, one owns the assistant. */
export const guestsTests: readonly ChannelPromise[] = [
  harnessTest(
    "a guest answers nothing that the owner is asked, stops and undoes nothing of the owner's, and reads nothing of it",
    async (openHarness) => {
      const harness = await openHarness();
      const [ann, bob] = harness.people;
      const done: string[] = [];
      await using world = await openHarnessWorld(async () => harness, {
        answer: (request) =>
          wordsOf(request).startsWith("do ")
            ? callThenDone("foreign_do", { a: wordsOf(request) })(request)
            : echo(request),
        config: { owners: [`${harness.channel}:${ann.senderId}`], inbound: { senderPerMinute: 0, chatPerMinute: 0 } },
        tools: [foreignTool(done)],
      });
      const counted = async (type: string): Promise<number> =>
        (await world.gateway.events(world.keyOf(ann))).filter((event) => event.type === type).length;
      await harness.write({ from: ann, text: "the word is blue-elephant" });
      await world.seen(ann.chatId, "You said: the word is blue-elephant");
      await harness.write({ from: ann, text: "do one" });
      await until("the owner is asked", async () => (await counted("human_input_asked")) === 1, 15_000);
      const { text: question } = await world.seen(ann.chatId, "May I use");
      for (const text of tries) await harness.write({ from: bob, text });
      await harness.write({ from: bob, text: "yes", answers: { text: question, isOurs: true } });
      await harness.write({ from: bob, text: "the end" });
      await world.seen(bob.chatId, "You said: the end");
      await world.seen(bob.chatId, "Only an owner");
      assert.equal(await counted("human_input_answered"), 0);
      assert.equal(await counted("turn_cancelled"), 0);
      assert.deepEqual(done, []);
      await harness.write({ from: ann, text: "no" });
      await until("the owner's no counts", async () => (await counted("human_input_answered")) === 1, 15_000);
      await world.seen(ann.chatId, "done:");
      assert.deepEqual(done, []);
      await harness.write({ from: ann, text: "do two" });
      await until("the owner is asked again", async () => (await counted("human_input_asked")) === 2, 15_000);
      await harness.write({ from: ann, text: "yes" });
      await until("the owner's yes counts", () => done.length === 1, 15_000);
      await world.quiet();
      const shown = harness.showings(bob.chatId).join("\n");
      assert.doesNotMatch(shown, /blue-elephant|do one|do two/);
      const read = world.model.requests.filter(
        (request) => tries.includes(wordsOf(request)) || wordsOf(request) === "the end",
      );
      assert.ok(read.length > 0);
      for (const { bodyText } of read) assert.doesNotMatch(bodyText, /blue-elephant/);
    },
  ),
];
