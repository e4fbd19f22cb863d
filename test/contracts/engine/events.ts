import assert from "node:assert/strict";
import type { Engine } from "../../../src/engine/engine.js";
import { draft } from "../../../src/events/event.js";
import { sessionOf, titled, titlesOf } from "../../support/engine/engine-kit.js";
import { type ContractTest, contractTest, other } from "./contract-test.js";

export const eventsTests: readonly ContractTest[] = [
  contractTest(
    "gives events their place and publishes them in that order, frozen, after they are stored",
    async (engine, published) => {
      const durable = engine.append(sessionOf, [titled("1"), titled("2")], { durable: true });
      const written = engine.append(sessionOf, [titled("3")], { durable: false });
      const elsewhere = engine.append(other, [titled("other")], { durable: false });
      await Promise.all([durable, written, elsewhere]);
      const stored = await durable;
      assert.deepEqual(
        stored.map(({ seq }) => seq),
        [1, 2],
      );
      assert.deepEqual(titlesOf(published.filter(({ session_key }) => session_key === sessionOf)), ["1", "2", "3"]);
      assert.ok(Object.isFrozen(stored[0]) && Object.isFrozen(stored[0]?.payload));
      const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 10 });
      assert.deepEqual(
        events,
        published.filter(({ session_key }) => session_key === sessionOf),
      );
      const [first] = events;
      assert.deepEqual(
        [first?.schema_version, first?.session_key, first?.source, typeof first?.metadata.instance_id],
        ["1.0", sessionOf, "agent", "string"],
      );
    },
  ),

  contractTest("takes the same event id for the same event, and answers with the stored one", async (engine) => {
    const one = titled("one");
    const [stored] = await engine.append(sessionOf, [one], { durable: true });
    const again = await engine.append(sessionOf, [titled("two"), one, one], { durable: false });
    assert.deepEqual(
      again.map(({ seq }) => seq),
      [2, 1, 1],
    );
    assert.deepEqual(again[1], stored);
    assert.equal(await engine.lastSequence(sessionOf), 2);
  }),

  contractTest(
    "a time that goes back leaves the session's times in order",
    async (engine) => {
      await engine.append(sessionOf, [titled("1")], { durable: false });
      await engine.append(sessionOf, [titled("2")], { durable: false });
      engine.publish(sessionOf, draft("text_delta", { message_id: "m", text: "x" }, { source: "agent" }));
      const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 10 });
      assert.deepEqual(
        events.map(({ timestamp }) => timestamp),
        ["2026-01-01T00:00:09.000Z", "2026-01-01T00:00:09.000Z"],
      );
    },
    { now: fallingClock(Date.parse("2026-01-01T00:00:10.000Z")) },
  ),

  contractTest(
    "publishes what is never stored behind the stored events before it, without a seq",
    async (engine, published) => {
      const storing = engine.append(sessionOf, [titled("stored")], { durable: true });
      const delta = draft("text_delta", { message_id: "m", text: "hello" }, { source: "agent", delta_index: 4 });
      const event = engine.publish(sessionOf, delta);
      assert.deepEqual([event.seq, event.after_seq, event.delta_index], [null, 1, 4]);
      await storing;
      assert.deepEqual(
        published.map(({ type }) => type),
        ["session_title_generated", "text_delta"],
      );
      assert.equal(await engine.lastSequence(sessionOf), 1);
    },
  ),

  contractTest("reads ranges, and says exactly whether there is more", async (engine, _published, reopen) => {
    const titles = Array.from({ length: 25 }, (_, n) => `t${n + 1}`);
    for (const title of titles) await engine.append(sessionOf, [titled(title)], { durable: false });
    const check = async (current: Engine): Promise<void> => {
      const middle = await current.events(sessionOf, { afterSeq: 10, limit: 10 });
      assert.deepEqual([titlesOf(middle.events), middle.hasMore], [titles.slice(10, 20), true]);
      const end = await current.events(sessionOf, { afterSeq: 20, limit: 5 });
      assert.deepEqual([titlesOf(end.events), end.hasMore], [titles.slice(20), false]);
      assert.deepEqual(await current.events(sessionOf, { afterSeq: 25, limit: 5 }), { events: [], hasMore: false });
      assert.deepEqual(await current.events("telegram:nobody", { afterSeq: 0, limit: 5 }), {
        events: [],
        hasMore: false,
      });
      assert.equal(await current.lastSequence("telegram:nobody"), 0);
    };
    await check(engine);
    await check(await reopen());
  }),
];

/** Each reading is a second before the last. */
function fallingClock(start: number): () => number {
  let time = start;
  return () => {
    time -= 1000;
    return time;
  };
}
