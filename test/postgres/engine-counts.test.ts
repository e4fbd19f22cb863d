import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openSource } from "../../src/engine/postgres/moving/open.js";
import { silentLog } from "../../src/log.js";
import { titled, until } from "../support/engine/engine-kit.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { openNode, postgresModules, urlOf } from "../support/postgres/postgres-kit.js";
import { openSql } from "../support/postgres/sql.js";

let server: StorageServer | undefined;
before(async () => {
  server = await startServer("postgres");
});
after(() => server?.[Symbol.asyncDispose]());

const url = (): string => urlOf(server?.port ?? 0);
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
