import assert from "node:assert/strict";
import type { Engine, Lease } from "../../../src/engine/engine.js";
import { until } from "../../support/engine/engine-kit.js";
import { type ContractTest, contractTest, isError } from "./contract-test.js";

const never = new AbortController().signal;

async function giveBack(lease: Lease): Promise<void> {
  await lease[Symbol.asyncDispose]();
}

/** The lease, when it is there at once or after a turn of the event loop. */
async function takenBy(waiting: Promise<Lease>): Promise<Lease | undefined> {
  const later = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 20));
  return await Promise.race([waiting, later]);
}

export const leasesTests: readonly ContractTest[] = [
  contractTest(
    "gives a lease to one at a time, in the order of the calls, each with a higher epoch",
    async (engine) => {
      const order: string[] = [];
      const take = async (who: string): Promise<Lease> => {
        const lease = await engine.lease("telegram", never);
        order.push(who);
        return lease;
      };
      const first = await take("first");
      const second = take("second");
      const third = take("third");
      const elsewhere = await engine.lease("email", never);
      assert.equal(await takenBy(second), undefined, "it is held");
      await giveBack(first);
      const two = await second;
      assert.equal(await takenBy(third), undefined);
      await giveBack(first);
      assert.equal(await takenBy(third), undefined, "giving it back twice frees nobody else's");
      await giveBack(two);
      const three = await third;
      await giveBack(three);
      assert.deepEqual(order, ["first", "second", "third"]);
      assert.ok(first.epoch < two.epoch && two.epoch < three.epoch);
      assert.ok(!elsewhere.lost.aborted);
      await giveBack(elsewhere);
    },
  ),

  contractTest("who gives up waiting for a lease leaves its place to the next", async (engine) => {
    const held = await engine.lease("telegram", never);
    const stop = new AbortController();
    const impatient = engine.lease("telegram", stop.signal);
    const next = engine.lease("telegram", never);
    const reason = new Error("the gateway stops");
    stop.abort(reason);
    await assert.rejects(impatient, reason);
    assert.equal(await takenBy(next), undefined, "the first one still holds it");
    await giveBack(held);
    await giveBack(await next);
    await assert.rejects(engine.lease("telegram", stop.signal), reason);
  }),

  contractTest(
    "a lease that is lost says so, and the one who takes it has a higher epoch",
    async (engine, _published, reopen) => {
      const first = await engine.lease("telegram", never);
      const waiting = assert.rejects(engine.lease("telegram", never), isError("closed"));
      const lost: unknown[] = [];
      first.lost.addEventListener("abort", () => lost.push(first.lost.reason), { once: true });
      const again: Engine = await reopen();
      await until("it is told", () => lost.length === 1);
      assert.ok(isError("closed")(lost[0]));
      await waiting;
      const second = await again.lease("telegram", never);
      assert.ok(second.epoch > first.epoch, `${second.epoch} after ${first.epoch}`);
      await giveBack(first);
      const third = again.lease("telegram", never);
      assert.equal(await takenBy(third), undefined, "who has lost it gives nothing back");
      await giveBack(second);
      await giveBack(await third);
    },
  ),

  contractTest("gives no lease once it is closed", async (engine) => {
    await engine[Symbol.asyncDispose]();
    await assert.rejects(engine.lease("telegram", never), isError("closed"));
  }),
];
