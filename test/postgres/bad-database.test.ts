import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { EngineError } from "../../src/errors.js";
import { answered, consuming, inbound, queued, titled, until } from "../support/engine/engine-kit.js";
import { fillUp, makeRoom, smallDisk } from "../support/engine/small-disk.js";
import { freePort } from "../support/fakes/network/free-port.js";
import { startServer } from "../support/fakes/storage-servers.js";
import { openNode, postgresModules, quickTiming, urlOf } from "../support/postgres/postgres-kit.js";
import { openSql } from "../support/postgres/sql.js";
import { withoutProgram, withoutSmallDisk } from "../support/worlds/needs.js";

const timing = { ...quickTiming, claimMs: 4000, renewMs: 300, leaseMs: 2000 };
const pooler = "pgbouncer";
const never = new AbortController().signal;

test("a full disk of the database refuses messages with that reason, and what was accepted goes on when there is room", {
  skip: withoutSmallDisk(),
}, async (t) => {
  const disk = smallDisk(t, "160m");
  chmodSync(disk, 0o755);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = disk;
  const starting = startServer("postgres");
  process.env.TMPDIR = before ?? "/tmp";
  await using server = await starting;
  const { engine } = await openNode(urlOf(server.port), "full_disk", { timing });
  try {
    await engine.accept(inbound("before"), { events: [queued("before")] });
    fillUp(disk, 0);
    const accepted: string[] = [];
    const fill = async (): Promise<never> => {
      for (let n = 0; ; n += 1) {
        const text = randomBytes(20_000).toString("base64");
        await engine.accept(inbound(`more ${n}`, `telegram:${n}`), { events: [titled(text)] });
        accepted.push(`more ${n}`);
      }
    };
    await assert.rejects(
      fill(),
      (error) => error instanceof EngineError && error.retryable && /disk of the database is full/.test(error.message),
    );
    const { writable, reason } = engine.status();
    assert.equal(writable, false);
    assert.match(reason ?? "", /disk of the database is full/);
    makeRoom(disk);
    await until("it takes writes again", () => engine.status().writable);
    await engine.accept(inbound("after"), { events: [queued("after")] });
    const done: string[] = [];
    const consumer = consuming(engine, "inbound", async (delivery) => {
      await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
      done.push(delivery.work.id);
    });
    await until("all are done", () => done.length === accepted.length + 2);
    assert.deepEqual(done.sort(), ["after", "before", ...accepted].sort());
    await consumer.stop();
  } finally {
    await engine[Symbol.asyncDispose]();
  }
});

/** A PgBouncer that gives a connection of the server for one transaction. */
async function startBouncer(port: number): Promise<{ readonly url: string } & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-bouncer-"));
  chmodSync(folder, 0o777);
  const own = await freePort();
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${port} dbname=postgres user=maxclaw
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 200
unix_socket_dir =
`,
  );
  const asUser = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
  const child = spawn(pooler, [...asUser, file], { stdio: "ignore" });
  const ended = once(child, "exit");
  return {
    url: urlOf(own),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test("two nodes behind PgBouncer in transaction mode work by looking: in order, once, with leases and records", {
  skip: withoutProgram(pooler),
}, async () => {
  await using server = await startServer("postgres");
  await using bouncer = await startBouncer(server.port);
  const { pg } = await postgresModules();
  await until("the pooler answers", async () => {
    const client = new pg.Client({ connectionString: bouncer.url });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("SELECT 1");
      return true;
    } catch {
      return false;
    } finally {
      await client.end();
    }
  });
  const a = await openNode(bouncer.url, "pooled", { timing });
  const b = await openNode(bouncer.url, "pooled", { timing });
  try {
    const view = await b.engine.records.open("pairing");
    await (await a.engine.records.open("pairing")).put("a", 1);
    const done: string[] = [];
    const consumers = [a, b].map(({ engine }) =>
      consuming(engine, "inbound", async (delivery) => {
        done.push(delivery.work.id);
        await delivery.append([titled(delivery.work.id)], { durable: true });
        await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
      }),
    );
    const ids = Array.from({ length: 12 }, (_, n) => `msg_${n}`);
    for (const [n, id] of ids.entries())
      await (n % 2 === 0 ? a : b).engine.accept(inbound(id), { events: [queued(id)] });
    await until("all are done", () => done.length === ids.length, 30_000);
    assert.deepEqual(done, ids);
    await until("the other node has the record", () => view.get("a") === 1);
    // Each message is told, worked on and answered.
    for (const { published } of [a, b]) {
      await until("it shows all of it", () => published.filter(({ seq }) => seq !== null).length >= 3 * ids.length);
      const seqs = published.flatMap(({ seq }) => seq ?? []);
      assert.deepEqual(
        seqs,
        seqs.map((_, index) => index + 1),
      );
    }
    const lease = await a.engine.lease("bot", never);
    const waiting = b.engine.lease("bot", never);
    await lease[Symbol.asyncDispose]();
    await (await waiting)[Symbol.asyncDispose]();
    for (const { stop } of consumers) await stop();
    // Whoever gets one of its connections next finds nothing of ours there.
    const look = async (): Promise<unknown> => {
      await using sql = await openSql(bouncer.url);
      return await sql.rows(
        `SELECT name FROM pg_prepared_statements WHERE name LIKE 'maxclaw%' UNION ALL SELECT name FROM pg_settings
           WHERE (name, setting) IN (('enable_seqscan', 'off'), ('jit', 'off')) UNION ALL SELECT NULL FROM pg_sleep(0.1) WHERE false`,
      );
    };
    for (const found of await Promise.all(Array.from({ length: 30 }, look))) assert.deepEqual(found, []);
  } finally {
    await Promise.all([a, b].map(({ engine }) => engine[Symbol.asyncDispose]()));
  }
});
