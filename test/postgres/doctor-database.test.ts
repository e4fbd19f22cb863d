import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { configOf } from "../../src/config/load.js";
import type { World } from "../../src/doctor/check.js";
import { databaseCheck } from "../../src/doctor/checks/reach/database.js";
import { runChecks } from "../../src/doctor/examine.js";
import { ProviderAnswers } from "../../src/doctor/provider-answers.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { openSql, type Sql } from "../support/postgres/sql.js";

const password = "pg-secret-0123";

describe("maxclaw doctor, on the database of the gateways", () => {
  let server: StorageServer;
  let admin: Sql;
  const home = mkdtempSync(join(tmpdir(), "maxclaw-doctor-pg-"));

  before(async () => {
    server = await startServer("postgres", ["-c", "fsync=on"]);
    admin = await openSql(addressOf("maxclaw", "postgres"));
    await admin.rows(`CREATE ROLE guest LOGIN PASSWORD '${password}'`);
  });
  after(async () => {
    await admin[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const addressOf = (user: string, database: string, port = server.port): string =>
    `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;

  async function look(engine: object): Promise<readonly string[]> {
    const loaded = await configOf({ engine }, { home, env: { HOME: home } });
    const world: World = {
      ...{ home, loaded, version: "0", gateway: { state: "none" }, env: {}, asksModel: false, now: Date.now },
      examine: async () => {
        throw new Error("not asked for");
      },
      providers: new ProviderAnswers({}, Date.now),
      service: async () => undefined,
      backupFolders: [],
    };
    const found = await runChecks([databaseCheck], world, { fix: false, signal: new AbortController().signal });
    const lines = found.map(({ level, found: text, todo }) => `${level}: ${text} → ${todo ?? ""}`);
    assert.ok(!lines.join("\n").includes(password), lines.join("\n"));
    return lines;
  }

  test("says nothing where there is none", async () => {
    assert.deepEqual(await look({ kind: "embedded" }), []);
  });

  test("names what would lose messages, and what is in order once it is put right", async () => {
    const url = addressOf("maxclaw", "postgres");
    await admin.rows("ALTER SYSTEM SET synchronous_commit = off");
    await admin.rows("SELECT pg_reload_conf()");
    const off = await lookUntil(url, /synchronous_commit is off/);
    assert.equal(off.length, 1);
    await admin.rows("ALTER SYSTEM RESET synchronous_commit");
    await admin.rows("SELECT pg_reload_conf()");
    const [line] = await lookUntil(url, /^ok: /);
    assert.match(
      line ?? "",
      /^ok: PostgreSQL \d+.* at 127\.0\.0\.1:\d+\/postgres answers within \d+ ms, and schema maxclaw can be made/,
    );
  });

  /** A server takes new settings a moment after it was told to. */
  async function lookUntil(url: string, wanted: RegExp): Promise<readonly string[]> {
    for (let tries = 0; ; tries += 1) {
      const found = await look({ kind: "postgres", url });
      if (wanted.test(found.join("\n")) || tries === 50) {
        assert.match(found.join("\n"), wanted);
        return found;
      }
    }
  }

  test("names a user without rights, with the command that gives them", async () => {
    const url = addressOf("guest", "postgres");
    const [none] = await look({ kind: "postgres", url });
    assert.match(none ?? "", /fail: This user may not make schema maxclaw → CREATE SCHEMA maxclaw AUTHORIZATION/);
    await admin.rows("CREATE SCHEMA theirs");
    const [other] = await look({ kind: "postgres", url, schema: "theirs" });
    assert.match(other ?? "", /fail: This user may not use schema theirs → ALTER SCHEMA theirs OWNER TO/);
    await admin.rows("CREATE SCHEMA guests AUTHORIZATION guest");
    assert.match((await look({ kind: "postgres", url, schema: "guests" })).join(), /^ok: .*schema guests is there/);
  });

  test("names a database that is not there, one that nobody answers for, and a config that names none", async () => {
    assert.match(
      (await look({ kind: "postgres", url: addressOf("maxclaw", "nowhere") })).join(),
      /fail: .*nowhere.* → Create it/,
    );
    // Port 9 of this machine: nothing listens there.
    assert.match(
      (await look({ kind: "postgres", url: addressOf("maxclaw", "x", 9) })).join(),
      /fail: .*ECONNREFUSED.* → Correct engine\.url, or start/,
    );
    assert.match(
      (await look({ kind: "postgres" })).join(),
      /fail: engine\.kind is postgres, but engine\.url is not set/,
    );
  });
});
