import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { PgModule } from "../../src/engine/postgres/modules.js";
import { Database } from "../../src/engine/postgres/sql/database.js";
import { EngineError } from "../../src/errors.js";
import {
  answered,
  consuming,
  gate,
  inbound,
  outbound,
  queued,
  sessionOf,
  titled,
  until,
} from "../support/engine/engine-kit.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { type OpenedNode, openNode, postgresModules, quickTiming, urlOf } from "../support/postgres/postgres-kit.js";

let server: StorageServer;
let pg: PgModule;
before(async () => {
  server = await startServer("postgres");
  ({ pg } = await postgresModules());
});
after(() => server[Symbol.asyncDispose]());

const url = (): string => urlOf(server.port);
const timing = { ...quickTiming, claimMs: 4000, renewMs: 300, leaseMs: 2000, graceMs: 1500 };
const never = new AbortController().signal;
const isFault = (pattern: RegExp) => (error: unknown) =>
  error instanceof EngineError && ["persistence", "corrupt"].includes(error.kind) && pattern.test(error.message);

async function disposable(opening: Promise<OpenedNode>): Promise<OpenedNode & AsyncDisposable> {
  const opened = await opening;
  return { ...opened, [Symbol.asyncDispose]: () => opened.engine[Symbol.asyncDispose]() };
}

/** Statements of somebody else. */
async function ask(text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url() });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test("goes on with everything after the database was away, and says so while it is", async () => {
  await using node = await disposable(openNode(url(), "restart", { timing }));
  await using other = await disposable(openNode(url(), "restart", { timing }));
  const begun = gate();
  const goOn = gate();
  const outcomes: string[] = [];
  const consumer = consuming(node.engine, "inbound", async (delivery) => {
    const { id } = delivery.work;
    begun.open();
    await goOn.opened;
    outcomes.push(`${id}#${delivery.attempt}`);
    await delivery.commit({ events: [answered([id])], emit: [] });
  });
  await node.engine.accept(inbound("first"), { events: [queued("first")] });
  await begun.opened;
  const records = await node.engine.records.open("pairing");
  await records.put("a", 1);
  await server.kill();
  await assert.rejects(
    node.engine.accept(inbound("lost"), { events: [queued("lost")] }),
    (error) => error instanceof EngineError && error.kind === "persistence" && error.retryable,
  );
  const { writable, reason } = node.engine.status();
  assert.deepEqual([writable, typeof reason], [false, "string"]);
  assert.deepEqual(records.get("a"), 1, "what is open can be read");
  await server.start();
  await until("it takes writes again", () => node.engine.status().writable);
  await node.engine.accept(inbound("second"), { events: [queued("second")] });
  goOn.open();
  await until("both are done", () => outcomes.length >= 2);
  assert.deepEqual(outcomes, ["first#1", "second#1"], "what was in work goes on, and nothing was begun twice");
  await other.engine.append(sessionOf, [titled("from the other one")], { durable: true });
  await until("both see everything", () => [node, other].every(({ published }) => published.at(-1)?.seq === 5));
  for (const { published } of [node, other])
    assert.deepEqual(
      published.map(({ seq }) => seq),
      [1, 2, 3, 4, 5],
    );
  await consumer.stop();
});

test("a message that comes while the database is started again is accepted once it is back", async () => {
  await using node = await disposable(openNode(url(), "moment", { timing }));
  await node.engine.accept(inbound("first"), { events: [queued("first")] });
  await server.kill();
  const taken = ["second", "third"].map((id) => node.engine.accept(inbound(id), { events: [queued(id)] }));
  await until("it is noticed", () => !node.engine.status().writable);
  await server.start();
  assert.deepEqual(
    (await Promise.all(taken)).map(({ status }) => status),
    ["accepted", "accepted"],
  );
  assert.equal(node.engine.status().inboundWaiting, 3);
  await server.kill();
  const cut = node.engine.accept(inbound("fourth"), { events: [queued("fourth")] });
  const beganAt = performance.now();
  void node.engine[Symbol.asyncDispose]();
  await assert.rejects(cut, EngineError, "a stop does not wait for it");
  assert.ok(performance.now() - beganAt < 2500);
  await server.start();
});

test("a commit that the database did not answer is stored once", async () => {
  await using node = await disposable(openNode(url(), "cut", { timing }));
  const attempts: number[] = [];
  const consumer = consuming(node.engine, "inbound", async (delivery) => {
    attempts.push(delivery.attempt);
    // All connections, also the one that the commit goes over.
    if (attempts.length === 1)
      void ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'maxclaw'");
    await delivery.append([titled(`attempt ${attempts.length}`)], { durable: true });
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [outbound("reply")] });
  });
  await node.engine.accept(inbound("first"), { events: [queued("first")] });
  await until("it is done", () => node.engine.status().inboundWaiting === 0);
  await consumer.stop();
  const { events } = await node.engine.events(sessionOf, { afterSeq: 0, limit: 100 });
  assert.equal(events.filter(({ type }) => type === "turn_execution_complete").length, 1);
  await until("there is one reply", () => node.engine.status().outboundWaiting === 1);
  assert.deepEqual(
    node.published.filter(({ seq }) => seq !== null).map(({ seq }) => seq),
    events.map(({ seq }) => seq),
  );
});

test("a database that stands still for a while loses nobody's work and moves no lease by itself", async () => {
  await using node = await disposable(openNode(url(), "stall", { timing }));
  await using other = await disposable(openNode(url(), "stall", { timing }));
  const begun = gate();
  const goOn = gate();
  const attempts: number[] = [];
  const handler = async (delivery: Parameters<Parameters<typeof consuming<"inbound">>[2]>[0]): Promise<void> => {
    attempts.push(delivery.attempt);
    begun.open();
    await goOn.opened;
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
  };
  const consumers = [node, other].map(({ engine }) => consuming(engine, "inbound", handler));
  await node.engine.accept(inbound("first"), { events: [queued("first")] });
  await begun.opened;
  const lease = await node.engine.lease("bot", never);
  server.pause();
  const accepting = node.engine.accept(inbound("second"), { events: [queued("second")] });
  await until("its holder has given the lease up by its own clock", () => lease.lost.aborted);
  server.resume();
  assert.equal((await accepting).status, "accepted");
  const again = await other.engine.lease("bot", never);
  assert.ok(again.epoch > lease.epoch);
  await again[Symbol.asyncDispose]();
  goOn.open();
  await until("both are done", () => attempts.length === 2 && node.engine.status().inboundWaiting === 0);
  assert.deepEqual(attempts, [1, 1]);
  for (const { stop } of consumers) await stop();
});

test("a message that a node was about to store when it stood still is stored once it goes on, and nobody is told of a fault", async () => {
  const claimMs = 400;
  // Twice as long as the database waits for the next word in a transaction.
  const still = new Int32Array(new SharedArrayBuffer(4));
  let stops = 0;
  const onBoundary = (name: string): void => {
    if (name === "accept:before-sync" && stops++ === 0) Atomics.wait(still, 0, 0, claimMs);
  };
  await using node = await disposable(openNode(url(), "late", { timing: { ...timing, claimMs }, onBoundary }));
  const { status } = await node.engine.accept(inbound("first"), { events: [queued("first")] });
  assert.deepEqual([status, stops], ["accepted", 2]);
  const waiting = await node.engine.waiting("inbound", sessionOf);
  assert.deepEqual(
    waiting.map(({ id }) => id),
    ["first"],
  );
  await until("it is published once", () => node.published.length === 1);
});

test("a node that stood still behind what it has stored does not go on with what another one may do by now", async () => {
  const claimMs = 1500;
  const still = new Int32Array(new SharedArrayBuffer(4));
  let stops = 0;
  const onBoundary = (name: string): void => {
    if (name === "append:after-write" && stops++ === 0) Atomics.wait(still, 0, 0, claimMs);
  };
  await using node = await disposable(openNode(url(), "zombie", { timing: { ...timing, claimMs }, onBoundary }));
  const outcomes: string[] = [];
  const consumer = consuming(node.engine, "inbound", async (delivery) => {
    const stored = delivery.append([titled("about to send")], { durable: true });
    outcomes.push(
      await stored.then(
        () => "sent",
        (error: unknown) => String(Object(error).kind),
      ),
    );
    await stored;
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
  });
  await node.engine.accept(inbound("first"), { events: [queued("first")] });
  await until("it is done", () => outcomes.includes("sent"));
  assert.deepEqual(outcomes, ["fenced", "sent"]);
  await consumer.stop();
});

test("a transaction that the database ended before its commit was sent is done again", async () => {
  const changes: boolean[] = [];
  const onChange = (isWritable: boolean): number => changes.push(isWritable);
  const database = new Database({ pg, url: url(), schema: "public", connections: 1, idleMs: 100, onChange });
  let tries = 0;
  const pid = await database.transaction(async (tx) => {
    tries += 1;
    const [row] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    if (tries > 1) return row?.pid;
    await ask(`SELECT pg_terminate_backend(${row?.pid})`);
    await until("it has ended", async () => {
      const left = await ask(`SELECT 1 FROM pg_stat_activity WHERE pid = ${row?.pid}`);
      return left.length === 0;
    });
    return row?.pid;
  });
  assert.equal(typeof pid, "number");
  assert.deepEqual([tries, changes], [2, []]);
  await database.close();
});

test("a node that cannot renew its claims ends its turns by its own clock, and what nobody took goes on", async () => {
  await using node = await disposable(openNode(url(), "lapse", { timing: { ...timing, claimMs: 1500 } }));
  const begun = gate();
  const ends: unknown[] = [];
  const consumer = consuming(node.engine, "inbound", async (delivery, signal) => {
    if (delivery.attempt === 1 && ends.length === 0) {
      begun.open();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      ends.push(signal.reason);
      throw signal.reason;
    }
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
    ends.push(delivery.attempt);
  });
  await node.engine.accept(inbound("first"), { events: [queued("first")] });
  await begun.opened;
  server.pause();
  await until("its turn was told to stop", () => ends.length === 1);
  server.resume();
  await until("it is done", () => ends.length === 2);
  assert.ok(ends[0] instanceof EngineError && ends[0].kind === "fenced");
  assert.equal(ends[1], 1, "it did not count");
  assert.ok(
    node.log.lines.some(({ message }) => message.includes("is begun again")),
    "and its operator reads why",
  );
  await consumer.stop();
});

test("a claim that could not be renewed is given up when it lapses, and not only when the next renewal is due", async () => {
  const slow = { ...timing, claimMs: 3000, renewMs: 2900 };
  await using node = await disposable(openNode(url(), "lapse_soon", { timing: slow }));
  const ended = gate();
  const begun = gate();
  const consumer = consuming(node.engine, "inbound", async (_delivery, signal) => {
    begun.open();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    ended.open();
    throw signal.reason;
  });
  await node.engine.accept(inbound("first"), { events: [queued("first")] });
  await begun.opened;
  const begunAt = performance.now();
  server.pause();
  await ended.opened;
  server.resume();
  const tookMs = performance.now() - begunAt;
  assert.ok(tookMs < slow.claimMs + 1500, `${tookMs} ms`);
  await consumer.stop();
});

test("works without notifications, as behind a pooler, within half a second or so", async () => {
  const modules = await postgresModules();
  class Deaf extends modules.pg.Client {
    override async query(text: string, values?: readonly unknown[]) {
      return text.startsWith("LISTEN") ? { rows: [] } : await super.query(text, values);
    }
  }
  const deaf = { timing, modules: { ...modules, pg: { Pool: modules.pg.Pool, Client: Deaf } } };
  await using node = await disposable(openNode(url(), "deaf", deaf));
  await using other = await disposable(openNode(url(), "deaf", deaf));
  const view = await other.engine.records.open("pairing");
  await (await node.engine.records.open("pairing")).put("a", 1);
  const done: string[] = [];
  const consumer = consuming(other.engine, "inbound", async (delivery) => {
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
    done.push(delivery.work.id);
  });
  const beganAt = performance.now();
  await node.engine.accept(inbound("first"), { events: [queued("first")] });
  await until("the other one has done it", () => done.length === 1);
  await until("this one shows it", () => node.published.length === 2);
  assert.equal(view.get("a"), 1);
  assert.ok(performance.now() - beganAt < 2000);
  const lease = await node.engine.lease("bot", never);
  const waiting = other.engine.lease("bot", never);
  await lease[Symbol.asyncDispose]();
  await (await waiting)[Symbol.asyncDispose]();
  await consumer.stop();
});

test("refuses by name what it cannot work on", async () => {
  const first = await openNode(url(), "names", { timing });
  const { clusterId } = first.engine;
  await first.engine[Symbol.asyncDispose]();
  const again = await openNode(url(), "names", { timing, clusterId });
  assert.equal(again.engine.clusterId, clusterId);
  await again.engine[Symbol.asyncDispose]();
  const other = "6f0e5f3e-0000-4000-8000-000000000000";
  await assert.rejects(
    openNode(url(), "names", { clusterId: other }),
    isFault(/belongs to the cluster .* schema of its own/),
  );
  await ask("UPDATE names.cluster SET version = 99");
  await assert.rejects(openNode(url(), "names"), isFault(/version 99, made by a newer maxclaw/));
  await assert.rejects(openNode(url(), "Wrong-Name"), isFault(/small letters/));
  await assert.rejects(openNode(url(), "order"), isFault(/a word of SQL/));
  await assert.rejects(
    openNode("postgresql://maxclaw@127.0.0.1:1/postgres", "x"),
    isFault(/nothing answers at the address/),
  );
  await assert.rejects(openNode(url().replace(/postgres$/, "nowhere"), "x"), isFault(/no database of this name/));
  await assert.rejects(openNode(url().replace("maxclaw@", "stranger@"), "x"), isFault(/does not let this user in/));
  await ask("CREATE ROLE guest LOGIN");
  await assert.rejects(openNode(url().replace("maxclaw@", "guest@"), "x"), isFault(/has no right to do this/));
  await ask("ALTER ROLE guest CONNECTION LIMIT 0");
  await assert.rejects(openNode(url().replace("maxclaw@", "guest@"), "x"), isFault(/no more connections/));
  await assert.rejects(openNode(`${url()}?sslmode=verify-full`, "x"), isFault(/does not take encrypted connections/));
});

test("nodes that start at the same moment on an empty schema all come up", async () => {
  const nodes = await Promise.all([1, 2, 3].map(() => openNode(url(), "together", { timing })));
  assert.equal(new Set(nodes.map(({ engine }) => engine.clusterId)).size, 1);
  await Promise.all(nodes.map(({ engine }) => engine[Symbol.asyncDispose]()));
});

test("what no database can hold is one message's fault", async () => {
  await using node = await disposable(openNode(url(), "odd_values", { timing }));
  const ids = ["good-1", "bad\u0000", "good-2"];
  const outcomes = await Promise.allSettled(ids.map((id) => node.engine.accept(inbound(id), { events: [] })));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  const odd = { ...inbound("odd"), body: { ...inbound("odd").body, content: "a\u0000b \ud800 c" } };
  assert.equal((await node.engine.accept(odd, { events: [titled("x\u0000y")] })).status, "accepted");
  assert.equal((await node.engine.waiting("inbound", sessionOf)).at(-1)?.body.content, "a\u0000b \ud800 c");
});

test("work that has ended five processes may only be buried, and suspects run one at a time", async () => {
  await using node = await disposable(openNode(url(), "suspects", { timing }));
  const ids = ["fatal", "nearly-1", "nearly-2", "long", "fresh"];
  for (const id of ids) await node.engine.accept(inbound(id, `telegram:${id}`), { events: [] });
  // As nodes leave it that were killed.
  const left = (id: string, points: number, lived: string) =>
    ask(`UPDATE suspects.work SET node = 'gone', attempts = ${points + 1}, crashes = ${points}, points = ${points},
      began_at = now() - interval '1 hour' - interval '${lived}' WHERE id LIKE '${id}%'`);
  await ask("INSERT INTO suspects.nodes (id, since, seen) VALUES ('gone', now(), now() - interval '1 hour')");
  await left("fatal", 4, "1 s");
  await left("nearly", 3, "1 s");
  await left("long", 4, "2 minutes");
  const exhausted: string[] = [];
  const seen = new Map<string, number>();
  let suspects = 0;
  const consumer = consuming(
    node.engine,
    "inbound",
    async (delivery) => {
      const { id } = delivery.work;
      seen.set(id, delivery.attempt);
      if (id.startsWith("nearly")) assert.equal(++suspects, 1, "one at a time");
      await delivery.append([titled(id)], { durable: true });
      if (id.startsWith("nearly")) suspects -= 1;
      if (!delivery.exhausted) return void (await delivery.commit({ events: [], emit: [] }));
      exhausted.push(id);
      await delivery.bury({ events: [], emit: [], reason: "it ends the process" });
    },
    { parallel: 8, maxAttempts: 2 },
  );
  await until("all are done", () => node.engine.status().inboundWaiting === 0);
  await consumer.stop();
  assert.deepEqual(exhausted, ["fatal"], "who lived on for long is not to blame, and crashes are not failures");
  assert.deepEqual([seen.get("fatal"), seen.get("nearly-1"), seen.get("fresh")], [6, 5, 1]);
});
