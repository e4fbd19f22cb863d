import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { urlOf } from "../support/postgres/postgres-kit.js";
import { createRandom } from "../support/random.js";
import { runTroubles } from "../sweep/cluster/run.js";
import { frozenAt, killedAt } from "../sweep/cluster/troubles.js";
import { databaseVariable } from "../sweep/database.js";
import { toClusterTable } from "../sweep/report.js";
import { loadEngine, Sweep } from "../sweep/sweep.js";
import { Nursery } from "../sweep/world/child-process.js";

// The short form of `npm run sweep -- --engine postgres`, with and without `--nodes 3`.
const engine = await loadEngine(new URL("../sweep/postgres.js", import.meta.url).href);
const nursery = new Nursery();
let server: StorageServer;
before(async () => {
  server = await startServer("postgres", ["-c", "max_connections=200"]);
  process.env[databaseVariable] = urlOf(server.port);
});
after(async () => {
  await nursery[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test("a gateway that was killed before its replies were sent loses nothing, and its documents show all of it", async () => {
  await using sweep = await Sweep.open(engine, nursery);
  const point = { name: "attempt:started outbound", during: "talk" } as const;
  // In the next life nobody opens the session: only its reply goes out.
  await sweep.run({ point, nth: 1, alone: "t1" });
  await sweep.finish();
  assert.deepEqual(
    sweep.rows.map(({ kills, counts }) => [kills, counts.lost, counts.wroteAgain]),
    [[1, 0, 0]],
  );
});

test("three gateways: one is killed behind a commit, one stands still in a tool that writes and comes back", async (t) => {
  const seed = Number(process.env.SWEEP_SEED ?? Date.now() % 100_000);
  t.diagnostic(`SWEEP_SEED=${seed}`);
  const run = { engine, nursery, server, nodes: 3, random: createRandom(seed) };
  const rows = await runTroubles(
    run,
    [killedAt("commit:after-write inbound"), frozenAt("tool write: begun")],
    () => {},
  );
  t.diagnostic(`\n${toClusterTable(rows)}`);
  for (const { point, kills, counts } of rows)
    assert.ok(kills > 0 && counts.lost === 0 && counts.wroteAgain === 0, point);
});
