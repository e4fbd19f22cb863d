import { readdirSync, readFileSync } from "node:fs";
import { startServer } from "../../../test/support/fakes/storage-servers.js";
import { urlOf } from "../../../test/support/postgres/postgres-kit.js";
import { openSql, type Sql } from "../../../test/support/postgres/sql.js";

/** What a server has done since it started. Times are of processors, in ms, and of no clock. */
interface Counters {
  readonly cpuMs: number;
  readonly statements: number;
  readonly commits: number;
  readonly walBytes: number;
  readonly rows: number;
}

/** A PostgreSQL that syncs as one does in work, and counts what it does. */
export interface MeasuredServer extends AsyncDisposable {
  readonly url: string;
  readonly sql: Sql;
  counters(): Promise<Counters>;
  /** Shares of the time of all statements since the last call, the longest first. */
  dearest(count: number): Promise<readonly Statement[]>;
}

export interface Statement {
  readonly text: string;
  readonly calls: number;
  readonly ms: number;
  /** The part of it in which the server made up its mind. */
  readonly planMs: number;
}

const settings = {
  fsync: "on",
  shared_buffers: "512MB",
  max_wal_size: "4GB",
  max_connections: "120",
  // Made data comes faster than messages do.
  autovacuum_naptime: "10s",
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track_planning": "on",
};

export async function startMeasuredServer(): Promise<MeasuredServer> {
  const server = await startServer(
    "postgres",
    Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  );
  const url = urlOf(server.port);
  const sql = await openSql(url);
  await sql.rows("CREATE EXTENSION pg_stat_statements");
  const [row] = await sql.rows("SELECT pg_backend_pid() AS pid");
  const postmaster = parentOf(Number(row?.pid));
  return {
    url,
    sql,
    async counters() {
      // What a backend has counted is seen by others once it is idle for a moment.
      await sql.rows("SELECT pg_stat_force_next_flush()").catch(() => undefined);
      const [counted] = await sql.rows(
        `SELECT (SELECT sum(calls)::float8 FROM pg_stat_statements) AS statements,
           (SELECT sum(rows)::float8 FROM pg_stat_statements) AS rows,
           (SELECT sum(xact_commit)::float8 FROM pg_stat_database) AS commits,
           (SELECT wal_bytes::float8 FROM pg_stat_wal) AS wal`,
      );
      return {
        cpuMs: serverCpuMs(postmaster),
        statements: Number(counted?.statements),
        commits: Number(counted?.commits),
        walBytes: Number(counted?.wal),
        rows: Number(counted?.rows),
      };
    },
    async dearest(count) {
      const rows = await sql.rows(
        `SELECT query, calls::float8, total_exec_time + total_plan_time AS ms, total_plan_time AS plan FROM pg_stat_statements
         WHERE query NOT LIKE '%pg_stat%' ORDER BY ms DESC LIMIT $1`,
        [count],
      );
      await sql.rows("SELECT pg_stat_statements_reset()");
      return rows.map(({ query, calls, ms, plan }) => ({
        text: String(query).replaceAll(/\s+/g, " ").trim(),
        calls: Number(calls),
        ms: Number(ms),
        planMs: Number(plan),
      }));
    },
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** User and system time of a process, and with `withEnded` of its children that have ended. */
export function cpuMsOf(pid: number, withEnded = false): number {
  const [utime = 0, stime = 0, cutime = 0, cstime = 0] = statOf(pid).slice(11).map(Number);
  // Linux counts in hundredths of a second here, on every machine.
  return 10 * (utime + stime + (withEnded ? cutime + cstime : 0));
}

/** The fields behind the name, which may have blanks in it. */
function statOf(pid: number): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function parentOf(pid: number): number {
  return Number(statOf(pid)[1]);
}

/** The server has a process for each connection; those that are gone count with the first one. */
function serverCpuMs(postmaster: number): number {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const children = pids.filter((pid) => {
    try {
      return parentOf(pid) === postmaster;
    } catch {
      return false;
    }
  });
  const own = children.map((pid) => {
    try {
      return cpuMsOf(pid);
    } catch {
      return 0;
    }
  });
  return cpuMsOf(postmaster, true) + own.reduce((sum, ms) => sum + ms, 0);
}
