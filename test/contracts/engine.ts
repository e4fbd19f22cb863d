import assert from "node:assert/strict";
import { test } from "node:test";
import type { Delivery, Engine } from "../../src/engine/engine.js";
import { EngineError } from "../../src/errors.js";
import { draft, type GatewayEvent } from "../../src/events/event.js";
import {
  answered,
  consuming,
  gate,
  inbound,
  outbound,
  queued,
  sessionOf,
  titled,
  titlesOf,
  until,
} from "../support/engine/engine-kit.js";

export interface ContractOptions {
  readonly limits?: {
    readonly acceptsWaiting?: number;
    readonly pendingPerKey?: number;
    readonly waitMs?: number;
  };
  readonly now?: () => number;
}

/** An engine with what it has published so far. The same storage opened again holds the same work. */
export type OpenEngine = (
  storage: string,
  options?: ContractOptions,
) => Promise<{ engine: Engine; published: readonly GatewayEvent[] }>;

const other = "telegram:99";

function isError(kind: EngineError["kind"]) {
  return (error: unknown) => error instanceof EngineError && error.kind === kind;
}

/** What every engine promises. */
export function testEngineContract(name: string, open: OpenEngine): void {
  let storages = 0;
  const engineTest = (
    title: string,
    run: (engine: Engine, published: readonly GatewayEvent[], reopen: () => Promise<Engine>) => Promise<void>,
    options?: ContractOptions,
  ): void => {
    test(`${name}: ${title}`, async () => {
      storages += 1;
      const storage = `storage-${storages}`;
      let { engine, published } = await open(storage, options);
      try {
        await run(engine, published, async () => {
          await engine[Symbol.asyncDispose]();
          ({ engine, published } = await open(storage, options));
          return engine;
        });
      } finally {
        await engine[Symbol.asyncDispose]();
      }
    });
  };

  const accept = (engine: Engine, id: string, key = sessionOf) =>
    engine.accept(inbound(id, key), { events: [queued(id)] });

  // Accepting

  engineTest("stores an accepted message with its event and hands it out", async (engine, published) => {
    const acceptance = await accept(engine, "msg_1");
    assert.equal(acceptance.status, "accepted");
    assert.deepEqual(acceptance.status === "accepted" && acceptance.events.map(({ seq }) => seq), [1]);
    assert.deepEqual(
      published.map(({ type, seq }) => [type, seq]),
      [["user_message_queued", 1]],
    );
    assert.deepEqual(
      engine.waiting("inbound", sessionOf).map(({ id, attempts }) => [id, attempts]),
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
  });

  engineTest("takes the same id or the same dedup id for a duplicate and stores nothing of it", async (engine) => {
    const first = inbound("msg_1", sessionOf, { dedupId: "telegram:bot:900" });
    await engine.accept(first, { events: [queued("msg_1")] });
    assert.deepEqual(await engine.accept(first, { events: [queued("msg_1")] }), { status: "duplicate" });
    const again = inbound("msg_2", sessionOf, { dedupId: "telegram:bot:900" });
    const cursor = { name: "telegram:offset", value: "901" };
    assert.deepEqual(await engine.accept(again, { events: [queued("msg_2")], cursor }), { status: "duplicate" });
    assert.equal(await engine.lastSequence(sessionOf), 1);
    assert.equal(engine.cursor("telegram:offset"), undefined);
    assert.equal(engine.status().inboundWaiting, 1);
  });

  engineTest("knows a duplicate after the work is done and after a restart", async (engine, _published, reopen) => {
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
  });

  engineTest("accepts in the order of the calls, over all lanes", async (engine, published) => {
    const ids = Array.from({ length: 40 }, (_, n) => `msg_${n}`);
    await Promise.all(ids.map((id, n) => accept(engine, id, n % 2 === 0 ? sessionOf : other)));
    assert.deepEqual(
      engine.waiting("inbound", sessionOf).map(({ id }) => id),
      ids.filter((_, n) => n % 2 === 0),
    );
    const mine = published.filter(({ session_key }) => session_key === other);
    assert.deepEqual(
      mine.map(({ seq }) => seq),
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
  });

  engineTest("moves the cursor with the work and keeps it", async (engine, _published, reopen) => {
    await engine.accept(inbound("msg_1"), { events: [], cursor: { name: "telegram:offset", value: "17" } });
    assert.equal(engine.cursor("telegram:offset"), "17");
    assert.equal((await reopen()).cursor("telegram:offset"), "17");
  });

  engineTest(
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
  );

  engineTest("a lane holds so many bytes, and the lanes together, but a hundred pieces of any", async (engine) => {
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
  });

  engineTest("what is refused stays refused, over a restart as well", async (engine, _published, reopen) => {
    const work = inbound("a", sessionOf, { dedupId: "d:1" });
    assert.equal(await engine.refuse(work, { name: "telegram:offset", value: "18" }), true);
    assert.equal(await engine.refuse({ ...work, id: "c" }), false, "it is known");
    assert.equal(engine.status().inboundWaiting, 0);
    const again = await reopen();
    assert.equal((await again.accept({ ...work, id: "b" }, { events: [queued("b")] })).status, "duplicate");
    assert.deepEqual([again.status().inboundWaiting, await again.lastSequence(sessionOf)], [0, 0]);
    assert.equal(again.cursor("telegram:offset"), "18");
  });

  engineTest(
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
  );

  engineTest("names the lanes in which much is waiting, and what holds them up", async (engine) => {
    for (const id of ["a", "b", "c"]) await accept(engine, id);
    await accept(engine, "d", other);
    const seen = () => engine.longLanes(2).map(({ key, waiting, state }) => [key, waiting, state]);
    assert.deepEqual(seen(), [[sessionOf, 3, "waits"]]);
    const done = gate();
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await done.opened;
      await delivery.commit({ events: [], emit: [] });
    });
    await until("the first one works", () => seen()[0]?.[2] === "works");
    done.open();
    await until("all are done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
  });

  engineTest(
    "tells a listener of each piece of inbound work of its session, and no more once undone",
    async (engine) => {
      const heard: string[] = [];
      const undo = engine.onAccepted(sessionOf, (work) => {
        heard.push(work.body.content);
        assert.ok(engine.waiting("inbound", sessionOf).some(({ id }) => id === work.id));
      });
      await accept(engine, "msg_1");
      await accept(engine, "msg_2", other);
      undo();
      await accept(engine, "msg_3");
      assert.deepEqual(heard, ["text of msg_1"]);
    },
  );

  // Lanes

  engineTest("runs a lane strictly in order, one at a time, and the lanes side by side", async (engine) => {
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
  });

  engineTest(
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
  );

  engineTest("a stuck lane holds up no other", async (engine) => {
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
  });

  engineTest("a retried delivery keeps its place and comes with the next number", async (engine, published) => {
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
  });

  engineTest("a wait before the next attempt survives a restart", async (engine, _published, reopen) => {
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
  });

  engineTest("a released delivery is not counted", async (engine) => {
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
  });

  engineTest("a handler that ends without an end while stopping gives its work back uncounted", async (engine) => {
    const started = gate();
    const consumer = consuming(engine, "inbound", async (_delivery, signal) => {
      started.open();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    });
    await accept(engine, "msg_1");
    await started.opened;
    await consumer.stop();
    assert.deepEqual(
      engine.waiting("inbound", sessionOf).map(({ attempts }) => attempts),
      [0],
    );
  });

  engineTest(
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
        engine.dead.list().map(({ work, reason }) => [work.id, reason]),
        [["poison", "boom"]],
      );
      assert.deepEqual(
        engine.waiting("outbound", "telegram:42").map(({ id }) => id),
        ["told"],
      );
    },
  );

  engineTest(
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
      await until("it is buried", () => engine.dead.list().length === 1);
      await consumer.stop();
      const [told] = published.filter(({ type }) => type === "error_occurred");
      assert.equal(told?.correlation_id, "poison");
      assert.equal(engine.status().inboundWaiting, 0);
    },
  );

  engineTest("work for the other queue is available from the commit on, and only from then", async (engine) => {
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
  });

  engineTest("goes on with one consumer when another one stops", async (engine) => {
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
  });

  engineTest("work that is appended with events is handed out once, at once and not with the end", async (engine) => {
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
  });

  engineTest("a pausing delivery leaves its place to others and takes one again, its lane waits", async (engine) => {
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
    const attemptsOf = () => engine.waiting("inbound", sessionOf)[0]?.attempts;
    await until("the other lane runs", () => log.includes("b1 begins"));
    assert.equal(attemptsOf(), 0, "a crash would not count");
    waiting.open();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(log, ["a1 begins", "b1 begins"], "the only place is taken");
    busy.open();
    await until("it goes on and counts again", () => attemptsOf() === 1 || log.length > 4);
    await until("all are done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    assert.deepEqual(log, ["a1 begins", "b1 begins", "b1 ends", "a1 ends", "a2 begins", "a2 ends"]);
  });

  engineTest("a consumer that stops waits for handlers that pause, and gives them no place", async (engine) => {
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
      engine.waiting("inbound", sessionOf).map(({ attempts }) => attempts),
      [0],
    );
  });

  // One attempt

  engineTest("claimed work is acknowledged by the same commit", async (engine) => {
    const handled: string[][] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      if (delivery.work.id === "a")
        await until("the others wait", () => engine.waiting("inbound", sessionOf).length === 3);
      const claimed = await delivery.claim(["c", "nobody", delivery.work.id]);
      handled.push([delivery.work.id, ...claimed.map(({ id }) => id)]);
      await delivery.commit({ events: [], emit: [] });
    });
    for (const id of ["a", "b", "c"]) await accept(engine, id);
    await until("all are done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    assert.deepEqual(handled, [["a", "c"], ["b"]]);
  });

  engineTest("claimed work waits again in its old place when the attempt ends without a commit", async (engine) => {
    const handled: string[] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      if (delivery.work.id === "a" && delivery.attempt === 1) {
        await until("the others wait", () => engine.waiting("inbound", sessionOf).length === 3);
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
  });

  engineTest("an attempt that has ended can store nothing more", async (engine) => {
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
    assert.equal(await engine.lastSequence(sessionOf), 1);
  });

  engineTest("a commit that cannot be stored changes nothing at all", async (engine) => {
    let failure: unknown;
    const consumer = consuming(engine, "inbound", async (delivery) => {
      if (failure === undefined) {
        const never = draft("text_delta", { message_id: "m", text: "x" }, { source: "agent" });
        failure = await delivery
          .commit({ events: [titled("x"), never], emit: [outbound("r")] })
          .catch((error: unknown) => error);
        assert.deepEqual([await engine.lastSequence(sessionOf), engine.status().outboundWaiting], [1, 0]);
        assert.equal(engine.waiting("inbound", sessionOf).length, 1);
      }
      await delivery.commit({ events: [titled("y")], emit: [outbound("r")] });
    });
    await accept(engine, "msg_1");
    await until("it is done", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    assert.ok(failure instanceof Error);
    const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 10 });
    assert.deepEqual([titlesOf(events), engine.status().outboundWaiting], [["y"], 1]);
  });

  // Events

  engineTest(
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
  );

  engineTest("takes the same event id for the same event, and answers with the stored one", async (engine) => {
    const one = titled("one");
    const [stored] = await engine.append(sessionOf, [one], { durable: true });
    const again = await engine.append(sessionOf, [titled("two"), one, one], { durable: false });
    assert.deepEqual(
      again.map(({ seq }) => seq),
      [2, 1, 1],
    );
    assert.deepEqual(again[1], stored);
    assert.equal(await engine.lastSequence(sessionOf), 2);
  });

  engineTest(
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
  );

  engineTest(
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
  );

  engineTest("reads ranges, and says exactly whether there is more", async (engine, _published, reopen) => {
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
  });

  // What lasts

  engineTest("goes on after a restart with the same work, events and numbers", async (engine, _published, reopen) => {
    await accept(engine, "msg_1");
    await accept(engine, "msg_2");
    await engine.append(sessionOf, [titled("a title")], { durable: false });
    const reopened = await reopen();
    assert.deepEqual(
      reopened.waiting("inbound", sessionOf).map(({ id }) => id),
      ["msg_1", "msg_2"],
    );
    const [event] = await reopened.append(sessionOf, [titled("later")], { durable: true });
    assert.equal(event?.seq, 4);
    const { events } = await reopened.events(sessionOf, { afterSeq: 0, limit: 10 });
    assert.deepEqual(
      events.map(({ seq }) => seq),
      [1, 2, 3, 4],
    );
  });

  engineTest("keeps records by kind and id", async (engine, _published, reopen) => {
    const pairing = engine.records("pairing");
    await pairing.put("AB12", { sender: "7" });
    await pairing.put("CD34", { sender: "8" });
    await engine.records("approval").put("AB12", true);
    await pairing.delete("CD34");
    await pairing.delete("unknown");
    const reopened = await reopen();
    assert.deepEqual(reopened.records("pairing").get("AB12"), { sender: "7" });
    assert.deepEqual(reopened.records("pairing").list(), [{ id: "AB12", value: { sender: "7" } }]);
    assert.equal(reopened.records("pairing").get("CD34"), undefined);
    assert.equal(reopened.records("approval").get("AB12"), true);
  });

  engineTest("adds counts together with their events, once, and keeps the sums", async (engine, _published, reopen) => {
    const add = (times: number, usd: number) => [{ kind: "usage", id: "day", add: { times, usd } }];
    const sum = (current: Engine) => current.records("usage").get("day");
    await engine.append(sessionOf, [titled("a"), titled("b")], {
      durable: true,
      counts: [...add(1, 0.5), ...add(2, 0)],
    });
    assert.deepEqual(sum(engine), { times: 3, usd: 0.5 });
    const again = titled("c");
    await engine.append(sessionOf, [again], { durable: false, counts: add(1, 0.25) });
    await engine.append(sessionOf, [again], { durable: false, counts: add(1, 0.25) });
    await engine.append(other, [], { durable: false, counts: add(100, 100) });
    assert.deepEqual(sum(engine), { times: 4, usd: 0.75 });
    await accept(engine, "msg_1");
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await delivery.append([titled("d")], { durable: false, counts: add(1, 0) });
      await delivery.commit({ events: [answered(["msg_1"])], emit: [], counts: add(1, 1) });
    });
    await until("it is answered", () => engine.status().inboundWaiting === 0);
    await consumer.stop();
    const reopened = await reopen();
    assert.deepEqual(sum(reopened), { times: 6, usd: 1.75 });
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        reopened.append(`telegram:${n}`, [titled("e")], { durable: n % 2 === 0, counts: add(1, 0) }),
      ),
    );
    assert.deepEqual(sum(reopened), { times: 26, usd: 1.75 });
  });

  engineTest("dead letters can be sent on their way again or dropped", async (engine, _published, reopen) => {
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
      reopened.dead.list().map(({ work, reason }) => [work.id, work.attempts, reason]),
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
    assert.deepEqual(reopened.dead.list(), []);
    assert.deepEqual(
      reopened.waiting("inbound", sessionOf).map(({ id, attempts }) => [id, attempts]),
      [
        ["c", 0],
        ["a", 0],
      ],
    );
  });

  engineTest(
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
      assert.deepEqual(engine.waiting("inbound", sessionOf), []);
      assert.deepEqual(
        engine.waiting("outbound", "telegram:42").map(({ id }) => id),
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
  );

  engineTest("a running delivery of a deleted session is told to stop and can store nothing", async (engine) => {
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
  });

  engineTest("refuses by name once it is closed", async (engine) => {
    await engine[Symbol.asyncDispose]();
    await assert.rejects(accept(engine, "msg_1"), isError("closed"));
    await assert.rejects(engine.append(sessionOf, [titled("x")], { durable: false }), isError("closed"));
    await assert.rejects(
      engine.consume("inbound", { parallel: 1, maxAttempts: 1 }, async () => {}, new AbortController().signal),
      isError("closed"),
    );
  });
}

/** Each reading is a second before the last. */
function fallingClock(start: number): () => number {
  let time = start;
  return () => {
    time -= 1000;
    return time;
  };
}
