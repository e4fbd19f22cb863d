import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openCli } from "../support/cli.js";
import { startCliGateway, withModel } from "../support/cli-gateway.js";

const key = "cli:default";

test("sessions show tells a conversation from its log: without its document, with a broken one, beside damage, after a kill", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "Noted." });
  const dir = join(cli.home, "workspace", ".sessions");
  const log = join(dir, "cli_default.events.jsonl");
  const document = join(dir, "cli_default.json");
  const show = (args: readonly string[] = []) => cli.run(["sessions", "show", key, ...args]);

  const first = await startCliGateway(cli);
  await cli.run(["agent", "-m", "remember the milk"]);
  // Its gateway still has the last events in memory only.
  assert.match((await show()).stdout, /remember the milk[\s\S]*Noted\./);
  first.child.kill("SIGKILL");
  await first.result;
  const killed = await show();
  assert.match(killed.stdout, /remember the milk[\s\S]*Noted\./);
  const told = JSON.parse((await show(["--json"])).stdout);

  const second = await startCliGateway(cli);
  second.child.kill("SIGTERM");
  await second.result;
  await rm(document, { force: true });
  assert.deepEqual(JSON.parse((await show(["--json"])).stdout).messages, told.messages);
  await writeFile(document, "no document at all");
  assert.deepEqual(JSON.parse((await show(["--json"])).stdout).messages, told.messages);
  assert.equal(await readFile(document, "utf8"), "no document at all");

  const text = await readFile(log, "utf8");
  await writeFile(log, text.replace('"turn_execution_start"', '"turn_execution_stArt"'));
  const damaged = await show();
  assert.deepEqual([damaged.code, damaged.stdout], [0, killed.stdout]);
  assert.match(damaged.stderr, /^maxclaw: 1 damaged lines of \S+ are left out \(maxclaw events verify cli:default\)$/m);
});

test("sessions show still shows a conversation of the Go maxclaw, and names what there is not", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "x" });
  const dir = join(cli.home, "workspace", ".sessions");
  await mkdir(dir, { recursive: true });
  const momo = { key, messages: [{ role: "user", content: "My cat is Momo.", timestamp: "2025-01-01T10:00:00Z" }] };
  await writeFile(join(dir, "cli_default.json"), JSON.stringify(momo));
  assert.match((await cli.run(["sessions", "show", key])).stdout, /My cat is Momo\./);
  const nobody = await cli.run(["sessions", "show", "cli:nobody"]);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /There is no session cli:nobody/);
});
