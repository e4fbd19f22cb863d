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

const done = (engine: Engine) => (): boolean => engine.status().inboundWaiting === 0;

export const racesTests: readonly ContractTest[] = [
  contractTest(
    "two consumers share the lanes: each piece of work runs once, each lane one at a time and in order",
    async (engine) => {
      const handled: string[] = [];
      const lanesAtWork = new Set<string>();
      const by = { a: 0, b: 0 };
      const handle =
        (name: keyof typeof by) =>
        async (delivery: Delivery<"inbound">): Promise<void> => {
          const { id, key } = delivery.work;
          assert.ok(!lanesAtWork.has(key), `${key} is at work already`);
          lanesAtWork.add(key);
          by[name] += 1;
          await delivery.append([titled(id)], { durable: false });
          handled.push(id);
          lanesAtWork.delete(key);
          await delivery.commit({ events: [answered([id])], emit: [] });
        };
      const options = { parallel: 2, maxAttempts: 1 };
      const consumers = [
        consuming(engine, "inbound", handle("a"), options),
        consuming(engine, "inbound", handle("b"), options),
      ];
      const ids: string[] = [];
      for (let n = 0; n < 60; n += 1) {
        const id = `msg_${String(n).padStart(2, "0")}`;
        ids.push(id);
        await accept(engine, id, `telegram:${n % 6}`);
      }
      await until("all are done", done(engine));
      for (const consumer of consumers) await consumer.stop();
      assert.deepEqual(handled.toSorted(), ids);
      for (let lane = 0; lane < 6; lane += 1) {
        const mine = (id: string): boolean => Number(id.slice(4)) % 6 === lane;
        assert.deepEqual(handled.filter(mine), ids.filter(mine));
      }
      assert.ok(by.a > 0 && by.b > 0, JSON.stringify(by));
    },
  ),

  contractTest(
    "an attempt that is fenced while its commit is on the way stores all of it or nothing",
    async (engine, _published, reopen) => {
      const outcomes: unknown[] = [];
      for (let n = 0; n < 10; n += 1) {
        const key = `telegram:${n}`;
        const started = gate();
        const may = gate();
        const consumer = consuming(engine, "inbound", async (delivery) => {
          started.open();
          await may.opened;
          const commit = { events: [titled("answer"), answered([delivery.work.id])], emit: [outbound(`r${n}`, key)] };
          outcomes.push(
            await delivery.commit(commit).then(
              () => "stored",
              (error: unknown) => error,
            ),
          );
        });
        await accept(engine, `msg_${n}`, key);
        await started.opened;
        may.open();
        // By turns before, in the middle of, and after the commit.
        for (let turns = 0; turns < n % 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        await engine.deleteSession(key);
        await until("the handler has settled", () => outcomes.length === n + 1);
        await consumer.stop();
      }
      for (const outcome of outcomes) assert.ok(outcome === "stored" || isError("fenced")(outcome), String(outcome));
      const again = await reopen();
      assert.deepEqual(
        [again.status().inboundWaiting, again.status().outboundWaiting],
        [0, 0],
        "it was deleted after the commit, or instead",
      );
      for (let n = 0; n < 10; n += 1)
        assert.deepEqual(await again.events(`telegram:${n}`, { afterSeq: 0, limit: 10 }), {
          events: [],
          hasMore: false,
        });
    },
  ),

  contractTest("a commit that races with the stop of its consumer counts once", async (engine) => {
    for (let n = 0; n < 10; n += 1) {
      const started = gate();
      const consumer = consuming(engine, "inbound", async (delivery) => {
        started.open();
        await delivery.append([titled(`try ${n}`)], { durable: true });
        await delivery.commit({ events: [titled(`end ${n}`)], emit: [outbound(`r${n}`)] });
      });
      await accept(engine, `msg_${n}`);
      await started.opened;
      await consumer.stop();
      const next = consuming(engine, "inbound", async (delivery) => {
        await delivery.commit({ events: [titled(`end ${n}`)], emit: [outbound(`r${n}`)] });
      });
      await until("it is done", done(engine));
      await next.stop();
    }
    const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 100 });
    const ends = titlesOf(events).filter((title) => title.startsWith("end"));
    assert.deepEqual(
      ends,
      Array.from({ length: 10 }, (_, n) => `end ${n}`),
    );
    assert.equal(engine.status().outboundWaiting, 10);
  }),

  contractTest(
    "a lane's next work begins after the commit before it, whatever else ends at that moment",
    async (engine) => {
      const log: string[] = [];
      const consumer = consuming(engine, "inbound", async (delivery) => {
        const { id } = delivery.work;
        log.push(`${id} begins`);
        if (delivery.attempt === 1 && id === "b") return void (await delivery.retry({ reason: "again", delayMs: 0 }));
        const ending = delivery.commit({ events: [titled(id)], emit: [] });
        await Promise.all([ending, accept(engine, `${id}x`, other)]);
        log.push(`${id} ends`);
      });
      await Promise.all(["a", "b", "c"].map((id) => accept(engine, id)));
      await until("all are done", () => log.filter((line) => /^[abc] ends/.test(line)).length === 3);
      await consumer.stop();
      const own = log.filter((line) => /^[abc] /.test(line));
      assert.deepEqual(own, ["a begins", "a ends", "b begins", "b begins", "b ends", "c begins", "c ends"]);
    },
  ),
];
