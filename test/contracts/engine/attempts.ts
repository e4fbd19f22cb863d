import assert from "node:assert/strict";
import type { Delivery } from "../../../src/engine/engine.js";
import { draft } from "../../../src/events/event.js";
import { consuming, gate, outbound, sessionOf, titled, titlesOf, until } from "../../support/engine/engine-kit.js";
import { accept, type ContractTest, contractTest, isError, other } from "./contract-test.js";

export const attemptsTests: readonly ContractTest[] = [
  contractTest("a retried delivery keeps its place and comes with the next number", async (engine, published) => {
    const handled: string[] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      handled.push(`${delivery.work.id}#${delivery.attempt}`);
      if (delivery.work.id === "first" && delivery.attempt === 1) {
        await delivery.retry({ reason: "busy", delayMs: 30, events: [titled("why")] });
      } else await delivery.commit({ events: [], emit: [] });
    });
    await accept(engine, "first");
    await accept(engine, "second");
    await until("both are done", () => handled.length === 3);
    await consumer.stop();
    assert.deepEqual(handled, ["first#1", "first#2", "second#1"]);
    assert.deepEqual(titlesOf(published), ["why"]);
  }),

  contractTest("a wait before the next attempt survives a restart", async (engine, _published, reopen) => {
    const retried = gate();
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await delivery.retry({ reason: "busy", delayMs: 300 });
      retried.open();
    });
    await accept(engine, "msg_1");
    await retried.opened;
    const retriedAt = Date.now();
    await consumer.stop();
    const reopened = await reopen();
    let startedAt = 0;
    const again = consuming(reopened, "inbound", async (delivery) => {
      startedAt = Date.now();
      assert.equal(delivery.attempt, 2);
      await delivery.commit({ events: [], emit: [] });
    });
    await until("it runs again", () => startedAt > 0);
    await again.stop();
    assert.ok(startedAt - retriedAt >= 250, `it ran again after ${startedAt - retriedAt} ms`);
  }),

  contractTest("a released delivery is not counted", async (engine) => {
    const attempts: number[] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      attempts.push(delivery.attempt);
      if (attempts.length === 1) await delivery.release();
      else await delivery.commit({ events: [], emit: [] });
    });
    await accept(engine, "msg_1");
    await until("it was handed out twice", () => attempts.length === 2);
    await consumer.stop();
    assert.deepEqual(attempts, [1, 1]);
  }),

  contractTest("only an attempt before which none has begun is the first", async (engine, _published, reopen) => {
    const firsts: boolean[] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      firsts.push(delivery.isFirst);
      if (firsts.length === 1) await delivery.release();
      else await delivery.retry({ reason: "busy", delayMs: 50 });
    });
    await accept(engine, "msg_1");
    await until("it was handed out twice", () => firsts.length === 2);
    await consumer.stop();
    await accept(engine, "msg_2", other);
    const again = consuming(await reopen(), "inbound", async (delivery) => {
      firsts.push(delivery.isFirst);
      await delivery.commit({ events: [], emit: [] });
    });
    await until("the next process has done both", () => firsts.length === 4);
    await again.stop();
    // Nobody knows any more that nothing of the last one was begun.
    assert.deepEqual(firsts, [true, false, false, false]);
  }),

  contractTest("a handler that ends without an end while stopping gives its work back uncounted", async (engine) => {
    const started = gate();
    const consumer = consuming(engine, "inbound", async (_delivery, signal) => {
      started.open();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    });
    await accept(engine, "msg_1");
    await started.opened;
    await consumer.stop();
    assert.deepEqual(
      (await engine.waiting("inbound", sessionOf)).map(({ attempts }) => attempts),
      [0],
    );
  }),

  contractTest(
    "a handler that throws runs again, and work that is used up is offered once more for burying",
    async (engine) => {
      const seen: [number, boolean][] = [];
      const consumer = consuming(
        engine,
        "inbound",
        async (delivery) => {
          if (delivery.work.id !== "poison") return void (await delivery.commit({ events: [], emit: [] }));
          seen.push([delivery.attempt, delivery.exhausted]);
          if (!delivery.exhausted) throw new Error("boom");
          await delivery.bury({ events: [titled("buried")], emit: [outbound("told")], reason: "boom" });
        },
        { parallel: 4, maxAttempts: 1 },
      );
      await accept(engine, "poison");
      await accept(engine, "next");
      await until("the lane is free", () => engine.status().inboundWaiting === 0);
      await consumer.stop();
      assert.deepEqual(seen, [
        [1, false],
        [2, true],
      ]);
      assert.deepEqual(
        (await engine.dead.list()).map(({ work, reason }) => [work.id, reason]),
        [["poison", "boom"]],
      );
      assert.deepEqual(
        (await engine.waiting("outbound", "telegram:42")).map(({ id }) => id),
        ["told"],
      );
    },
  ),

  contractTest(
    "buries by itself, with an event, when even the handler for used-up work throws",
    async (engine, published) => {
      const consumer = consuming(
        engine,
        "inbound",
        async () => {
          throw new Error("boom");
        },
        { parallel: 4, maxAttempts: 0 },
      );
      await accept(engine, "poison");
      await until("it is buried", async () => (await engine.dead.list()).length === 1);
      await consumer.stop();
      const [told] = published.filter(({ type }) => type === "error_occurred");
      assert.equal(told?.correlation_id, "poison");
      assert.equal(engine.status().inboundWaiting, 0);
    },
  ),

  contractTest("claimed work is acknowledged by the same commit", async (engine) => {
    const handled: string[][] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      if (delivery.work.id === "a")
        await until("the others wait", async () => (await engine.waiting("inbound", sessionOf)).length === 3);
      const claimed = await delivery.claim(["c", "nobody", delivery.work.id]);
      handled.push([delivery.work.id, ...claimed.map(({ id }) => id)]);
      await delivery.commit({ events: [], emit: [] });
    });
    for (const id of ["a", "b", "c"]) await accept(engine, id);
    await until("all are done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    assert.deepEqual(handled, [["a", "c"], ["b"]]);
  }),

  contractTest("claimed work waits again in its old place when the attempt ends without a commit", async (engine) => {
    const handled: string[] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      if (delivery.work.id === "a" && delivery.attempt === 1) {
        await until("the others wait", async () => (await engine.waiting("inbound", sessionOf)).length === 3);
        assert.equal((await delivery.claim(["b"])).length, 1);
        assert.equal((await delivery.claim(["b"])).length, 0, "claimed once");
        return delivery.retry({ reason: "again", delayMs: 0 });
      }
      handled.push(delivery.work.id);
      await delivery.commit({ events: [], emit: [] });
    });
    for (const id of ["a", "b", "c"]) await accept(engine, id);
    await until("all are done", () => handled.length === 3);
    await consumer.stop();
    assert.deepEqual(handled, ["a", "b", "c"]);
  }),

  contractTest("an attempt that has ended can store nothing more", async (engine, published) => {
    let ended: Delivery<"inbound"> | undefined;
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await delivery.commit({ events: [], emit: [] });
      ended = delivery;
    });
    await accept(engine, "msg_1");
    await until("it is done", () => ended !== undefined);
    await consumer.stop();
    const delivery = ended;
    assert.ok(delivery);
    await assert.rejects(async () => delivery.append([titled("x")], { durable: false }), isError("fenced"));
    await assert.rejects(async () => delivery.commit({ events: [titled("x")], emit: [] }), isError("fenced"));
    await assert.rejects(async () => delivery.retry({ reason: "x", delayMs: 0 }), isError("fenced"));
    await assert.rejects(async () => delivery.bury({ events: [], emit: [], reason: "x" }), isError("fenced"));
    await assert.rejects(async () => delivery.claim(["msg_1"]), isError("fenced"));
    delivery.publish(draft("text_delta", { message_id: "m", text: "x" }, { source: "agent" }));
    assert.ok(!published.some(({ type }) => type === "text_delta"), "and publishes nothing");
    assert.equal(await engine.lastSequence(sessionOf), 1);
  }),

  contractTest("a commit that cannot be stored changes nothing at all", async (engine) => {
    let failure: unknown;
    const consumer = consuming(engine, "inbound", async (delivery) => {
      if (failure === undefined) {
        const never = draft("text_delta", { message_id: "m", text: "x" }, { source: "agent" });
        failure = await delivery
          .commit({ events: [titled("x"), never], emit: [outbound("r")] })
          .catch((error: unknown) => error);
        assert.deepEqual([await engine.lastSequence(sessionOf), engine.status().outboundWaiting], [1, 0]);
        assert.equal((await engine.waiting("inbound", sessionOf)).length, 1);
      }
      await delivery.commit({ events: [titled("y")], emit: [outbound("r")] });
    });
    await accept(engine, "msg_1");
    await until("it is done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    assert.ok(failure instanceof Error);
    const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 10 });
    assert.deepEqual([titlesOf(events), engine.status().outboundWaiting], [["y"], 1]);
  }),

  contractTest(
    "a delivery sees the work that waits in its lane, and what is accepted there meanwhile",
    async (engine) => {
      const heard: string[] = [];
      const seen: (readonly string[])[] = [];
      const begun = gate();
      const goOn = gate();
      await accept(engine, "own");
      await accept(engine, "behind");
      const consumer = consuming(engine, "inbound", async (delivery) => {
        if (delivery.work.id !== "own") return void (await delivery.commit({ events: [], emit: [] }));
        const look = async () => seen.push((await delivery.waiting()).map(({ id }) => id));
        await look();
        const looks: Promise<number>[] = [];
        const undo = delivery.onAccepted(({ id, body }) => {
          heard.push(`${id}: ${body.content}`);
          looks.push(look());
          if (id === "second") undo();
        });
        delivery.onAccepted(({ id }) => heard.push(`again ${id}`));
        begun.open();
        await goOn.opened;
        await Promise.all(looks);
        await delivery.claim(["behind"]);
        await look();
        await delivery.commit({ events: [], emit: [] });
      });
      await begun.opened;
      await accept(engine, "first");
      await accept(engine, "elsewhere", other);
      await accept(engine, "second");
      await accept(engine, "third");
      goOn.open();
      await until("all are done", () => engine.status().inboundWaiting === 0);
      await accept(engine, "late");
      await until("the late one is done as well", () => engine.status().inboundWaiting === 0);
      await consumer.stop();
      assert.deepEqual(heard, [
        "first: text of first",
        "again first",
        "second: text of second",
        "again second",
        "again third",
      ]);
      assert.deepEqual(seen, [
        ["behind"],
        ["behind", "first"],
        ["behind", "first", "second"],
        ["first", "second", "third"],
      ]);
    },
  ),
];
