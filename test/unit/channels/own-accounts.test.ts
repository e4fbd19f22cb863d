import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelStates } from "../../../src/api/status/channel-states.js";
import type { Channel, PublishOutcome, ReceivedMessage } from "../../../src/channels/channel.js";
import { goesOnWith, platformNames } from "../../../src/channels/platforms.js";
import { XmppChannel } from "../../../src/channels/xmpp/xmpp.js";
import { silentLog } from "../../../src/log.js";
import { Connections } from "../../../src/wiring/turns/connections.js";
import { openIn, tempFolder, until } from "../../support/engine/engine-kit.js";
import { botId } from "../../support/fakes/matrix/fake-matrix.js";
import { openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

/** An account that is in one room with others: who says something there is heard by all of them. */
function accountIn(room: Room, name: string, ownId: string): Channel {
  return {
    name,
    ownId,
    split: (content) => [content],
    send: async () => ({ platformMessageId: "1" }),
    async run(publish, onConnected, signal) {
      room.set(name, (senderId) =>
        publish({ chatId: "room", chatType: "group", senderId, addressed: true, content: `from ${senderId}` }),
      );
      onConnected();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
  };
}

type Room = Map<string, (senderId: string) => Promise<PublishOutcome>>;

test("what one account of the gateway says in a room is left out by another one there, so that they do not answer each other", async (t) => {
  const { engine } = await openIn(tempFolder(t));
  const taken: [string, string][] = [];
  const receive = async (name: string, { senderId }: ReceivedMessage): Promise<PublishOutcome> => {
    taken.push([name, senderId]);
    return { status: "accepted" };
  };
  const stop = new AbortController();
  const states = new ChannelStates(
    new Map(),
    () => undefined,
    () => undefined,
  );
  const connections = new Connections({ engine, intake: { receive }, states, log: silentLog, signal: stop.signal });
  const room: Room = new Map();
  const accounts = [
    ["matrix", "@max:example.org"],
    ["matrix-work", "@work:example.org"],
    ["xmpp", "max@example.org"],
  ] as const;
  for (const [name, ownId] of accounts) connections.begin(accountIn(room, name, ownId));
  await until("all are there", () => room.size === accounts.length);
  for (const [name, say] of room) {
    for (const [, ownId] of accounts) await say(ownId);
    assert.deepEqual(await say("@ann:example.org"), { status: "accepted" }, name);
  }
  assert.deepEqual(taken, [
    // The same address on another platform is somebody else's.
    ["matrix", "max@example.org"],
    ["matrix", "@ann:example.org"],
    ["matrix-work", "max@example.org"],
    ["matrix-work", "@ann:example.org"],
    ["xmpp", "@max:example.org"],
    ["xmpp", "@work:example.org"],
    ["xmpp", "@ann:example.org"],
  ]);
  await connections.end("matrix");
  assert.equal((await room.get("matrix-work")?.("@max:example.org"))?.status, "accepted", "it is no account any more");
  stop.abort();
  await connections.stopped();
  await engine[Symbol.asyncDispose]();
});

test("an account on Matrix and one on XMPP know who they are as a sender", async () => {
  await using world = await openMatrixWorld();
  const matrix = world.open();
  await world.run(matrix);
  assert.equal(matrix.ownId, botId);
  const login = { jid: "Max@Example.org/here", password: "x" };
  const xmpp = new XmppChannel({ login, rooms: [], allowFrom: [], log: silentLog }, testContext());
  assert.equal(xmpp.ownId, "max@example.org");
});

test("another list of people opens a channel again where its own code looks at it, and nowhere else", () => {
  const before = { enabled: true, allowFrom: ["a"] };
  const isLeft = (name: string) => goesOnWith(name, before, { ...before, allowFrom: ["a", "b"] });
  const opened = platformNames.filter((name) => !isLeft(name));
  assert.deepEqual(opened, ["matrix", "qq", "whatsapp", "xmpp"]);
  assert.deepEqual([isLeft("telegram-work"), isLeft("xmpp-work")], [true, false]);
  for (const name of platformNames) {
    assert.ok(goesOnWith(name, before, { ...before }), name);
    assert.ok(!goesOnWith(name, before, { ...before, enabled: false }), name);
    assert.ok(!goesOnWith(name, before, undefined), name);
    assert.ok(!goesOnWith(name, undefined, before), name);
  }
});
