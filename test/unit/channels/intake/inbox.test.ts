import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReceivedMessage } from "../../../../src/channels/channel.js";
import { Inbox } from "../../../../src/channels/intake/inbox.js";
import { Position } from "../../../../src/channels/intake/position.js";
import { EngineError } from "../../../../src/errors.js";
import { silentLog } from "../../../../src/log.js";
import { gate, until } from "../../../support/engine/engine-kit.js";
import { accepted, recordPublish } from "../../../support/worlds/channels/channel-kit.js";

const message = (content: string, chatId = "ann"): ReceivedMessage => ({
  chatId,
  senderId: chatId,
  content,
  chatType: "dm",
  addressed: true,
});

function open(gateway: ReturnType<typeof recordPublish>, signal = new AbortController().signal) {
  const told: string[] = [];
  const inbox = new Inbox(
    {
      title: "The platform",
      publish: gateway.publish,
      actsAtOnce: ({ content }) => content === "/stop",
      tell: async ({ chatId }, text) => void told.push(`${chatId}: ${text}`),
      busyRetryMs: 1,
      log: silentLog,
    },
    signal,
  );
  return { inbox, told };
}

test("keeps each chat in order, holds up no other, and lets pass what acts at once", async () => {
  const hold = gate();
  const order: string[] = [];
  const gateway = recordPublish(async ({ content }) => {
    if (content === "slow") await hold.opened;
    order.push(content);
    return accepted;
  });
  const { inbox } = open(gateway);
  const all = ["slow", "next", "/stop"].map((text) => inbox.take(message(text)));
  assert.equal(await inbox.take(message("elsewhere", "bob")), "accepted");
  await all[2];
  assert.deepEqual(order.toSorted(), ["/stop", "elsewhere"]);
  hold.open();
  assert.deepEqual(await Promise.all(all), ["accepted", "accepted", "accepted"]);
  assert.deepEqual(order.slice(2), ["slow", "next"]);
});

test("a thread whose message is not taken yet holds up no other thread of its chat", async () => {
  const hold = gate();
  const gateway = recordPublish(async ({ thread }) => {
    if (thread === "stuck") await hold.opened;
    return accepted;
  });
  const { inbox } = open(gateway);
  const stuck = inbox.take({ ...message("waits"), thread: "stuck" });
  assert.equal(await inbox.take({ ...message("goes on"), thread: "other" }), "accepted");
  assert.equal(await inbox.take(message("and this")), "accepted");
  hold.open();
  assert.equal(await stuck, "accepted");
});

test("offers what finds no room until it is taken, says so once, and passes on a refusal's sentence", async () => {
  const gateway = recordPublish(({ content }, nth) =>
    content === "no"
      ? { status: "refused", reply: "Who are you?" }
      : nth < 4
        ? { status: "busy", reply: "Later." }
        : accepted,
  );
  const { inbox, told } = open(gateway);
  assert.equal(await inbox.take(message("yes")), "accepted");
  assert.equal(await inbox.take(message("no")), "refused");
  await inbox.settled();
  assert.deepEqual(told, ["ann: Later.", "ann: Who are you?"]);
});

test("a message that cannot be published is given up and told, one that the engine cannot take now is not", async () => {
  let fault: Error = new Error("a bug");
  const gateway = recordPublish((_message, nth) => {
    if (nth > 12) return accepted;
    throw fault;
  });
  const { inbox, told } = open(gateway);
  assert.equal(await inbox.take(message("one")), "refused");
  assert.match(told.join(), /could not be taken/);
  fault = new EngineError("The disk is full.", { kind: "persistence" });
  assert.equal(await inbox.take(message("two")), "accepted");
});

test("what is not taken when the run ends is not confirmed", async () => {
  const stop = new AbortController();
  const gateway = recordPublish(() => ({ status: "busy", reply: "" }));
  const { inbox } = open(gateway, stop.signal);
  const taken = inbox.take(message("x"));
  await until("it was offered", () => gateway.messages.length > 0);
  stop.abort();
  assert.equal(await taken, undefined);
  await inbox.settled();
});

test("a position moves only over what is settled without a gap", () => {
  const position = new Position<number>();
  const [one, two, three] = [1, 2, 3].map((at) => position.begin(at));
  two?.();
  assert.equal(position.value, undefined);
  one?.();
  assert.equal(position.value, 2);
  three?.();
  three?.();
  assert.equal(position.value, 3);
});
