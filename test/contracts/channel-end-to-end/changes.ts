import assert from "node:assert/strict";
import { gate, until } from "../../support/engine/engine-kit.js";
import {
  echo,
  type HarnessWorld,
  type HarnessWorldOptions,
  openHarnessWorld,
  wordsOf,
} from "../../support/worlds/channels/harness-world.js";
import { type ChannelPromise, channelTest, harnessTest } from "./promise.js";

/** What people do with messages. */
export const changesTests: readonly ChannelPromise[] = [
  harnessTest("an edit of a message that waits replaces it, a later one is a correction", async (openHarness) => {
    const { held, answer } = hold();
    await using world = await openHarnessWorld(openHarness, { answer });
    const { harness } = world;
    if (harness.edit === undefined) return;
    const [ann] = harness.people;
    await harness.write({ from: ann, text: "wait" });
    await world.model.waitForRequests(1);
    await harness.write({ from: ann, text: "/status" });
    const id = await harness.write({ from: ann, text: "two eggs" });
    await accepted(world, ann, 3);
    await harness.edit(id, { from: ann, text: "three eggs" });
    await accepted(world, ann, 4);
    held.open();
    await world.seen(ann.chatId, "You said: three eggs");
    await world.quiet();
    assert.ok(!world.model.requests.some((request) => request.bodyText.includes("two eggs")));
    assert.equal(world.model.requests.length, 2, "one turn for the message and its edit");
    await harness.edit(id, { from: ann, text: "four eggs" });
    await world.seen(ann.chatId, "four eggs");
    assert.match(world.model.requests.at(-1)?.userText ?? "", /edited an earlier message[^\n]*\nfour eggs$/);
    const ends = (await world.gateway.gateway.api.ledger()).map(({ end }) => end);
    assert.ok(
      ends.every((end) => end === "answered"),
      ends.join(),
    );
  }),
  harnessTest(
    "a message that is taken back before its turn is not answered, one that is answered stays",
    async (openHarness) => {
      const { held, answer } = hold();
      await using world = await openHarnessWorld(openHarness, { answer });
      const { harness } = world;
      if (harness.remove === undefined) return;
      const [ann] = harness.people;
      const first = await harness.write({ from: ann, text: "wait" });
      await world.model.waitForRequests(1);
      await harness.write({ from: ann, text: "/status" });
      const message = { from: ann, text: "forget me" };
      const id = await harness.write(message);
      await accepted(world, ann, 3);
      await harness.remove(id, message);
      await accepted(world, ann, 4);
      held.open();
      await world.quiet();
      await harness.remove(first, { from: ann, text: "wait" });
      await harness.write({ from: ann, text: "still there?" });
      await world.seen(ann.chatId, "still there?");
      await world.quiet();
      assert.ok(!world.model.requests.some((request) => request.bodyText.includes("forget me")));
      assert.ok(!harness.showings(ann.chatId).some((text) => /forget me|Stopped/.test(text)));
    },
  ),
  channelTest(
    "the model reads what a message answers, and whose words that were",
    { answer: { text: "the sky is green" } },
    async (world, harness) => {
      if (harness.quotes === false) return;
      const [ann] = harness.people;
      await harness.write({ from: ann, text: "what colour is it?" });
      await world.seen(ann.chatId, "the sky is green");
      const readWith = async (text: string, quoted: string): Promise<string> => {
        await harness.write({ from: ann, text, answers: { text: quoted, isOurs: true } });
        const find = () => world.model.requests.find(({ userText }) => userText.endsWith(text));
        await until(`${text} is read`, () => find() !== undefined, 10_000);
        return find()?.userText ?? "";
      };
      const own = harness.quotesInText
        ? /<in_reply_to>\n<untrusted source="[^"]+">\n(?:On .+ wrote:\n)?the sky is green\n<\/untrusted>/
        : /<in_reply_to from="you">the sky is green<\/in_reply_to>/;
      assert.match(await readWith("are you sure?", "the sky is green"), own);
      if (harness.quotesById) return;
      // What the assistant never said is nobody's word that counts.
      assert.match(
        await readWith("and this?", "the sky is red"),
        /<untrusted source="[^"]+">\n(?:On .+ wrote:\n)?the sky is red\n/,
      );
    },
  ),
];

/** The turn of "wait" waits until it is let go. */
function hold() {
  const held = gate();
  const answer: HarnessWorldOptions["answer"] = async (request) => {
    if (wordsOf(request) === "wait") await held.opened;
    return echo(request);
  };
  return { held, answer };
}

/** Resolves once so many messages of the session have been accepted. */
async function accepted(
  world: HarnessWorld,
  person: { readonly chatId: string; readonly senderId: string },
  count: number,
) {
  await until(`${count} messages are accepted`, async () => {
    const events = await world.gateway.events(world.keyOf(person));
    return events.filter(({ type }) => type === "user_message_queued").length >= count;
  });
}
