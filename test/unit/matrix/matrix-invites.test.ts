import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelError } from "../../../src/errors.js";
import { until } from "../../support/engine/engine-kit.js";
import { botId } from "../../support/fakes/matrix/fake-matrix.js";
import { failureOf, never, reply } from "../../support/worlds/channels/channel-kit.js";
import { ann, bob, eve, openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";

test("an invitation of somebody who may talk is accepted, and what was written before the bot came is answered", async () => {
  await using world = await openMatrixWorld({ context: { mayTalk: (sender) => sender === ann } });
  const { matrix } = world;
  await world.run();
  const room = matrix.room([ann], "invite");
  for (let nth = 0; nth < 60; nth += 1) matrix.write({ room, sender: ann, text: `early ${nth}` });
  await until("it has joined", () => matrix.joins.includes(room));
  await until("all came", () => world.gateway.messages.length === 60, 10_000);
  matrix.write({ room, sender: ann, text: "and now" });
  await until("the last came", () => world.gateway.texts().at(-1) === "and now", 10_000);
  assert.equal(new Set(world.gateway.texts()).size, 61);
});

test("what was said in a room before the bot was invited is not answered", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  await world.run();
  const room = "!long:example.org";
  matrix.store.create(room);
  matrix.member(room, ann, "join");
  matrix.write({ room, sender: ann, text: "before" });
  matrix.member(room, botId, "invite", ann);
  matrix.write({ room, sender: ann, text: "after" });
  await world.came("after");
});

test("an invitation of a stranger stays open over a restart, and is accepted once they are let in", async () => {
  const allowed = new Set<string>();
  await using world = await openMatrixWorld({ context: { mayTalk: (sender) => allowed.has(sender) } });
  const { matrix, context } = world;
  const isOpen = (): boolean => context.records.list().some(({ id }) => id.includes("/invite/"));
  const first = await world.run();
  const known = matrix.room([bob]);
  const room = matrix.room([eve], "invite");
  await until("it is kept", isOpen);
  matrix.write({ room: known, sender: bob, text: "meanwhile" });
  await world.came("meanwhile");
  await first.stop();
  assert.deepEqual(matrix.joins, []);
  allowed.add(eve);
  await world.run();
  await until("it has joined", () => matrix.joins.includes(room));
  await until("it is done", () => !isOpen());
});

test("a join that fails is tried again, and one that is refused for good holds up nothing", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const join = /^POST \/_matrix\/client\/v3\/join\//;
  matrix.server.failNext(join, { kind: "answer", status: 502 });
  await world.run();
  const room = matrix.room([ann], "invite");
  await until("it has joined", () => matrix.store.membership(room, botId) === "join");
  matrix.server.failNext(join, { kind: "answer", status: 403, body: { errcode: "M_FORBIDDEN" } });
  const closed = matrix.room([bob], "invite");
  await until("it is given up", () => !world.context.records.list().some(({ id }) => id.endsWith(`/invite/${closed}`)));
  matrix.write({ room, sender: ann, text: "still here" });
  await world.came("still here");
});

test("with `invites: everyone` every invitation is accepted", async () => {
  await using world = await openMatrixWorld({ context: { mayTalk: () => false } });
  const { matrix } = world;
  await world.run(world.open({ takesAll: true }));
  const room = matrix.room([eve], "invite");
  await until("it has joined", () => matrix.joins.includes(room));
});

test("a room that was replaced is followed: what waits goes to the new one, and what is said there is heard", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const old = matrix.room([ann, bob]);
  await world.run();
  const next = matrix.room([ann, bob], "invite", old);
  matrix.write({ room: next, sender: ann, text: "before the bot", mentions: [botId] });
  const content = { body: "This room has been replaced", replacement_room: next };
  matrix.store.add(old, { type: "m.room.tombstone", sender: ann, state_key: "", content });
  await world.came("before the bot");
  await world.open().send(reply(old, "This waited"), never);
  assert.deepEqual(
    matrix.chats.all.map(({ chatId, text }) => [chatId, text]),
    [[next, "This waited"]],
  );
});

test("in a room that the bot was removed from nothing can be said, and what waits says so", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const channel = world.open();
  await world.run(channel);
  matrix.member(room, botId, "leave", ann);
  const failure = await failureOf(channel.send(reply(room, "Late"), never));
  assert.ok(failure instanceof ChannelError);
  assert.deepEqual([failure.outcome, failure.retryable, failure.isChatClosed], ["refused", false, true]);
});

test("in an encrypted room the bot says once that it cannot read there, and sends nothing else into it", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const [room, other] = [matrix.room([ann]), matrix.room([bob])];
  const channel = world.open();
  const first = await world.run(channel);
  matrix.store.add(room, {
    type: "m.room.encryption",
    sender: ann,
    state_key: "",
    content: { algorithm: "m.megolm.v1" },
  });
  for (let nth = 0; nth < 3; nth += 1)
    matrix.store.add(room, { type: "m.room.encrypted", sender: ann, content: { ciphertext: "…" } });
  await until("it is told", () => matrix.notices.length === 1);
  await first.stop();
  // Another message, and an answer that waits for one of before.
  await world.run();
  matrix.store.add(room, { type: "m.room.encrypted", sender: ann, content: { ciphertext: "…" } });
  matrix.write({ room: other, sender: bob, text: "elsewhere" });
  await world.came("elsewhere");
  assert.match(matrix.notices[0]?.text ?? "", /cannot read encrypted messages/);
  assert.equal(matrix.notices.length, 1);
  assert.equal(gateway.messages.length, 1);
  const failure = await failureOf(world.open().send(reply(room, "in clear"), never));
  assert.deepEqual([failure.retryable, failure.isChatClosed], [false, true]);
  assert.equal(matrix.chats.in(room).length, 1);
});
