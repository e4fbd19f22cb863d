import { z } from "zod";
import { messageOf } from "../../../errors.js";
import { isNotInstalled } from "../../../util/not-installed.js";
import { loadPackage } from "../../../util/packages/load.js";
import { packageOptions, whyNodeTooOld } from "../../../util/packages/options.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";
import { databaseName } from "../../database-name.js";

/** The part of a client of PostgreSQL that is used here. */
interface Client {
  connect(): Promise<void>;
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  end(): Promise<void>;
  on(event: "error", listener: (error: unknown) => void): void;
}
type NewClient = new (options: object) => Client;

const pgModule = z.object({
  default: z.object({ Client: z.custom<NewClient>((value) => typeof value === "function") }),
});
const facts = z.object({
  version: z.number(),
  version_text: z.string(),
  now: z.number(),
  is_replica: z.boolean(),
  sync: z.string(),
  fsync: z.string(),
  has_schema: z.boolean(),
  may_use: z.boolean().nullable(),
  may_create: z.boolean(),
  used: z.number(),
  most: z.number(),
});
type Facts = z.output<typeof facts>;

const connectMs = 5000;
/** The oldest that pg-boss runs on. */
const oldest = 130_000;
/** Leases and times of events are by the database's clock; jobs and what people see by this machine's. */
const skewMs = 2000;

const question = `
  SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS version_text,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now, pg_is_in_recovery() AS is_replica,
    current_setting('synchronous_commit') AS sync, current_setting('fsync') AS fsync,
    to_regnamespace($1) IS NOT NULL AS has_schema,
    CASE WHEN to_regnamespace($1) IS NULL THEN NULL
      ELSE has_schema_privilege($1, 'USAGE') AND has_schema_privilege($1, 'CREATE') END AS may_use,
    has_database_privilege(current_database(), 'CREATE') AS may_create,
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
    current_setting('max_connections')::int AS most`;

/** The database of `engine.kind` postgres: whether it can be reached, and whether it is fit for the work. */
export const databaseCheck: Check = {
  name: "database",
  isLive: true,
  readsConfig: true,
  async run({ home, loaded }) {
    const { kind, url, schema } = loaded.config.engine;
    if (kind !== "postgres") return [];
    const wrong = loaded.off.find(({ section }) => section === "engine");
    if (wrong !== undefined) return [{ level: "fail", found: wrong.reason, todo: findingSentence("engine_todo") }];
    const tooOld = whyNodeTooOld(packageOptions.postgres ?? {});
    if (tooOld !== undefined) return [{ level: "fail", found: findingSentence("engine_node", { reason: tooOld }) }];
    const opened = await openClient(home, url ?? "");
    if ("found" in opened) return [opened];
    try {
      const before = Date.now();
      const { rows } = await opened.query(question, [schema]);
      const roundMs = Date.now() - before;
      const found = facts.parse(rows[0]);
      const name = databaseName(url) ?? "";
      const findings = [...findingsOf(found, schema), ...clockFindings(found.now - (before + roundMs / 2), roundMs)];
      if (findings.length > 0) return findings;
      const values = { version: found.version_text, name, ms: Math.max(1, roundMs), schema };
      return [{ level: "ok", found: findingSentence(found.has_schema ? "database_fine" : "database_empty", values) }];
    } finally {
      await opened.end().catch(() => undefined);
    }
  },
};

async function openClient(home: string, url: string): Promise<Client | Finding> {
  let Client: NewClient;
  try {
    ({ Client } = pgModule.parse(await loadPackage("pg", home)).default);
  } catch (error) {
    if (!isNotInstalled(error)) throw error;
    return { level: "fail", found: findingSentence("no_pg"), todo: "maxclaw add postgres" };
  }
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
    application_name: "maxclaw doctor",
  });
  // Without a listener, a server that ends would end this process.
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    return {
      level: "fail",
      found: findingSentence("database_refuses", { name: databaseName(url) ?? "", reason: messageOf(error) }),
      todo: todoFor(error),
    };
  }
}

/** By the codes of PostgreSQL and of the system. */
function todoFor(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "28P01" || code === "28000") return findingSentence("database_login");
  if (code === "3D000") return findingSentence("database_absent");
  if (code === "53300") return findingSentence("database_full");
  if (code === "57P03") return findingSentence("database_busy");
  if (code === "ENOTFOUND" || code === "ECONNREFUSED") return findingSentence("database_away");
  return findingSentence("database_psql");
}

function findingsOf(found: Facts, schema: string): readonly Finding[] {
  const findings: Finding[] = [];
  const add = (level: "warn" | "fail", what: string, todo: string): void =>
    void findings.push({ level, found: what, todo });
  if (found.version < oldest)
    add("fail", findingSentence("database_old", { version: found.version_text }), findingSentence("database_old_todo"));
  if (found.is_replica) add("fail", findingSentence("replica"), findingSentence("replica_todo"));
  if (found.may_use === false)
    add("fail", findingSentence("schema_use", { schema }), `ALTER SCHEMA ${schema} OWNER TO <user>`);
  if (!found.has_schema && !found.may_create)
    add("fail", findingSentence("schema_make", { schema }), `CREATE SCHEMA ${schema} AUTHORIZATION <user>`);
  if (found.fsync === "off") add("fail", findingSentence("fsync_off"), findingSentence("fsync_todo"));
  if (found.sync === "off") add("fail", findingSentence("sync_off"), "ALTER ROLE <user> SET synchronous_commit = on");
  if (found.used > found.most * 0.8)
    add(
      "warn",
      findingSentence("connections", { n: found.used, most: found.most }),
      findingSentence("connections_todo"),
    );
  return findings;
}

function clockFindings(differsMs: number, roundMs: number): readonly Finding[] {
  if (Math.abs(differsMs) - roundMs / 2 <= skewMs) return [];
  const seconds = Math.round(Math.abs(differsMs) / 1000);
  return [
    {
      level: "warn",
      found: findingSentence(differsMs > 0 ? "database_behind" : "database_ahead", { seconds }),
      todo: findingSentence("clocks_todo"),
    },
  ];
}
