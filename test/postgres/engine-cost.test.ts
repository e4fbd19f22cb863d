import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Delivery } from "../../src/engine/engine.js";
import { openSource } from "../../src/engine/postgres/moving/open.js";
import { silentLog } from "../../src/log.js";
import { answered, consuming, gate, inbound, outbound, queued, titled, until } from "../support/engine/engine-kit.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { openNode, postgresModules, quickTiming, urlOf } from "../support/postgres/postgres-kit.js";
import { openSql } from "../support/postgres/sql.js";

let server: StorageServer | undefined;
before(async () => {
  const settings = ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_planning=on"];
  server = await startServer(
    "postgres",
    settings.flatMap((setting) => ["-c", setting]),
  );
});
after(() => server?.[Symbol.asyncDispose]());

const url = (): string => urlOf(server?.port ?? 0);
/** Nobody looks by the clock for what may be there. */
const unhurried = { ...quickTiming, pollMs: 60_000 };

test("a message takes a statement for each thing that happens to it, and the database makes up its mind about few of them", async () => {
  const { engine } = await openNode(url(), "cost", { timing: unhurried });
  await using sql = await openSql(url());
  await sql.rows("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
  let done = 0;
  const consumers = [
    consuming(engine, "inbound", async (delivery) => {
      const { id, sessionKey } = delivery.work;
      await delivery.append([titled(`begun ${id}`)], { durable: true });
      assert.deepEqual(await delivery.waiting(), []);
      await delivery.commit({ events: [answered([id])], emit: [outbound(`reply ${id}`, sessionKey, sessionKey)] });
    }),
    consuming(engine, "outbound", async (delivery) => {
      await delivery.commit({ events: [titled(`sent ${delivery.work.id}`)], emit: [] });
      done += 1;
    }),
  ];
  const send = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 1) {
      await engine.accept(inbound(`${n}`, `telegram:${n}`), { events: [queued(`${n}`)] });
      await until("it is answered", () => done > n);
    }
  };
  try {
    // Each connection makes its plans.
    await send(0, 150);
    await sql.rows("SELECT pg_stat_statements_reset()");
    await send(150, 200);
    const [cost] = await sql.rows(
      `SELECT sum(calls)::float8 / 50 AS statements, sum(plans)::float8 / 50 AS plans FROM pg_stat_statements
       WHERE query !~ 'pg_stat_statements|INTO cost.nodes|FOR KEY SHARE|heartbeat_on'`,
    );
    // Four accept it, two claim it and what it becomes, and whatever is stored for it is one.
    assert.ok(Number(cost?.statements) < 9.5, `${cost?.statements} statements a message`);
    assert.ok(Number(cost?.plans) < 4, `${cost?.plans} plans a message`);
  } finally {
    for (const { stop } of consumers) await stop();
    await engine[Symbol.asyncDispose]();
  }
});

test("a node notifies while another one is there, and saves it while it is alone", async () => {
  const { pg } = await postgresModules();
  const told: string[] = [];
  const ear = new pg.Client({ connectionString: url() });
  ear.on("notification", ({ payload = "" }) => told.push(payload));
  await ear.connect();
  await ear.query("LISTEN maxclaw_alone");
  const first = await openNode(url(), "alone", { timing: unhurried });
  const isTold = (key: string): boolean => told.some((payload) => payload.includes(key));
  try {
    let tries = 0;
    await until("it knows that it is alone", async () => {
      tries += 1;
      const key = `telegram:try-${tries}`;
      await first.engine.append(key, [titled("1")], { durable: true });
      // What is told comes in the order of its commits.
      await ear.query("NOTIFY maxclaw_alone, 'heard'");
      await until("all is heard", () => told.at(-1) === "heard");
      return !isTold(key);
    });
    const second = await openNode(url(), "alone", { timing: unhurried });
    await until("the first one knows of the second", async () => {
      await first.engine.append("telegram:both", [titled("2")], { durable: true });
      return isTold("telegram:both");
    });
    await second.engine[Symbol.asyncDispose]();
  } finally {
    await first.engine[Symbol.asyncDispose]();
    await ear.end();
  }
});

test("no message waits for the next look: neither behind others of its lane, nor for a free place, nor from another node", async () => {
  const nodes = [
    await openNode(url(), "news", { timing: unhurried }),
    await openNode(url(), "news", { timing: unhurried }),
  ];
  const done: string[] = [];
  const work = async (delivery: Delivery<"inbound">): Promise<void> => {
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
    done.push(delivery.work.id);
  };
  const send = (from: number, to: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: to - from }, (_, n) =>
        nodes[n % 2]?.engine.accept(inbound(`${from + n}`, `telegram:${n % 7}`), { events: [] }),
      ),
    );
  await send(0, 30);
  const { engine } = nodes[0] ?? assert.fail();
  try {
    // Less places than lanes, and more.
    for (const [round, parallel] of [2, 8].entries()) {
      const consumer = consuming(engine, "inbound", work, { parallel, maxAttempts: 3 });
      await until("what was there before is done", () => done.length === 60 * round + 30);
      await send(60 * round + 30, 60 * round + 60);
      await until("what came meanwhile is done", () => done.length === 60 * round + 60);
      await consumer.stop();
      await send(60 * round + 60, 60 * round + 90);
    }
  } finally {
    for (const node of nodes) await node.engine[Symbol.asyncDispose]();
  }
});

for (const isCut of [false, true])
  test(`a turn sees what another node accepted into its lane${isCut ? " while it could not be told" : ""}`, async () => {
    const schema = `lane_${isCut}`;
    const here = await openNode(url(), schema, { timing: unhurried });
    const there = await openNode(url(), schema, { timing: unhurried });
    await using sql = await openSql(url());
    const listening = `FROM pg_stat_activity WHERE query = 'LISTEN "maxclaw_${schema}"'`;
    const begun = gate();
    const mayEnd = gate();
    const consumer = consuming(here.engine, "inbound", async (delivery) => {
      if (delivery.work.id === "first") {
        begun.open();
        await mayEnd.opened;
        const sees = async () => (await delivery.waiting()).some(({ id }) => id === "second");
        await until("it sees the other one", sees);
      }
      await delivery.commit({ events: [], emit: [] });
    });
    try {
      await here.engine.accept(inbound("first"), { events: [queued("first")] });
      await begun.opened;
      if (isCut) await sql.rows(`SELECT pg_terminate_backend(pid) ${listening}`);
      await there.engine.accept(inbound("second"), { events: [queued("second")] });
      // It hears again, and what was told meanwhile is not told once more.
      const isTold = async (): Promise<boolean> => {
        await there.engine.announce("telegram:other", titled("heard"));
        return here.published.some((event) => event.session_key === "telegram:other");
      };
      await until("it is told again", isTold);
      mayEnd.open();
      await until("both are done", () => here.engine.status().inboundWaiting === 0);
    } finally {
      mayEnd.open();
      await consumer.stop();
      for (const { engine } of [here, there]) await engine[Symbol.asyncDispose]();
    }
  });

const once = (add: number) => [{ kind: "usage", id: "day", add: { turns: add } }];

test("a session that counts does not wait for another one whose transaction is open", async () => {
  const { engine } = await openNode(url(), "counts_wait");
  const sql = await openSql(url());
  try {
    const usage = await engine.records.open("usage");
    await engine.append("telegram:1", [titled("first")], { durable: true, counts: once(1) });
    await sql.rows("BEGIN");
    const held = await sql.rows("SELECT 1 FROM counts_wait.records WHERE id = 'day' FOR UPDATE");
    assert.equal(held.length, 1);
    const others = Array.from({ length: 20 }, (_, n) =>
      engine.append(`telegram:${n + 2}`, [titled("more")], { durable: true, counts: once(1) }),
    );
    // A few of them count in the row that is held; their connections are held, too.
    let stored = 0;
    for (const other of others) void other.then(() => (stored += 1));
    await until("most sessions have counted", () => stored >= 12);
    await sql.rows("COMMIT");
    await Promise.all(others);
    assert.deepEqual(usage.get("day"), { turns: 21 });
  } finally {
    await sql[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  }
});

test("what many sessions count on two nodes is one record, which can be replaced and deleted", async () => {
  const nodes = [await openNode(url(), "counts_sum"), await openNode(url(), "counts_sum")];
  try {
    const views = await Promise.all(nodes.map(({ engine }) => engine.records.open("usage")));
    const sees = (turns: number): Promise<void> =>
      until(`both nodes see ${turns}`, () =>
        views.every((view) => JSON.stringify(view.get("day")) === `{"turns":${turns}}`),
      );
    await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        nodes[n % 2]?.engine.append(`telegram:${n}`, [titled(`${n}`)], { durable: true, counts: once(2) }),
      ),
    );
    await sees(120);
    assert.deepEqual(views[0]?.list(), [{ id: "day", value: { turns: 120 } }]);
    const [first, second] = views;
    await first?.update("day", (value) => ({ ...Object(value), turns: Object(value).turns + 1 }));
    await sees(121);
    await nodes[1]?.engine.append("telegram:3", [titled("again")], { durable: true, counts: once(9) });
    await sees(130);
    await second?.put("day", { turns: 5 });
    await sees(5);
    await nodes[0]?.engine.append("telegram:4", [titled("again")], { durable: true, counts: once(1) });
    await sees(6);
    await second?.delete("day");
    await until("both have none", () =>
      views.every((view) => view.get("day") === undefined && view.list().length === 0),
    );
    await nodes[0]?.engine.append("telegram:5", [titled("again")], { durable: true, counts: once(3) });
    await sees(3);
    await nodes[1]?.engine.append("telegram:6", [titled("again")], { durable: true, counts: once(4) });
  } finally {
    for (const { engine } of nodes) await engine[Symbol.asyncDispose]();
  }
  const moving = {
    modules: await postgresModules(),
    url: url(),
    schema: "counts_sum",
    id: "home",
    home: "/home/x",
    log: silentLog,
  };
  const { source } = await openSource({ ...moving, isTrial: true }, new AbortController().signal);
  await using opened = source;
  assert.deepEqual((await opened.state()).records, [{ kind: "usage", id: "day", value: { turns: 7 } }]);
});
