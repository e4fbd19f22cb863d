import { setTimeout as delay } from "node:timers/promises";
import { postgresModules } from "../../../test/support/postgres/postgres-kit.js";
import { openSql } from "../../../test/support/postgres/sql.js";
import type { MeasuredServer } from "./server.js";
import { at, type Table, twoDigits } from "./table.js";

const writers = 10;
const seconds = 8;

/** Commits that are told to somebody who listens, beside the same commits that are told to nobody. */
export async function benchNotify(server: MeasuredServer, wanted: number): Promise<Table> {
  await server.sql.rows("CREATE TABLE bench_notify (n bigint GENERATED ALWAYS AS IDENTITY, body text)");
  const rows: string[][] = [];
  for (const isTold of [false, true, false, true]) rows.push(await measure(server, wanted, isTold));
  const head = [
    "commits",
    "asked for, /s",
    "done, /s",
    "p50 until seen, ms",
    "p99, ms",
    "CPU of Postgres a commit, ms",
  ];
  return { head, rows };
}

async function measure(server: MeasuredServer, wanted: number, isTold: boolean): Promise<string[]> {
  const { pg } = await postgresModules();
  const listener = new pg.Client({ connectionString: server.url });
  const waits: number[] = [];
  await listener.connect();
  listener.on("notification", ({ payload }) => waits.push(performance.now() - Number(payload)));
  await listener.query("LISTEN bench_notify");
  const clients = await Promise.all(Array.from({ length: writers }, () => openSql(server.url)));
  const text = `INSERT INTO bench_notify (body) VALUES (repeat('x', 600))${isTold ? " RETURNING pg_notify('bench_notify', $1)" : " RETURNING $1::text"}`;
  const before = await server.counters();
  const beganAt = performance.now();
  let done = 0;
  await Promise.all(
    clients.map(async (client) => {
      for (let n = 0; performance.now() - beganAt < seconds * 1000; n += 1) {
        // Each at its time, or at once when it is late.
        const dueAt = beganAt + (n * writers * 1000) / wanted;
        if (dueAt > performance.now()) await delay(dueAt - performance.now());
        await client.rows(text, [`${performance.now()}`]);
        done += 1;
      }
    }),
  );
  const took = (performance.now() - beganAt) / 1000;
  await delay(200);
  const { cpuMs } = await server.counters();
  for (const client of clients) await client[Symbol.asyncDispose]();
  await listener.end();
  waits.sort((a, b) => a - b);
  const seen = isTold ? [at(waits, 0.5).toFixed(1), at(waits, 0.99).toFixed(1)] : ["", ""];
  const what = isTold ? `with NOTIFY (${waits.length} of ${done} seen)` : "without";
  return [what, `${wanted}`, (done / took).toFixed(0), ...seen, twoDigits((cpuMs - before.cpuMs) / done)];
}
