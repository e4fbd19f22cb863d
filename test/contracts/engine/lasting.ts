import assert from "node:assert/strict";
import type { Delivery, Engine } from "../../../src/engine/engine.js";
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
import { accept, type ContractTest, contractTest, isError, other } from "./contract-test.js";

export const lastingTests: readonly ContractTest[] = [
  contractTest("goes on after a restart with the same work, events and numbers", async (engine, _published, reopen) => {
    await accept(engine, "msg_1");
    await accept(engine, "msg_2");
    await engine.append(sessionOf, [titled("a title")], { durable: false });
    const reopened = await reopen();
    assert.deepEqual(
      (await reopened.waiting("inbound", sessionOf)).map(({ id }) => id),
      ["msg_1", "msg_2"],
    );
    const [event] = await reopened.append(sessionOf, [titled("later")], { durable: true });
    assert.equal(event?.seq, 4);
    const { events } = await reopened.events(sessionOf, { afterSeq: 0, limit: 10 });
    assert.deepEqual(
      events.map(({ seq }) => seq),
      [1, 2, 3, 4],
    );
  }),

  contractTest("dead letters can be sent on their way again or dropped", async (engine, _published, reopen) => {
    const bury = async (delivery: Delivery<"inbound">): Promise<void> => {
      await delivery.bury({ events: [], emit: [], reason: "broken" });
    };
    const burying = consuming(engine, "inbound", bury);
    await accept(engine, "a");
    await accept(engine, "b");
    await until("both are buried", () => engine.status().deadLetters === 2);
    await burying.stop();
    const reopened = await reopen();
    assert.deepEqual(
      (await reopened.dead.list()).map(({ work, reason }) => [work.id, work.attempts, reason]),
      [
        ["a", 1, "broken"],
        ["b", 1, "broken"],
      ],
    );
    await accept(reopened, "c");
    assert.equal(await reopened.dead.redrive("nobody"), false);
    assert.equal(await reopened.dead.drop("nobody"), false);
    assert.equal(await reopened.dead.redrive("a"), true);
    assert.equal(await reopened.dead.drop("b"), true);
    assert.deepEqual(await reopened.dead.list(), []);
    assert.deepEqual(
      (await reopened.waiting("inbound", sessionOf)).map(({ id, attempts }) => [id, attempts]),
      [
        ["c", 0],
        ["a", 0],
      ],
    );
  }),

  contractTest(
    "a deleted session is gone with its work, and a new life continues its numbers",
    async (engine, _published, reopen) => {
      await accept(engine, "msg_1");
      await engine.append(sessionOf, [titled("old")], { durable: false });
      const giving = consuming(engine, "inbound", async (delivery) => {
        await delivery.commit({ events: [], emit: [outbound("r1"), outbound("r2", other)] });
      });
      await until("the replies wait", () => engine.status().outboundWaiting === 2);
      await giving.stop();
      await accept(engine, "msg_2");
      await engine.deleteSession(sessionOf);
      assert.deepEqual(await engine.waiting("inbound", sessionOf), []);
      assert.deepEqual(
        (await engine.waiting("outbound", "telegram:42")).map(({ id }) => id),
        ["r2"],
      );
      assert.deepEqual(await engine.events(sessionOf, { afterSeq: 0, limit: 10 }), { events: [], hasMore: false });
      const reopened = await reopen();
      assert.equal(reopened.status().inboundWaiting, 0);
      assert.equal(await reopened.lastSequence(sessionOf), 3);
      assert.equal((await accept(reopened, "msg_2")).status, "duplicate");
      await reopened.append(sessionOf, [titled("new")], { durable: true });
      const last = await reopen();
      const { events, hasMore } = await last.events(sessionOf, { afterSeq: 0, limit: 10 });
      assert.deepEqual([events.map(({ seq }) => seq), titlesOf(events), hasMore], [[4], ["new"], false]);
    },
  ),

  contractTest("a running delivery of a deleted session is told to stop and can store nothing", async (engine) => {
    const started = gate();
    const failures: unknown[] = [];
    const handled: string[] = [];
    const consumer = consuming(engine, "inbound", async (delivery, signal) => {
      if (delivery.work.id === "later") {
        handled.push("later");
        return void (await delivery.commit({ events: [], emit: [] }));
      }
      started.open();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      failures.push(
        await delivery.commit({ events: [titled("x")], emit: [outbound("r")] }).catch((error: unknown) => error),
      );
    });
    await accept(engine, "msg_1");
    await started.opened;
    await engine.deleteSession(sessionOf);
    await until("the handler was stopped", () => failures.length === 1);
    assert.ok(isError("fenced")(failures[0]));
    await accept(engine, "later");
    await until("the lane goes on", () => handled.length === 1);
    await consumer.stop();
    assert.equal(engine.status().outboundWaiting, 0);
  }),

  contractTest("refuses by name once it is closed", async (engine) => {
    await engine[Symbol.asyncDispose]();
    await assert.rejects(accept(engine, "msg_1"), isError("closed"));
    await assert.rejects(engine.append(sessionOf, [titled("x")], { durable: false }), isError("closed"));
    await assert.rejects(
      engine.consume("inbound", { parallel: 1, maxAttempts: 1 }, async () => {}, new AbortController().signal),
      isError("closed"),
    );
  }),

  contractTest(
    "tells about each accepted message how it ended, also after a restart",
    async (engine, _published, reopen) => {
      const ends = async (current: Engine) =>
        Object.fromEntries(
          (await current.ledger()).map(({ messageId, sessionKey, end }) => [`${sessionKey} ${messageId}`, end]),
        );
      assert.deepEqual(await ends(engine), {});
      const consumer = consuming(engine, "inbound", async (delivery) => {
        const { id } = delivery.work;
        if (id === "bad") return void (await delivery.bury({ events: [], emit: [], reason: "broken" }));
        await delivery.commit({ events: [answered([id])], emit: [] });
      });
      await accept(engine, "good");
      await accept(engine, "bad", other);
      await until("both are over", () => engine.status().inboundWaiting === 0);
      await consumer.stop();
      await accept(engine, "late");
      const expected = {
        [`${sessionOf} good`]: "answered",
        [`${other} bad`]: "refused",
        [`${sessionOf} late`]: "pending",
      };
      assert.deepEqual(await ends(engine), expected);
      const again = await reopen();
      assert.deepEqual(await ends(again), expected);
      await again.deleteSession(other);
      assert.equal((await ends(again))[`${other} bad`], undefined);
    },
  ),

  contractTest("work with attempts without end is never used up", async (engine) => {
    const attempts: [number, boolean][] = [];
    const controller = new AbortController();
    const running = engine.consume(
      "inbound",
      { parallel: 1 },
      async (delivery) => {
        attempts.push([delivery.attempt, delivery.exhausted]);
        if (attempts.length < 30) return delivery.retry({ reason: "again", delayMs: 0 });
        await delivery.commit({ events: [], emit: [] });
      },
      controller.signal,
    );
    await accept(engine, "msg_1");
    await until("it is done", () => engine.status().inboundWaiting === 0);
    controller.abort();
    await running;
    assert.deepEqual(attempts.at(-1), [30, false]);
  }),
];
