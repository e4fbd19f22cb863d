import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { EngineError } from "../../src/errors.js";
import { inbound, queued, until } from "../support/engine/engine-kit.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { openNode, quickTiming, urlOf } from "../support/postgres/postgres-kit.js";
import { openSql, type Sql } from "../support/postgres/sql.js";
import { withoutProgram } from "../support/worlds/needs.js";

const mostConnections = 30;

describe("a database that refuses is named in one sentence that says what to do", {
  skip: withoutProgram("openssl", "version"),
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-refused-"));
  const file = (name: string): string => join(folder, name);
  let server: StorageServer;
  let admin: Sql;

  const openssl = (...args: readonly string[]): void => void execFileSync("openssl", args, { stdio: "pipe" });
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, "postgres"]));
  /** The server's certificate signs itself, is for a host, and valid for so many days from now. */
  const certify = (host: string, days: number): void => {
    writeFileSync(file("names"), `subjectAltName=DNS:${host}\n`);
    openssl("req", "-new", "-key", file("key"), "-out", file("request"), "-subj", `/CN=${host}`);
    const signed = [
      "-signkey",
      file("key"),
      "-days",
      `${days}`,
      "-extfile",
      file("names"),
      "-out",
      file("certificate"),
    ];
    openssl("x509", "-req", "-in", file("request"), ...signed);
  };

  before(async () => {
    chmodSync(folder, 0o755);
    openssl("genrsa", "-out", file("key"), "2048");
    chmodSync(file("key"), 0o600);
    if (process.getuid?.() === 0) chownSync(file("key"), idOf("-u"), idOf("-g"));
    certify("localhost", 2);
    const tls = ["-c", "ssl=on", "-c", `ssl_cert_file=${file("certificate")}`, "-c", `ssl_key_file=${file("key")}`];
    server = await startServer("postgres", [...tls, "-c", `max_connections=${mostConnections}`]);
    admin = await openSql(urlOf(server.port));
    await admin.rows("CREATE ROLE guest LOGIN");
  });
  after(async () => {
    await admin[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function refusal(url: string): Promise<string> {
    try {
      const { engine } = await openNode(url, "refused");
      await engine[Symbol.asyncDispose]();
      return "it opens";
    } catch (error) {
      assert.ok(error instanceof EngineError && error.kind === "persistence", String(error));
      return error.message.replace(/^The engine's database cannot be used: /, "");
    }
  }
  const over = (query: string, user = "maxclaw"): string =>
    `postgresql://${user}@localhost:${server.port}/postgres?${query}`;
  const reload = (): Promise<unknown> => admin.rows("SELECT pg_reload_conf()");

  test("certificates that nobody knows, that are for another host or have expired", async () => {
    const trusting = over(`sslmode=verify-full&sslrootcert=${file("certificate")}`);
    assert.equal(
      await refusal(over("sslmode=verify-full")),
      "the certificate of the database is not signed by an authority that this machine knows. Add sslrootcert=FILE with the authority's certificate to engine.url",
    );
    assert.match(await refusal(over("sslmode=verify-full&sslrootcert=/no/such")), /names a file that does not exist/);
    assert.equal(await refusal(trusting), "it opens");
    for (const [host, days, sentence] of [
      ["db.example.org", 2, /is for another name\. Write the name that is in the certificate/],
      ["localhost", -1, /has expired\. Renew it there/],
    ] as const) {
      certify(host, days);
      await reload();
      await until(`${sentence}`, async () => sentence.test(await refusal(trusting)), 20_000);
    }
  });

  test("a user without rights, one that may not come in, and one that may not come without encryption", async () => {
    assert.match(await refusal(over("", "guest")), /has no right to do this\. Grant it: CREATE on the database/);
    assert.match(await refusal(over("", "nobody")), /does not let this user in from here\. Check the user and sslmode/);
    const [row] = await admin.rows("SHOW hba_file");
    const hba = String(row?.hba_file);
    const before = readFileSync(hba, "utf8");
    writeFileSync(hba, `hostssl all guest all trust\nhost all guest all reject\n${before}`);
    await reload();
    await until("it is refused", async () =>
      /does not let this user in from here/.test(await refusal(over("", "guest"))),
    );
    assert.match(
      await refusal(over("sslmode=no-verify", "guest")),
      /has no right to do this/,
      "with encryption it comes in",
    );
    writeFileSync(hba, before);
    await reload();
  });

  test("no free connection at the start, and none in operation: messages wait, and are taken when there is one", async () => {
    const others: Sql[] = [];
    const fill = async (): Promise<void> => {
      for (;;) others.push(await openSql(over("", "guest")));
    };
    await assert.rejects(fill(), /connection/);
    const sentence =
      /takes no more connections\. Raise its max_connections, or the limit of the user: each gateway needs 11/;
    assert.match(await refusal(over("", "guest")), sentence);
    for (const other of others) await other[Symbol.asyncDispose]();

    await admin.rows("CREATE ROLE worker LOGIN");
    await admin.rows("GRANT CREATE ON DATABASE postgres TO worker");
    const { engine } = await openNode(over("", "worker"), "crowded", { timing: quickTiming });
    try {
      await engine.accept(inbound("before"), { events: [queued("before")] });
      // One that is lost is not given again.
      await admin.rows("ALTER ROLE worker CONNECTION LIMIT 0");
      await admin.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'");
      let tries = 0;
      const taken = (): Promise<unknown> => {
        tries += 1;
        return engine.accept(inbound(`try ${tries}`), { events: [queued(`try ${tries}`)] });
      };
      await until("it is refused", async () => {
        const error: unknown = await taken().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        return error instanceof EngineError && error.retryable && sentence.test(error.message);
      });
      assert.match(engine.status().reason ?? "", sentence);
      await admin.rows("ALTER ROLE worker CONNECTION LIMIT -1");
      await until("it takes writes again", () => engine.status().writable, 30_000);
      await engine.accept(inbound("after"), { events: [queued("after")] });
    } finally {
      await engine[Symbol.asyncDispose]();
    }
  });

  test("a standby at the start, and a database that becomes read-only in operation", async () => {
    await using standby = await startServer("postgres", [], {
      prepare: (below, run) =>
        run("pg_basebackup", [
          "-D",
          join(below, "data"),
          "-h",
          "127.0.0.1",
          "-p",
          `${server.port}`,
          "-U",
          "maxclaw",
          "-R",
        ]),
      isReady: async (port) => {
        try {
          await using sql = await openSql(urlOf(port));
          return (await sql.rows("SELECT 1")).length === 1;
        } catch {
          return false;
        }
      },
    });
    assert.match(await refusal(urlOf(standby.port)), /^the database is read-only\. Is engine\.url a standby\?/);
    assert.match(
      await refusal(`${urlOf(standby.port)}?sslmode=verify-full`),
      /does not take encrypted connections\. Switch ssl on/,
    );

    const { engine } = await openNode(over(""), "turned", { timing: quickTiming });
    try {
      const readOnly = async (value: string): Promise<void> => {
        await admin.rows(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await reload();
      };
      await engine.accept(inbound("before"), { events: [queued("before")] });
      await readOnly("on");
      await until("it is noticed", () => /the database is read-only/.test(engine.status().reason ?? ""));
      await assert.rejects(
        engine.accept(inbound("meanwhile"), { events: [queued("meanwhile")] }),
        /the database is read-only\. Is engine\.url a standby\?/,
      );
      await admin.rows("SET default_transaction_read_only = off");
      await readOnly("off");
      await until("it takes writes again", () => engine.status().writable);
      await engine.accept(inbound("after"), { events: [queued("after")] });
    } finally {
      await engine[Symbol.asyncDispose]();
    }
  });
});
