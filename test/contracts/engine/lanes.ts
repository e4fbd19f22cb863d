import assert from "node:assert/strict";
import type { Delivery } from "../../../src/engine/engine.js";
import {
  answered,
  consuming,
  gate,
  outbound,
  sessionOf,
  titled,
  titlesOf,
  until,
} from "../../support/engine/engine-kit.js";
import { accept, type ContractTest, contractTest, other } from "./contract-test.js";

export const lanesTests: readonly ContractTest[] = [
  contractTest("runs a lane strictly in order, one at a time, and the lanes side by side", async (engine) => {
    const running = new Set<string>();
    let mostAtOnce = 0;
    const handled: string[] = [];
    const both = gate();
    const consumer = consuming(engine, "inbound", async (delivery) => {
      assert.ok(!running.has(delivery.work.key), "a lane runs one at a time");
      running.add(delivery.work.key);
      mostAtOnce = Math.max(mostAtOnce, running.size);
      if (running.size === 2) both.open();
      await both.opened;
      handled.push(delivery.work.id);
      await delivery.commit({ events: [], emit: [] });
      running.delete(delivery.work.key);
    });
    for (let n = 0; n < 5; n += 1) {
      await accept(engine, `a${n}`);
      await accept(engine, `b${n}`, other);
    }
    await until("all are done", () => handled.length === 10);
    await consumer.stop();
    assert.equal(mostAtOnce, 2);
    assert.deepEqual(
      handled.filter((id) => id.startsWith("a")),
      ["a0", "a1", "a2", "a3", "a4"],
    );
    assert.deepEqual(
      handled.filter((id) => id.startsWith("b")),
      ["b0", "b1", "b2", "b3", "b4"],
    );
  }),

  contractTest(
    "keeps to the number of lanes that may work at once, and is fair in the order of arrival",
    async (engine) => {
      const handled: string[] = [];
      let running = 0;
      for (const chat of ["c0", "c1", "c2", "c3"]) {
        for (const n of [1, 2]) await accept(engine, `${chat}-${n}`, `telegram:${chat}`);
      }
      const consumer = consuming(
        engine,
        "inbound",
        async (delivery) => {
          running += 1;
          assert.equal(running, 1);
          handled.push(delivery.work.id);
          await delivery.commit({ events: [], emit: [] });
          running -= 1;
        },
        { parallel: 1, maxAttempts: 3 },
      );
      await until("all are done", () => handled.length === 8);
      await consumer.stop();
      assert.deepEqual(handled, ["c0-1", "c1-1", "c2-1", "c3-1", "c0-2", "c1-2", "c2-2", "c3-2"]);
    },
  ),

  contractTest("a stuck lane holds up no other", async (engine) => {
    const stuck = gate();
    const handled: string[] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      if (delivery.work.key === sessionOf) await stuck.opened;
      handled.push(delivery.work.id);
      await delivery.commit({ events: [], emit: [] });
    });
    await accept(engine, "stuck");
    for (let n = 0; n < 20; n += 1) await accept(engine, `free-${n}`, other);
    await until("the other lane is done", () => handled.length === 20);
    stuck.open();
    await until("the stuck one too", () => handled.length === 21);
    await consumer.stop();
  }),

  contractTest("work for the other queue is available from the commit on, and only from then", async (engine) => {
    const sent: string[] = [];
    const sender = consuming(engine, "outbound", async (delivery) => {
      sent.push(delivery.work.body.content);
      await delivery.commit({ events: [titled("sent")], emit: [] });
    });
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await delivery.commit({ events: [answered([delivery.work.id])], emit: [outbound("r#1"), outbound("r#2")] });
    });
    await accept(engine, "msg_1");
    await until("both replies are sent", () => sent.length === 2);
    await consumer.stop();
    await sender.stop();
    assert.deepEqual(sent, ["reply r#1", "reply r#2"]);
  }),

  contractTest("goes on with one consumer when another one stops", async (engine) => {
    const handled: string[] = [];
    const finish = async (delivery: Delivery<"inbound">): Promise<void> => {
      handled.push(delivery.work.id);
      await delivery.commit({ events: [], emit: [] });
    };
    const blocked = gate();
    const options = { parallel: 1, maxAttempts: 3 };
    const first = consuming(
      engine,
      "inbound",
      async (delivery) => {
        await blocked.opened;
        await finish(delivery);
      },
      options,
    );
    for (let n = 0; n < 6; n += 1) await accept(engine, `msg_${n}`, `telegram:${n}`);
    const second = consuming(engine, "inbound", finish, options);
    const stopped = first.stop();
    await until("the second one does what the first left", () => handled.length === 5);
    blocked.open();
    await stopped;
    await until("all are done", () => engine.status().inboundWaiting === 0);
    await second.stop();
    assert.equal(new Set(handled).size, 6);
  }),

  contractTest("work that is appended with events is handed out once, at once and not with the end", async (engine) => {
    const sent: string[] = [];
    const goOn = gate();
    const sender = consuming(engine, "outbound", async (delivery) => {
      sent.push(delivery.work.id);
      await delivery.commit({ events: [], emit: [] });
    });
    await accept(engine, "msg_1");
    const consumer = consuming(engine, "inbound", async (delivery) => {
      const emit = [outbound("ask_1#1")];
      await delivery.append([titled("asked")], { durable: true, emit });
      // As a handler does that does not know how far it came.
      await delivery.append([titled("again")], { durable: true, emit });
      await goOn.opened;
      await delivery.commit({ events: [titled("end")], emit });
    });
    await until("it is sent while the handler is at work", () => sent.length === 1);
    assert.equal(engine.status().inboundWaiting, 1);
    goOn.open();
    await until("the handler is done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    await sender.stop();
    assert.deepEqual(sent, ["ask_1#1"]);
    const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 10 });
    assert.deepEqual(titlesOf(events), ["asked", "again", "end"]);
  }),

  contractTest("a pausing delivery leaves its place to others and takes one again, its lane waits", async (engine) => {
    const waiting = gate();
    const busy = gate();
    const log: string[] = [];
    for (const [id, key] of [
      ["a1", sessionOf],
      ["a2", sessionOf],
      ["b1", other],
    ] as const)
      await accept(engine, id, key);
    const consumer = consuming(
      engine,
      "inbound",
      async (delivery) => {
        const { id } = delivery.work;
        log.push(`${id} begins`);
        if (id === "a1") await delivery.pause(() => waiting.opened);
        if (id === "b1") await busy.opened;
        log.push(`${id} ends`);
        await delivery.commit({ events: [], emit: [] });
      },
      { parallel: 1, maxAttempts: 3 },
    );
    const attemptsOf = async () => (await engine.waiting("inbound", sessionOf))[0]?.attempts;
    await until("the other lane runs", () => log.includes("b1 begins"));
    assert.equal(await attemptsOf(), 0, "a crash would not count");
    waiting.open();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(log, ["a1 begins", "b1 begins"], "the only place is taken");
    busy.open();
    await until("it goes on and counts again", async () => (await attemptsOf()) === 1 || log.length > 4);
    await until("all are done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    assert.deepEqual(log, ["a1 begins", "b1 begins", "b1 ends", "a1 ends", "a2 begins", "a2 ends"]);
  }),

  contractTest("a consumer that stops waits for handlers that pause, and gives them no place", async (engine) => {
    const waiting = gate();
    const paused = gate();
    const order: string[] = [];
    await accept(engine, "msg_1");
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await delivery.pause(() => {
        paused.open();
        return waiting.opened;
      });
      await delivery.release();
      order.push("released");
    });
    await paused.opened;
    const stopped = consumer.stop().then(() => order.push("stopped"));
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
    waiting.open();
    await stopped;
    assert.deepEqual(order, ["released", "stopped"]);
    assert.deepEqual(
      (await engine.waiting("inbound", sessionOf)).map(({ attempts }) => attempts),
      [0],
    );
  }),
];
