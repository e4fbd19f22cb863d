// Runs tests that start a whole gateway with the engine on Postgres: `node scripts/on-postgres.mjs dist/test/e2e/turn/*.test.js`, after a build.
// It starts a PostgreSQL of its own; each home of a test has a schema there. `MAXCLAW_TEST_ENGINE` says where the database is
// (test/support/worlds/gateway.ts reads it). By hand only: what works on the files of a home cannot pass there; docs/cluster.md names it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { startServer } from "../dist/test/support/fakes/storage-servers.js";
import { nodeForPostgres } from "./test-packages.mjs";

const node = nodeForPostgres();
if (node === undefined) {
  console.error("pg-boss needs Node 22.12 or newer, and test/postgres brings none for this machine.");
  process.exit(1);
}
const server = await startServer("postgres", ["-c", "max_connections=300"]);
try {
  const args = ["--import=./scripts/source-lines.mjs", "--test", "--test-concurrency=2", "--test-timeout=240000"];
  const url = `postgresql://maxclaw@127.0.0.1:${server.port}/postgres`;
  const env = { ...process.env, MAXCLAW_TEST_ENGINE: url };
  const [code] = await once(spawn(node, [...args, ...process.argv.slice(2)], { stdio: "inherit", env }), "exit");
  process.exitCode = code ?? 1;
} finally {
  await server[Symbol.asyncDispose]();
}
