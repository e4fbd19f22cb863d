import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Delivery } from "../../src/engine/engine.js";
import { draft, type GatewayEvent, isDeletion } from "../../src/events/event.js";
import { answered, consuming, gate, inbound, queued, sessionOf, titled, until } from "../support/engine/engine-kit.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { startNode } from "../support/postgres/node-process.js";
import { type OpenedNode, openNode, quickTiming, urlOf } from "../support/postgres/postgres-kit.js";
import { openSql } from "../support/postgres/sql.js";

let server: StorageServer | undefined;
before(async () => {
  server = await startServer("postgres");
});
after(() => server?.[Symbol.asyncDispose]());

const url = (): string => urlOf(server?.port ?? 0);
/** What lapses, lapses soon. */
const timing = { ...quickTiming, claimMs: 2000, renewMs: 300, leaseMs: 2000 };
const never = new AbortController().signal;
const isStored = ({ seq }: GatewayEvent): boolean => seq !== null;
const timesOf = (value: unknown): number =>
  typeof value === "object" && value !== null && "times" in value ? Number(value.times) : 0;

async function twoNodes(schema: string): Promise<{ a: OpenedNode; b: OpenedNode } & AsyncDisposable> {
  const a = await openNode(url(), schema, { timing });
  const b = await openNode(url(), schema, { timing });
  return {
    a,
    b,
    async [Symbol.asyncDispose]() {
      await Promise.all([a.engine[Symbol.asyncDispose](), b.engine[Symbol.asyncDispose]()]);
    },
  };
}

function assertOnceInOrder(published: readonly GatewayEvent[], lasts: Readonly<Record<string, number>>): void {
  for (const [session, last] of Object.entries(lasts)) {
    const seqs = published.filter((event) => event.session_key === session && isStored(event)).map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      Array.from({ length: last }, (_, n) => n + 1),
      session,
    );
  }
}

test("every node publishes the events of all nodes, each once and in order", async () => {
  await using nodes = await twoNodes("viewers");
  const { a, b } = nodes;
  const sessions = ["telegram:1", "telegram:2", "telegram:3"];
  const writing = [a, b].flatMap(({ engine }, node) =>
    sessions.map(async (session) => {
      for (let n = 0; n < 20; n += 1) {
        await engine.append(session, [titled(`${node} ${n}`), titled("and")], { durable: n % 2 === 0 });
        if (n % 5 === 0) await engine.announce(session, delta("x"));
      }
    }),
  );
  await Promise.all(writing);
  const lasts = Object.fromEntries(sessions.map((session) => [session, 80]));
  for (const { published } of [a, b]) {
    await until("all are there", () => published.filter(isStored).length >= 240);
    assertOnceInOrder(published, lasts);
    let last = 0;
    for (const event of published.filter(({ session_key: key }) => key === "telegram:1")) {
      const at = event.seq ?? event.after_seq ?? -1;
      assert.ok(at >= last, "what is never stored keeps its place, too");
      last = at;
    }
  }
  assert.deepEqual(
    a.published.filter(({ session_key: key, seq }) => key === "telegram:1" && seq !== null),
    b.published.filter(({ session_key: key, seq }) => key === "telegram:1" && seq !== null),
  );
});

test("pieces of an answer come to the other nodes, however long they are, and few times", async () => {
  await using nodes = await twoNodes("pieces");
  const { a, b } = nodes;
  await a.engine.append(sessionOf, [titled("begin")], { durable: true });
  for (let n = 0; n < 200; n += 1) await a.engine.announce(sessionOf, delta("é"));
  await a.engine.announce(sessionOf, delta("😀".repeat(20_000)));
  const textOf = (event: GatewayEvent): string => (event.type === "text_delta" ? event.payload.text : "");
  const wanted = "é".repeat(200) + "😀".repeat(20_000);
  await until("all of it is there", () => b.published.map(textOf).join("").length >= wanted.length);
  assert.equal(b.published.map(textOf).join(""), wanted);
  assert.ok(b.published.filter(({ seq }) => seq === null).length < 100, "they were joined");
});

test("a record that two nodes change at once keeps both changes, and one of two gets what there is once", async () => {
  await using nodes = await twoNodes("records");
  const views = await Promise.all([nodes.a, nodes.b].map(({ engine }) => engine.records.open("counter")));
  const add = (value: unknown) => ({ times: timesOf(value) + 1 });
  await Promise.all(views.flatMap((view) => Array.from({ length: 30 }, () => view.update("a", add))));
  for (const view of views) await until("both see the sum", () => timesOf(view.get("a")) === 60, 2000);
  for (let round = 0; round < 10; round += 1) {
    await views[0]?.put(`code ${round}`, { free: true });
    const got: number[] = [];
    await Promise.all(
      views.map(async (view, who) => {
        let isMine = false;
        await view.update(`code ${round}`, (value) => {
          isMine = value !== undefined;
          return undefined;
        });
        if (isMine) got.push(who);
      }),
    );
    assert.equal(got.length, 1, `round ${round}: ${got.join()}`);
  }
});

test("two nodes share the lanes: each message once, each lane in order", async () => {
  await using nodes = await twoNodes("shared");
  const handled: string[] = [];
  const atWork = new Set<string>();
  const by = [0, 0];
  const consumers = [nodes.a, nodes.b].map(({ engine }, node) =>
    consuming(engine, "inbound", async (delivery: Delivery<"inbound">) => {
      const { id, key } = delivery.work;
      assert.ok(!atWork.has(key), `${key} is at work already`);
      atWork.add(key);
      by[node] = (by[node] ?? 0) + 1;
      await delivery.append([titled(id)], { durable: false });
      handled.push(id);
      atWork.delete(key);
      await delivery.commit({ events: [answered([id])], emit: [] });
    }),
  );
  const ids = Array.from({ length: 80 }, (_, n) => `msg_${String(n).padStart(2, "0")}`);
  for (const [n, id] of ids.entries()) {
    const { engine } = n % 2 === 0 ? nodes.a : nodes.b;
    await engine.accept(inbound(id, `telegram:${n % 8}`), { events: [queued(id)] });
  }
  await until("all are done", () => handled.length === 80);
  for (const { stop } of consumers) await stop();
  for (let lane = 0; lane < 8; lane += 1) {
    const isMine = (id: string): boolean => Number(id.slice(4)) % 8 === lane;
    assert.deepEqual(handled.filter(isMine), ids.filter(isMine));
  }
  assert.ok((by[0] ?? 0) > 0 && (by[1] ?? 0) > 0, by.join());
  for (const { engine } of [nodes.a, nodes.b])
    await until("both count nothing", () => engine.status().inboundWaiting === 0, 2000);
});

test("who begins with a message has seen everything that its session has so far, whichever node stored it", async () => {
  await using nodes = await twoNodes("seen");
  const session = "telegram:seen";
  let stored = 0;
  const behind: string[] = [];
  const by = [0, 0];
  const consumers = [nodes.a, nodes.b].map(({ engine, published }, node) =>
    consuming(engine, "inbound", async (delivery) => {
      const seen = published.findLast(isStored)?.seq ?? 0;
      by[node] = (by[node] ?? 0) + 1;
      if (seen < stored) behind.push(`${delivery.work.id}: ${seen} of ${stored}`);
      await delivery.append([titled("and"), titled("so on")], { durable: true });
      const events = await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
      stored = events.at(-1)?.seq ?? stored;
    }),
  );
  const ids = Array.from({ length: 60 }, (_, n) => `msg_${n}`);
  for (const id of ids) await nodes.a.engine.accept(inbound(id, session), { events: [] });
  await until("all are done", async () => (await nodes.a.engine.waiting("inbound", session)).length === 0);
  for (const { stop } of consumers) await stop();
  assert.ok((by[0] ?? 0) > 0 && (by[1] ?? 0) > 0, by.join());
  assert.deepEqual(behind, []);
});

test("the same message that two nodes accept at once is accepted once", async () => {
  await using nodes = await twoNodes("twice");
  for (let n = 0; n < 10; n += 1) {
    const outcomes = await Promise.all(
      [nodes.a, nodes.b].map(({ engine }, node) =>
        engine.accept(inbound(`msg ${n} ${node}`, sessionOf, { dedupId: `d:${n}` }), { events: [] }),
      ),
    );
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["accepted", "duplicate"]);
  }
});

test("a delivery sees what another node accepts in its lane, and ends when another node deletes its session", async () => {
  await using nodes = await twoNodes("across");
  const heard = gate();
  const begun = gate();
  let failure: unknown;
  const consumer = consuming(nodes.a.engine, "inbound", async (delivery, signal) => {
    delivery.onAccepted(({ id }) => {
      if (id === "stop it") heard.open();
    });
    begun.open();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    failure = await delivery.commit({ events: [], emit: [] }).catch((error: unknown) => error);
  });
  await nodes.b.engine.accept(inbound("first"), { events: [queued("first")] });
  await begun.opened;
  await nodes.b.engine.accept(inbound("stop it"), { events: [queued("stop it")] });
  await heard.opened;
  await nodes.b.engine.deleteSession(sessionOf);
  await until("the handler was stopped", () => failure !== undefined);
  assert.match(String(failure), /has ended/);
  await consumer.stop();
});

test("a deletion is told once, and before the next life of its session, however late its word comes", async () => {
  await using nodes = await twoNodes("deleted");
  const { a, b } = nodes;
  const told = ({ published }: OpenedNode): readonly unknown[] =>
    published.flatMap((event): unknown[] => (isDeletion(event) ? ["deleted"] : isStored(event) ? [event.seq] : []));
  await a.engine.append(sessionOf, [titled("one"), titled("two")], { durable: true });
  await until("both have the old life", () => [a, b].every((node) => told(node).length === 2));
  const begun = gate();
  const mayEnd = gate();
  const attempts: number[] = [];
  const consumer = consuming(b.engine, "inbound", async (delivery) => {
    attempts.push(delivery.attempt);
    begun.open();
    await mayEnd.opened;
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
  });
  await a.engine.deleteSession(sessionOf);
  await b.engine.accept(inbound("next"), { events: [queued("next")] });
  await begun.opened;
  const gone = draft(
    "session_state_changed",
    { from: "active", to: "deleted", reason: "client" },
    { source: "client" },
  );
  await a.engine.announce(sessionOf, gone);
  // What an older deletion tells late does not end the next life's work.
  await using sql = await openSql(url());
  await sql.rows("SELECT pg_notify('maxclaw_deleted', $1)", [JSON.stringify({ n: "other", d: sessionOf, b: 1 })]);
  await a.engine.announce(sessionOf, delta("the end"));
  await until("the word has come", () => b.published.some((event) => JSON.stringify(event).includes("the end")));
  mayEnd.open();
  const all = [1, 2, "deleted", 3, 4];
  await until("both have the next life", () => [a, b].every((node) => told(node).length >= all.length));
  for (const node of [a, b]) assert.deepEqual(told(node), all);
  assert.deepEqual(attempts, [1]);

  // As by a node of which no notification arrives.
  await sql.rows("UPDATE deleted.sessions SET deleted = seq, xid = pg_current_xact_id() WHERE key = $1", [sessionOf]);
  await until("both have seen it", () => [a, b].every((node) => told(node).length > all.length));
  await b.engine.append(sessionOf, [titled("again")], { durable: true });
  await until("both have the third life", () => [a, b].every((node) => told(node).length > all.length + 1));
  for (const node of [a, b]) assert.deepEqual(told(node), [...all, "deleted", 5]);
  await consumer.stop();
});

test("a lease that is given up goes to the other node at once", async () => {
  await using nodes = await twoNodes("leases");
  const first = await nodes.a.engine.lease("bot", never);
  const waiting = nodes.b.engine.lease("bot", never);
  const beganAt = performance.now();
  await first[Symbol.asyncDispose]();
  const second = await waiting;
  assert.ok(second.epoch > first.epoch);
  assert.ok(performance.now() - beganAt < 1000);
  await second[Symbol.asyncDispose]();
});

test("what a killed node had in work, and its lease, go to another one, in order", async () => {
  await using killed = startNode(url(), "killed", timing);
  await killed.told("leased");
  await using other = await disposable(openNode(url(), "killed", { timing }));
  for (const id of ["first", "second"])
    await other.engine.accept(work(id, id === "first" ? 60_000 : 0), { events: [queued(id)] });
  await killed.told("begun", "first");
  const lease = other.engine.lease("poller", never);
  await killed.told("published");
  killed.signal("SIGKILL");
  const killedAt = performance.now();
  const handled: string[] = [];
  const consumer = consuming(other.engine, "inbound", async (delivery) => {
    handled.push(`${delivery.work.id}#${delivery.attempt}`);
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
  });
  await until("both are done", () => handled.length === 2);
  const tookMs = performance.now() - killedAt;
  assert.deepEqual(handled, ["first#2", "second#1"]);
  assert.ok(tookMs < timing.claimMs + 3000, `${tookMs} ms`);
  assert.ok((await lease).epoch > 1);
  await consumer.stop();
});

test("a node that stood still stores nothing any more when it goes on", async () => {
  await using zombie = startNode(url(), "zombie", timing);
  await zombie.told("leased");
  await using other = await disposable(openNode(url(), "zombie", { timing }));
  await other.engine.accept(work("first", 500), { events: [queued("first")] });
  await zombie.told("begun", "first");
  zombie.signal("SIGSTOP");
  const attempts: number[] = [];
  const consumer = consuming(other.engine, "inbound", async (delivery) => {
    attempts.push(delivery.attempt);
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
  });
  const lease = await other.engine.lease("poller", never);
  await until("the other one has answered", () => other.engine.status().inboundWaiting === 0);
  zombie.signal("SIGCONT");
  const failed = await zombie.told("failed", "first");
  assert.equal(failed.kind, "fenced");
  await zombie.told("lostLease");
  assert.ok(!lease.lost.aborted);
  await consumer.stop();
  assert.deepEqual(attempts, [2]);
  const { events } = await other.engine.events(sessionOf, { afterSeq: 0, limit: 100 });
  assert.equal(events.filter(({ type }) => type === "turn_execution_complete").length, 1);
  assert.equal(other.engine.status().outboundWaiting, 0, "the reply of the zombie was not stored");
});

test("a node that is told to stop hands over within a second, and the attempt does not count", async () => {
  await using leaving = startNode(url(), "leaving", { ...timing, claimMs: 30_000 });
  await leaving.told("leased");
  await using other = await disposable(openNode(url(), "leaving", { timing: { ...timing, claimMs: 30_000 } }));
  await other.engine.accept(work("first", 700), { events: [queued("first")] });
  await leaving.told("begun", "first");
  const attempts: number[] = [];
  const consumer = consuming(other.engine, "inbound", async (delivery) => {
    attempts.push(delivery.attempt);
    await delivery.commit({ events: [], emit: [] });
  });
  leaving.signal("SIGTERM");
  await leaving.told("closed");
  const closedAt = performance.now();
  await until("the other one has it", () => attempts.length === 1);
  assert.ok(performance.now() - closedAt < 1000);
  assert.deepEqual(attempts, [1]);
  await consumer.stop();
});

function delta(text: string) {
  return draft("text_delta", { message_id: "m", text }, { source: "agent" });
}

function work(id: string, ms: number) {
  const plain = inbound(id);
  return { ...plain, body: { ...plain.body, content: `${ms} ms` } };
}

async function disposable(opening: Promise<OpenedNode>): Promise<OpenedNode & AsyncDisposable> {
  const opened = await opening;
  return { ...opened, [Symbol.asyncDispose]: () => opened.engine[Symbol.asyncDispose]() };
}
