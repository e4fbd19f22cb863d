import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { botId } from "../../support/fakes/matrix/fake-matrix.js";
import { accepted, failureOf, never, reply } from "../../support/worlds/channels/channel-kit.js";
import { ann, bob, eve, openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";

test("what is said in one room about a message of another counts for nothing", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const [room, elsewhere] = [matrix.room([ann]), matrix.room([eve])];
  await world.run();
  const secret = matrix.write({ room, sender: ann, text: "secret" });
  await world.came("secret");
  matrix.remove(elsewhere, eve, secret);
  matrix.edit(elsewhere, eve, secret, "forged");
  matrix.write({ room: elsewhere, sender: eve, text: "what is that?", answers: secret });
  await world.came("secret", "what is that?");
  assert.equal(gateway.messages[1]?.quoted, undefined);
  matrix.edit(room, ann, secret, "changed");
  await world.came("secret", "what is that?", "changed");
});

test("what another person writes over a message is quoted nowhere", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const room = matrix.room([ann, bob, eve]);
  await world.run();
  const first = matrix.write({ room, sender: ann, text: "the truth", mentions: [botId] });
  await world.came("the truth");
  matrix.edit(room, eve, first, "forged");
  matrix.write({ room, sender: bob, text: "is that so?", answers: first, mentions: [botId] });
  await world.came("the truth", "is that so?");
  assert.equal(gateway.messages[1]?.quoted?.text, "the truth");
  matrix.edit(room, ann, first, "the whole truth");
  matrix.write({ room, sender: bob, text: "and now?", answers: first, mentions: [botId] });
  await world.came("the truth", "is that so?", "the whole truth", "and now?");
  assert.equal(gateway.messages[3]?.quoted?.text, "the whole truth");
});

test("a guest cannot make a room look encrypted or replaced: only its state says so", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann, bob, eve]);
  await world.run();
  const call = { room, mentions: [botId] };
  matrix.write({ ...call, sender: ann, text: "before" });
  await world.came("before");
  matrix.store.add(room, { type: "m.room.encryption", sender: eve, content: { algorithm: "m.megolm.v1.aes-sha2" } });
  matrix.store.add(room, {
    type: "m.room.tombstone",
    sender: eve,
    content: { replacement_room: "!trap:elsewhere.example" },
  });
  matrix.write({ ...call, sender: ann, text: "after" });
  await world.came("before", "after");
  assert.ok(!matrix.joins.includes("!trap:elsewhere.example"));
  const state = {
    type: "m.room.encryption",
    state_key: "",
    sender: ann,
    content: { algorithm: "m.megolm.v1.aes-sha2" },
  };
  matrix.store.add(room, state);
  matrix.write({ ...call, sender: ann, text: "where nobody would read the answer" });
  matrix.write({ room: matrix.room([bob]), sender: bob, text: "elsewhere" });
  await world.came("before", "after", "elsewhere");
});

test("a history that is not as documented is asked for again, and not taken for an empty one", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  matrix.write({ room, sender: ann, text: "old" });
  const first = await world.run();
  await world.came("old");
  await first.stop();
  for (let n = 0; n < 60; n += 1) matrix.write({ room, sender: ann, text: `missed ${n}` });
  matrix.server.failNext(/\/messages$/, { kind: "answer", body: { chunk: "all of it" } });
  await world.run();
  await until("all came", () => world.gateway.messages.length === 61, 10_000);
});

test("an answer that does not say which message was shown leaves that open", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  matrix.server.failNext(/\/send\//, { kind: "answer", body: { fine: true } });
  const failure = await failureOf(world.open().send(reply(room, "hi"), never));
  assert.deepEqual([failure.outcome, failure.retryable], ["unknown", true]);
});

test("what found no room before the run ended comes again in the next one", async () => {
  let isFull = true;
  await using world = await openMatrixWorld({ answer: () => (isFull ? { status: "busy", reply: "" } : accepted) });
  const { matrix, gateway } = world;
  const room = matrix.room([ann]);
  const first = await world.run();
  matrix.write({ room, sender: ann, text: "waits" });
  await until("it is offered", () => gateway.messages.length > 0);
  await first.stop();
  const offers = gateway.messages.length;
  isFull = false;
  await world.run();
  await until("it comes again", () => gateway.messages.length === offers + 1);
});
