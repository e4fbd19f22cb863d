import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { plainRefusal, refusal } from "../../support/fakes/feishu/rules.js";
import { accepted, failureOf, never, recordPublish, reply } from "../../support/worlds/channels/channel-kit.js";
import {
  ann,
  bob,
  type FeishuWorld,
  group,
  openFeishuWorld,
  say,
} from "../../support/worlds/channels/feishu/feishu-world.js";

const listCall = /^GET .*\/im\/v1\/messages$/;

/** From when on history was asked for, in Unix ms. */
function askedFrom({ feishu }: FeishuWorld): readonly number[] {
  const calls = feishu.server.calls.filter(({ name, query }) => listCall.test(name) && query.has("start_time"));
  return calls.map(({ query }) => Number(query.get("start_time")) * 1000);
}

test("what is taken back before it comes is not passed on", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  await world.start(world.open());
  const { id, event } = feishu.event({ from: ann, text: "secret" });
  feishu.takeBack(id);
  feishu.line.tell("late", event);
  feishu.write({ from: ann, text: "end" });
  await world.heard(1);
  await world.answered();
  assert.deepEqual(gateway.texts(), ["end"]);
});

test("a message that waits is read again after a crash, whatever its group has said since", async () => {
  const gateway = recordPublish(({ content }) => (content === "waits" ? { status: "busy", reply: "" } : accepted));
  await using world = await openFeishuWorld({}, { actsAtOnce: ({ content }) => content === "/stop" }, gateway);
  const { feishu } = world;
  const running = await world.start(world.open());
  const now = Date.now();
  feishu.write({ from: ann, group, text: "known", at: now });
  await world.heard(1);
  feishu.write({ from: ann, group, text: "waits", at: now + 10_000 });
  await world.heard(2);
  feishu.write({ from: ann, group, text: "/stop", at: now + 20_000 });
  for (let n = 0; n < 25; n += 1)
    feishu.write({ from: bob, group, mentions: false, text: "talk", at: now + 30_000 + n });
  await until("all others are answered", () => feishu.line.unanswered === 1, 10_000);
  await running.stop();
  const before = askedFrom(world).length;
  await world.start(world.open());
  await until("history is asked", () => askedFrom(world).length > before, 10_000);
  assert.ok((askedFrom(world).at(-1) ?? 0) <= now + 10_000, "from before it was written on");
  assert.ok(gateway.messages.find(({ content }) => content === "/stop")?.cursor === undefined);
});

test("a chat whose history was refused for a while is read later, although it has gone on", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  const first = await world.start(world.open());
  feishu.write({ from: ann, text: "known" });
  await world.heard(1);
  await world.answered();
  await first.stop();
  const now = Date.now();
  feishu.event({ from: ann, text: "missed", at: now + 10_000 });
  feishu.server.failNext(listCall, { kind: "answer", ...plainRefusal(429) }, 2);
  await world.start(world.open({ spans: { lookMs: 20, graceMs: 60_000 } }));
  feishu.write({ from: ann, text: "live", at: now + 20_000 });
  const newer = (): readonly string[] => gateway.texts().filter((text) => text !== "known");
  await until("both came", () => newer().length >= 2, 10_000);
  assert.deepEqual(newer().toSorted(), ["live", "missed"]);
});

test("where the bot may not look, it is asked once, and the position moves", async () => {
  await using world = await openFeishuWorld();
  const { feishu, gateway } = world;
  const first = await world.start(world.open());
  feishu.write({ from: ann, group, text: "known" });
  await world.heard(1);
  await world.answered();
  await first.stop();
  const noRight = refusal(400, 230_027, "Lack of necessary permissions");
  feishu.server.failNext(listCall, { kind: "answer", ...noRight }, 1000);
  await world.start(world.open());
  for (let n = 0; n < 5; n += 1) feishu.write({ from: ann, group, text: `live ${n}` });
  await world.heard(6);
  assert.equal(feishu.server.calls.filter(({ name }) => listCall.test(name)).length, 1);
  assert.ok(gateway.messages.slice(1).every(({ cursor }) => cursor !== undefined));
});

test("more than can wait is left with Feishu, which brings it again", async () => {
  let isFull = true;
  const gateway = recordPublish(() => (isFull ? { status: "busy", reply: "" } : accepted));
  await using world = await openFeishuWorld({}, {}, gateway);
  const { feishu } = world;
  await world.start(world.open({ spans: { busyRetryMs: 1000 } }));
  const count = 1200;
  for (let n = 0; n < count; n += 1) feishu.write({ from: ann, text: `no ${n}` });
  const left = (): number => feishu.line.answers.filter(({ code }) => code === 500).length;
  await until("some are left", () => left() === 200, 10_000);
  isFull = false;
  await until("there is room", () => feishu.line.unanswered === 200, 20_000);
  feishu.line.tellAgain();
  await world.answered();
  assert.equal(new Set(gateway.texts()).size, count);
});

test("a history that is not as documented is not a message that is not there", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  const channel = world.open();
  await world.start(channel);
  feishu.write({ from: ann, text: "known" });
  await world.heard(1);
  feishu.server.failNext(listCall, { kind: "answer", body: { code: 0, msg: "ok", data: { items: "none" } } });
  const failure = await failureOf(channel.find?.(reply(ann, "x"), Date.now() - 3_600_000, never) ?? Promise.resolve());
  assert.match(failure.message, /Feishu/);
  assert.equal(failure.retryable, true);
});

test("words of Feishu's are cut between letters", async () => {
  await using world = await openFeishuWorld();
  const { feishu } = world;
  feishu.server.failNext(/messages$/, { kind: "answer", ...refusal(400, 230_001, `${"x".repeat(199)}😀`) });
  const failure = await failureOf(say(world.open(), ann, "hi"));
  assert.ok(failure.message.isWellFormed());
});
