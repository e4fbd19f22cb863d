import assert from "node:assert/strict";
import {
  consuming,
  gate,
  inbound,
  queued,
  sessionOf,
  titled,
  titlesOf,
  until,
} from "../../support/engine/engine-kit.js";
import { accept, type ContractTest, contractTest, isError, other } from "./contract-test.js";

export const acceptingTests: readonly ContractTest[] = [
  contractTest("stores an accepted message with its event and hands it out", async (engine, published) => {
    const acceptance = await accept(engine, "msg_1");
    assert.equal(acceptance.status, "accepted");
    assert.deepEqual(acceptance.status === "accepted" && acceptance.events.map(({ seq }) => seq), [1]);
    assert.deepEqual(
      published.map(({ type, seq }) => [type, seq]),
      [["user_message_queued", 1]],
    );
    assert.deepEqual(
      (await engine.waiting("inbound", sessionOf)).map(({ id, attempts }) => [id, attempts]),
      [["msg_1", 0]],
    );
    assert.equal(engine.status().inboundWaiting, 1);
    const bodies: string[] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      bodies.push(delivery.work.body.content);
      await delivery.commit({ events: [], emit: [] });
    });
    await until("the message is acknowledged", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    assert.deepEqual(bodies, ["text of msg_1"]);
  }),

  contractTest("takes the same id or the same dedup id for a duplicate and stores nothing of it", async (engine) => {
    const first = inbound("msg_1", sessionOf, { dedupId: "telegram:bot:900" });
    await engine.accept(first, { events: [queued("msg_1")] });
    assert.deepEqual(await engine.accept(first, { events: [queued("msg_1")] }), { status: "duplicate" });
    const again = inbound("msg_2", sessionOf, { dedupId: "telegram:bot:900" });
    const cursor = { name: "telegram:offset", value: "901" };
    assert.deepEqual(await engine.accept(again, { events: [queued("msg_2")], cursor }), { status: "duplicate" });
    assert.equal(await engine.lastSequence(sessionOf), 1);
    assert.equal(await engine.cursor("telegram:offset"), undefined);
    assert.equal(engine.status().inboundWaiting, 1);
  }),

  contractTest("knows a duplicate after the work is done and after a restart", async (engine, _published, reopen) => {
    await engine.accept(inbound("msg_1", sessionOf, { dedupId: "d1" }), { events: [] });
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await delivery.commit({ events: [], emit: [] });
    });
    await until("it is done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    const reopened = await reopen();
    assert.equal(
      (await reopened.accept(inbound("msg_9", sessionOf, { dedupId: "d1" }), { events: [] })).status,
      "duplicate",
    );
    assert.equal((await reopened.accept(inbound("msg_1"), { events: [] })).status, "duplicate");
  }),

  contractTest("accepts in the order of the calls, over all lanes", async (engine, published) => {
    const ids = Array.from({ length: 40 }, (_, n) => `msg_${n}`);
    await Promise.all(ids.map((id, n) => accept(engine, id, n % 2 === 0 ? sessionOf : other)));
    assert.deepEqual(
      (await engine.waiting("inbound", sessionOf)).map(({ id }) => id),
      ids.filter((_, n) => n % 2 === 0),
    );
    const mine = published.filter(({ session_key }) => session_key === other);
    assert.deepEqual(
      mine.map(({ seq }) => seq),
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
  }),

  contractTest("moves the cursor with the work and keeps it", async (engine, _published, reopen) => {
    await engine.accept(inbound("msg_1"), { events: [], cursor: { name: "telegram:offset", value: "17" } });
    assert.equal(await engine.cursor("telegram:offset"), "17");
    assert.equal(await (await reopen()).cursor("telegram:offset"), "17");
  }),

  contractTest(
    "refuses by lane_full once a chat holds its limit, lets other chats and what is urgent in, and stores nothing of what it refused",
    async (engine) => {
      const first = await Promise.allSettled(["a", "b", "c", "d"].map((id) => accept(engine, id)));
      assert.deepEqual(
        first.map(({ status }) => status),
        ["fulfilled", "fulfilled", "fulfilled", "rejected"],
      );
      assert.ok(first[3]?.status === "rejected" && isError("lane_full")(first[3].reason));
      assert.equal((await accept(engine, "e", other)).status, "accepted");
      assert.equal(await engine.lastSequence(sessionOf), 3);
      assert.equal((await engine.accept(inbound("d", other), { events: [] })).status, "accepted");
      assert.equal((await engine.accept(inbound("f"), { events: [], isUrgent: true })).status, "accepted");
    },
    { limits: { pendingPerKey: 3 } },
  ),

  contractTest("a lane holds so many bytes, and the lanes together, but a hundred pieces of any", async (engine) => {
    const body = { ...inbound("x").body, content: "x".repeat(200_000) };
    const fill = async (key: string): Promise<number> => {
      for (let n = 0; ; n += 1) {
        try {
          await engine.accept(inbound(`${key} ${n}`, key, { body }), { events: [] });
        } catch (error) {
          assert.ok(isError("lane_full")(error));
          return n;
        }
      }
    };
    assert.equal(await fill("telegram:1"), 100, "16 MB are less");
    assert.equal(await fill("telegram:2"), 100);
    for (let n = 3; n < 5; n += 1) await fill(`telegram:${n}`);
    assert.equal(await fill("telegram:6"), 100, "32 MB are reached, and a stuck chat takes nothing from this one");
  }),

  contractTest("what is refused stays refused, over a restart as well", async (engine, _published, reopen) => {
    const work = inbound("a", sessionOf, { dedupId: "d:1" });
    assert.equal(await engine.refuse(work, { name: "telegram:offset", value: "18" }), true);
    assert.equal(await engine.refuse({ ...work, id: "c" }), false, "it is known");
    assert.equal(engine.status().inboundWaiting, 0);
    const again = await reopen();
    assert.equal((await again.accept({ ...work, id: "b" }, { events: [queued("b")] })).status, "duplicate");
    assert.deepEqual([again.status().inboundWaiting, await again.lastSequence(sessionOf)], [0, 0]);
    assert.equal(await again.cursor("telegram:offset"), "18");
  }),

  contractTest(
    "lets who waits for the disk in as soon as there is room, in the order of the calls",
    async (engine) => {
      const order: string[] = [];
      const accepts = ["a", "b", "c", "d", "e", "f"].map((id) => accept(engine, id).then(() => order.push(id)));
      const handled: string[] = [];
      const consumer = consuming(engine, "inbound", async (delivery) => {
        handled.push(delivery.work.id);
        await delivery.commit({ events: [], emit: [] });
      });
      await Promise.all(accepts);
      await until("all are done", () => handled.length === 6);
      await consumer.stop();
      assert.deepEqual(order, ["a", "b", "c", "d", "e", "f"]);
      assert.deepEqual(handled, order);
    },
    { limits: { acceptsWaiting: 1, waitMs: 5000 } },
  ),

  contractTest("names the lanes in which much is waiting, and what holds them up", async (engine) => {
    for (const id of ["a", "b", "c"]) await accept(engine, id);
    await accept(engine, "d", other);
    const seen = async () => (await engine.longLanes(2)).map(({ key, waiting, state }) => [key, waiting, state]);
    assert.deepEqual(await seen(), [[sessionOf, 3, "waits"]]);
    const done = gate();
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await done.opened;
      await delivery.commit({ events: [], emit: [] });
    });
    await until("the first one works", async () => (await seen())[0]?.[2] === "works");
    done.open();
    await until("all are done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
  }),

  contractTest("tells the events of new work how much is in its lane by then", async (engine) => {
    const seen: number[] = [];
    const events = (ahead: number) => {
      seen.push(ahead);
      return [titled(`${ahead} ahead`)];
    };
    await Promise.all(["a", "b", "c"].map((id) => engine.accept(inbound(id), { events })));
    await engine.accept(inbound("d", other), { events });
    assert.deepEqual(await engine.accept(inbound("a"), { events }), { status: "duplicate" });
    assert.deepEqual(seen, [0, 1, 2, 0]);
    const stored = await engine.events(sessionOf, { afterSeq: 0, limit: 10 });
    assert.deepEqual(titlesOf(stored.events), ["0 ahead", "1 ahead", "2 ahead"]);
  }),
];
