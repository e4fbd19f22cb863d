import assert from "node:assert/strict";
import { until } from "../../support/engine/engine-kit.js";
import { tracesOf } from "../../support/traces.js";
import { echo, wordsOf } from "../../support/worlds/channels/harness-world.js";
import { assertSound } from "../../support/worlds/gateway.js";
import { type ChannelPromise, channelTest } from "./promise.js";

export const messagesTests: readonly ChannelPromise[] = [
  channelTest("a message is answered once in its chat, and its log is whole", {}, async (world, harness) => {
    const [ann, bob] = harness.people;
    await harness.write({ from: ann, text: "one" });
    await harness.write({ from: bob, text: "two" });
    await world.seen(ann.chatId, "You said: one");
    await world.seen(bob.chatId, "You said: two");
    await world.quiet();
    assert.equal(harness.shown(ann.chatId).length, 1);
    assertSound(await world.gateway.events(world.keyOf(ann)));
    const ends = (await world.gateway.gateway.api.ledger()).map(({ end }) => end);
    assert.deepEqual(ends, ["answered", "answered"]);
  }),
  channelTest("messages of a chat are answered in order, also across a restart", {}, async (world, harness) => {
    const [ann] = harness.people;
    for (const text of ["a1", "a2", "a3"]) await harness.write({ from: ann, text });
    await world.seen(ann.chatId, "a3");
    await world.restart();
    await harness.write({ from: ann, text: "a4" });
    await world.seen(ann.chatId, "a4");
    await world.quiet();
    const said = harness.showings(ann.chatId).join("\n");
    const places = ["a1", "a2", "a3", "a4"].map((text) => said.indexOf(text));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      said,
    );
    assert.ok(!places.includes(-1));
  }),
  channelTest("a chat that is deleted leaves nothing of what was said below the home", {}, async (world, harness) => {
    const [ann] = harness.people;
    const traces = () => tracesOf("ORANGUTAN", world.gateway.home);
    await harness.write({ from: ann, text: "one ORANGUTAN" });
    await harness.write({ from: ann, text: "two ORANGUTANS" });
    await world.seen(ann.chatId, "You said: two ORANGUTANS");
    await world.quiet();
    assert.notDeepEqual(traces(), []);
    const { api } = world.gateway.gateway;
    for (const { key } of (await api.listSessions({ limit: 5, offset: 0 })).sessions) await api.deleteSession(key);
    // The journal is written again in the second after.
    await until("nothing is left", () => traces().length === 0).catch(() => undefined);
    assert.deepEqual(traces(), []);
    await harness.write({ from: ann, text: "and now" });
    await world.seen(ann.chatId, "You said: and now");
    assert.doesNotMatch(world.model.requests.at(-1)?.bodyText ?? "", /ORANGUTAN/);
  }),
  channelTest("threads of a chat are conversations of their own", {}, async (world, harness) => {
    if (harness.threads === undefined) return;
    const [ann] = harness.people;
    const [first, second] = harness.threads;
    await harness.write({ from: ann, text: "in the first", thread: first });
    await harness.write({ from: ann, text: "in the second", thread: second });
    await world.seen(ann.chatId, "in the first", first);
    await world.seen(ann.chatId, "in the second", second);
    await world.quiet();
    for (const request of world.model.requests)
      assert.ok(!(request.bodyText.includes("in the first") && request.bodyText.includes("in the second")));
    assert.ok((await world.gateway.events(world.keyOf(ann, first))).length > 0);
  }),
  channelTest(
    "a stranger gets a code, and is answered once an owner has approved it",
    { allowFrom: [] },
    async (world, harness) => {
      const [ann] = harness.people;
      await harness.write({ from: ann, text: "let me in" });
      const told = await world.seen(ann.chatId, /[A-HJKMNP-Z2-9]{8}/);
      const code = /[A-HJKMNP-Z2-9]{8}/.exec(told.text)?.[0] ?? "";
      assert.equal((await world.gateway.gateway.api.approvePairing(code)).senderId, ann.senderId);
      await harness.write({ from: ann, text: "thank you" });
      await world.seen(ann.chatId, "You said: thank you");
      assert.equal(world.model.requests.length, 1, "the first message cost nothing");
    },
  ),
  channelTest(
    "who writes too much is told once, and is heard again later",
    { config: { inbound: { senderPerMinute: 2 } } },
    async (world, harness) => {
      const [ann, bob] = harness.people;
      for (const text of ["b1", "b2", "b3", "b4"]) await harness.write({ from: ann, text });
      await world.seen(ann.chatId, /more than I can take/);
      await harness.write({ from: bob, text: "b5" });
      await world.seen(bob.chatId, "b5");
      await world.seen(ann.chatId, "b2");
      await world.quiet();
      assert.equal(harness.shown(ann.chatId).filter(({ text }) => /more than I can take/.test(text)).length, 1);
      assert.equal((await world.gateway.gateway.api.ledger()).length, 3);
    },
  ),
  channelTest(
    "a chat with hundreds of messages behind a turn holds up nobody, and /stop acts when it comes",
    {
      answer: (request) => (wordsOf(request) === "hang" ? { text: ["I think"], hang: "middle" } : echo(request)),
      config: { inbound: { senderPerMinute: 0, chatPerMinute: 0 } },
    },
    async (world, harness) => {
      const [ann, bob] = harness.people;
      await harness.write({ from: ann, text: "hang" });
      await world.model.waitForRequests(1);
      for (let n = 0; n < 210; n += 1) await harness.write({ from: ann, text: `more ${n}` });
      await harness.write({ from: bob, text: "hello" });
      await world.seen(bob.chatId, "You said: hello");
      const stuck = async () => (await world.gateway.gateway.api.status()).stuckChats;
      await until("all of it waits", async () => (await stuck())[0]?.waiting === 211, 15_000);
      assert.deepEqual(
        (await stuck()).map(({ sessionKey }) => sessionKey),
        [world.keyOf(ann)],
      );
      assert.match((await stuck())[0]?.reason ?? "", /has a turn running since/);
      await harness.write({ from: ann, text: "/stop" });
      await world.seen(ann.chatId, /Stopped\./);
    },
  ),
];
