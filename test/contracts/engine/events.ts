import assert from "node:assert/strict";
import type { Engine } from "../../../src/engine/engine.js";
import { draft, type EventDraft } from "../../../src/events/event.js";
import { answered, consuming, sessionOf, titled, titlesOf, until } from "../../support/engine/engine-kit.js";
import { accept, type ContractTest, contractTest, other } from "./contract-test.js";

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
        [first?.schema_version, first?.session_key, first?.source, first?.metadata.instance_id],
        ["1.0", sessionOf, "agent", engine.nodeId],
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
      const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 10 });
      assert.deepEqual(
        events.map(({ timestamp }) => timestamp),
        ["2026-01-01T00:00:09.000Z", "2026-01-01T00:00:09.000Z"],
      );
    },
    { now: fallingClock(Date.parse("2026-01-01T00:00:10.000Z")) },
  ),

  timesTest("also where events that are never stored lie between them", [1, 9, 9, 9, 9, 9], async (engine, at) => {
    at(1);
    await engine.append(sessionOf, [titled("1")], { durable: false });
    at(9);
    await engine.announce(sessionOf, delta("a"));
    at(3);
    await engine.announce(sessionOf, delta("b"));
    at(5);
    await engine.append(sessionOf, [titled("2")], { durable: true });
    at(2);
    await engine.announce(sessionOf, delta("c"));
    await engine.append(sessionOf, [titled("3")], { durable: false });
  }),

  timesTest("and where a delivery stores and publishes them", [4, 8, 8, 8, 8], async (engine, at) => {
    at(4);
    await accept(engine, "msg_1");
    const consumer = consuming(engine, "inbound", async (delivery) => {
      at(8);
      delivery.publish(delta("a"));
      at(5);
      await delivery.append([titled("1")], { durable: false });
      delivery.publish(delta("b"));
      at(1);
      await delivery.commit({ events: [answered(["msg_1"])], emit: [] });
    });
    await until("it is answered", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
  }),

  contractTest(
    "publishes what is never stored behind the stored events before it, without a seq",
    async (engine, published) => {
      const storing = engine.append(sessionOf, [titled("stored")], { durable: true });
      await Promise.all([engine.announce(sessionOf, { ...delta("hello"), delta_index: 4 }), storing]);
      assert.deepEqual(
        published.map(({ type, seq, after_seq, delta_index }) => [type, seq, after_seq, delta_index]),
        [
          ["session_title_generated", 1, undefined, undefined],
          ["text_delta", null, 1, 4],
        ],
      );
      assert.equal(await engine.lastSequence(sessionOf), 1);
    },
  ),

  contractTest("a delivery publishes what is never stored between what it stores", async (engine, published) => {
    await accept(engine, "msg_1");
    const consumer = consuming(engine, "inbound", async (delivery) => {
      delivery.publish(delta("before"));
      const appended = delivery.append([titled("stored")], { durable: true });
      delivery.publish(delta("after"));
      await appended;
      await delivery.commit({ events: [answered(["msg_1"])], emit: [] });
    });
    await until("it is answered", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    assert.deepEqual(
      published.map(({ type, session_key, seq, after_seq }) => [type, session_key, seq ?? `after ${after_seq}`]),
      [
        ["user_message_queued", sessionOf, 1],
        ["text_delta", sessionOf, "after 1"],
        ["session_title_generated", sessionOf, 2],
        ["text_delta", sessionOf, "after 2"],
        ["turn_execution_complete", sessionOf, 3],
      ],
    );
  }),

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

function delta(text: string): EventDraft {
  return draft("text_delta", { message_id: "m", text }, { source: "agent" });
}

/** `run` sets the clock, in seconds. `expected`: the times of what is published. */
function timesTest(
  title: string,
  expected: readonly number[],
  run: (engine: Engine, at: (seconds: number) => void) => Promise<void>,
): ContractTest {
  const clock = { seconds: 0 };
  return contractTest(
    `a time that goes back leaves the session's times in order, ${title}`,
    async (engine, published) => {
      await run(engine, (seconds) => {
        clock.seconds = seconds;
      });
      const times = published.filter(({ session_key }) => session_key === sessionOf).map(({ timestamp }) => timestamp);
      assert.deepEqual(
        times.map((time) => new Date(time).getUTCSeconds()),
        expected,
      );
    },
    { now: () => Date.parse("2026-01-01T00:00:00.000Z") + 1000 * clock.seconds },
  );
}
