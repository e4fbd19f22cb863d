import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";

test("sessions list without a gateway says what a gateway would, writes nothing, and says what is damaged", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "Noted." });
  const sessions = join(cli.home, "workspace", ".sessions");
  const journal = join(cli.home, "journal");
  const list = async (...args: readonly string[]) => await cli.run(["sessions", "list", ...args]);
  const filesOf = (folder: string) =>
    readdirSync(folder)
      .sort()
      .map((name) => [name, statSync(join(folder, name)).mtimeMs, statSync(join(folder, name)).size]);

  const first = await startCliGateway(cli);
  await cli.run(["agent", "-m", "the first", "-s", "cli:first"]);
  await cli.run(["agent", "-m", "gone soon", "-s", "cli:gone"]);
  await cli.run(["sessions", "delete", "cli:gone", "--yes"]);
  await cli.run(["agent", "-m", "the last", "-s", "cli:last"]);
  const running = JSON.parse((await list("--json")).stdout);
  assert.deepEqual(
    running.sessions.map(({ key }: { readonly key: string }) => key),
    ["cli:last", "cli:first"],
  );
  first.child.kill("SIGKILL");
  await first.result;

  // Of a killed gateway some documents and their lines may not be written yet, or never were.
  rmSync(join(sessions, "cli_last.json"), { force: true });
  const before = [filesOf(sessions), filesOf(journal)];
  const killed = await list("--json");
  assert.deepEqual([killed.code, killed.stderr], [0, ""]);
  assert.deepEqual(JSON.parse(killed.stdout), running);
  assert.match((await list("--limit", "1")).stdout, /cli:last[\s\S]*… 1 more/);
  assert.match((await list("--channel", "telegram")).stdout, /There is no conversation yet/);
  assert.deepEqual([filesOf(sessions), filesOf(journal)], before, "nothing was written, not even a lock");

  const path = join(journal, readdirSync(journal)[0] ?? "");
  const bytes = readFileSync(path);
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const damaged = await list();
  assert.equal(damaged.code, 0, damaged.stderr);
  assert.match(damaged.stderr, /^maxclaw: \S+ is damaged at byte \d+\. Run "maxclaw repair"\./m);
  assert.match(damaged.stdout, /cli:first/);
});
