import { randomUUID } from "node:crypto";
import { EngineError } from "../../../errors.js";
import type { Database, Transaction } from "./database.js";
import { versions } from "./schema.js";

/** @throws {EngineError} `corrupt` */
export function assertSchemaName(schema: string): void {
  if (/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) return;
  throw new EngineError(`"${schema}" cannot be the schema: use small letters, digits and _, 40 at most`, {
    kind: "corrupt",
  });
}

interface Cluster {
  readonly id: string;
  readonly version: number;
}

const prepare = `
  CREATE TABLE IF NOT EXISTS @cluster (id uuid NOT NULL, version integer NOT NULL, one boolean PRIMARY KEY DEFAULT true CHECK (one))
`;

/**
 * Brings the tables to the version of this program, each step in a transaction. Nodes that start together wait for each other.
 * Gives the id of the cluster that the schema belongs to.
 *
 * @throws {EngineError} `corrupt`: the schema is of a newer program, or of another cluster; `persistence`
 */
export async function migrate(
  database: Database,
  { schema, clusterId }: { readonly schema: string; readonly clusterId?: string | undefined },
): Promise<string> {
  for (;;) {
    const { id, version } = await database.transaction((tx) => step(tx, { schema, clusterId }));
    if (version === versions.length) return id;
  }
}

async function step(
  tx: Transaction,
  { schema, clusterId }: { readonly schema: string; readonly clusterId?: string | undefined },
): Promise<Cluster> {
  await tx.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 15))", [`maxclaw ${schema}`]);
  const [keyword] = await tx.query("SELECT 1 FROM pg_get_keywords() WHERE word = $1 AND catcode <> 'U'", [schema]);
  if (keyword !== undefined)
    throw new EngineError(`"${schema}" cannot be the schema: it is a word of SQL`, { kind: "corrupt" });
  const [there] = await tx.query<{ found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [
    `${schema}.cluster`,
  ]);
  if (there?.found !== true) {
    const [known] = await tx.query<{ found: boolean }>("SELECT to_regnamespace($1) IS NOT NULL AS found", [schema]);
    if (known?.found !== true) await tx.query(`CREATE SCHEMA ${schema}`);
    await tx.query(prepare);
  }
  const [cluster] = await tx.query<Cluster>("SELECT id, version FROM @cluster FOR UPDATE");
  const { id, version } = cluster ?? { id: clusterId ?? randomUUID(), version: 0 };
  check({ id, version }, { schema, clusterId });
  const next = versions[version];
  if (next === undefined) return { id, version };
  await tx.query(next);
  await tx.query(
    "INSERT INTO @cluster (id, version) VALUES ($1, $2) ON CONFLICT (one) DO UPDATE SET version = excluded.version",
    [id, version + 1],
  );
  return { id, version: version + 1 };
}

function check(
  { id, version }: Cluster,
  { schema, clusterId }: { readonly schema: string; readonly clusterId?: string | undefined },
): void {
  if (version > versions.length)
    throw new EngineError(
      `The schema ${schema} is of version ${version}, made by a newer maxclaw; this one knows ${versions.length}. Update this one.`,
      { kind: "corrupt" },
    );
  if (clusterId !== undefined && clusterId !== id)
    throw new EngineError(
      `The schema ${schema} belongs to the cluster ${id}, and this gateway to ${clusterId}. Give each cluster a schema of its own.`,
      { kind: "corrupt" },
    );
}
