import assert from "node:assert/strict";
import type { Engine } from "../../../src/engine/engine.js";
import { answered, consuming, sessionOf, titled, until } from "../../support/engine/engine-kit.js";
import { accept, type ContractTest, contractTest, other } from "./contract-test.js";

export const recordsTests: readonly ContractTest[] = [
  contractTest("keeps records by kind and id", async (engine, _published, reopen) => {
    const pairing = await engine.records.open("pairing");
    await pairing.put("AB12", { sender: "7" });
    await pairing.put("CD34", { sender: "8" });
    await (await engine.records.open("approval")).put("AB12", true);
    await pairing.delete("CD34");
    await pairing.delete("unknown");
    const reopened = await reopen();
    assert.deepEqual((await reopened.records.open("pairing")).get("AB12"), { sender: "7" });
    assert.deepEqual((await reopened.records.open("pairing")).list(), [{ id: "AB12", value: { sender: "7" } }]);
    assert.equal((await reopened.records.open("pairing")).get("CD34"), undefined);
    assert.equal((await reopened.records.open("approval")).get("AB12"), true);
  }),

  contractTest(
    "adds counts together with their events, once, and keeps the sums",
    async (engine, _published, reopen) => {
      const add = (times: number, usd: number) => [{ kind: "usage", id: "day", add: { times, usd } }];
      const sum = async (current: Engine) => (await current.records.open("usage")).get("day");
      await engine.append(sessionOf, [titled("a"), titled("b")], {
        durable: true,
        counts: [...add(1, 0.5), ...add(2, 0)],
      });
      assert.deepEqual(await sum(engine), { times: 3, usd: 0.5 });
      const again = titled("c");
      await engine.append(sessionOf, [again], { durable: false, counts: add(1, 0.25) });
      await engine.append(sessionOf, [again], { durable: false, counts: add(1, 0.25) });
      await engine.append(other, [], { durable: false, counts: add(100, 100) });
      assert.deepEqual(await sum(engine), { times: 4, usd: 0.75 });
      await accept(engine, "msg_1");
      const consumer = consuming(engine, "inbound", async (delivery) => {
        await delivery.append([titled("d")], { durable: false, counts: add(1, 0) });
        await delivery.commit({ events: [answered(["msg_1"])], emit: [], counts: add(1, 1) });
      });
      await until("it is answered", () => engine.status().inboundWaiting === 0);
      await consumer.stop();
      const reopened = await reopen();
      assert.deepEqual(await sum(reopened), { times: 6, usd: 1.75 });
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          reopened.append(`telegram:${n}`, [titled("e")], { durable: n % 2 === 0, counts: add(1, 0) }),
        ),
      );
      assert.deepEqual(await sum(reopened), { times: 26, usd: 1.75 });
    },
  ),

  contractTest(
    "changes a record in one step, however many change it at the same time",
    async (engine, _published, reopen) => {
      const views = await Promise.all([engine.records.open("counter"), engine.records.open("counter")]);
      const add = (value: unknown) => ({ times: timesOf(value) + 1 });
      const stored = await Promise.all(Array.from({ length: 50 }, (_, n) => views[n % 2]?.update("a", add)));
      assert.deepEqual(
        stored.map(timesOf).toSorted((a, b) => a - b),
        Array.from({ length: 50 }, (_, n) => n + 1),
      );
      for (const view of views) assert.deepEqual(view.get("a"), { times: 50 });
      assert.deepEqual((await (await reopen()).records.open("counter")).get("a"), { times: 50 });
    },
  ),

  contractTest(
    "of many who take something once one gets it, and a change can delete or leave as it is",
    async (engine, _published, reopen) => {
      const records = await engine.records.open("code");
      await records.put("AB12", { free: true });
      const got: number[] = [];
      const take = async (who: number): Promise<void> => {
        let mine = false;
        await records.update("AB12", (value) => {
          mine = value !== undefined;
          return undefined;
        });
        if (mine) got.push(who);
      };
      await Promise.all([1, 2, 3, 4, 5].map(take));
      assert.equal(got.length, 1);
      assert.deepEqual([records.get("AB12"), records.list()], [undefined, []]);
      assert.equal(await records.update("AB12", (value) => value), undefined);
      const first = await records.update("CD34", (value) => value ?? { by: "first" });
      assert.deepEqual(await records.update("CD34", (value) => value ?? { by: "second" }), first);
      await assert.rejects(
        records.update("CD34", () => {
          throw new Error("no");
        }),
        /no/,
      );
      await assert.rejects(
        records.update("CD34", () => () => 1),
        TypeError,
      );
      assert.deepEqual((await (await reopen()).records.open("code")).list(), [{ id: "CD34", value: { by: "first" } }]);
    },
  ),

  contractTest("a view that is open shows what counts and others change", async (engine) => {
    const view = await engine.records.open("usage");
    assert.deepEqual(view.list(), []);
    await engine.append(sessionOf, [titled("a")], {
      durable: false,
      counts: [{ kind: "usage", id: "day", add: { times: 2 } }],
    });
    await until("it shows the count", () => timesOf(view.get("day")) === 2);
    await (await engine.records.open("usage")).update("day", (value) => ({ times: timesOf(value) + 1 }));
    await until("it shows the change", () => timesOf(view.get("day")) === 3);
  }),
];

function timesOf(value: unknown): number {
  return typeof value === "object" && value !== null && "times" in value ? Number(value.times) : 0;
}
