import type { StorageServer } from "../../support/fakes/storage-servers.js";
import { urlOf } from "../../support/postgres/postgres-kit.js";
import { openSql } from "../../support/postgres/sql.js";
import { schemaOf } from "../postgres.js";
import type { SweepEngine } from "../sweep.js";
import type { Nursery } from "../world/child-process.js";
import { type ClusterRow, ClusterSweep, type DatabaseServer, type Trouble } from "./cluster-sweep.js";
import { describeDatabase } from "./database-state.js";

export interface ClusterRun {
  readonly engine: SweepEngine;
  readonly nursery: Nursery;
  readonly server: StorageServer;
  readonly nodes: number;
  readonly random: () => number;
}

/** A world goes on from one trouble to the next for so long. */
const perWorld = 6;

export function databaseOf(server: StorageServer): DatabaseServer {
  return {
    port: server.port,
    pause: server.pause,
    resume: server.resume,
    async crash() {
      await server.kill();
      await server.start();
    },
    async terminate() {
      await using sql = await openSql(urlOf(server.port));
      await sql.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'maxclaw'");
    },
    async describe(root) {
      await using sql = await openSql(urlOf(server.port));
      return await describeDatabase(sql, schemaOf(root));
    },
  };
}

/** Brings about each of them, `onRow` with what each has cost by now. @throws when a promise is broken */
export async function runTroubles(
  { engine, nursery, server, nodes, random }: ClusterRun,
  troubles: readonly Trouble[],
  onDone: (trouble: Trouble) => void,
): Promise<readonly ClusterRow[]> {
  const rows: ClusterRow[] = [];
  for (let first = 0; first < troubles.length; first += perWorld) {
    await using sweep = await ClusterSweep.open(engine, nursery, nodes, { database: databaseOf(server), random });
    for (const trouble of troubles.slice(first, first + perWorld)) {
      await sweep.run(trouble);
      onDone(trouble);
    }
    await sweep.finish();
    rows.push(...sweep.rows);
  }
  return rows;
}
