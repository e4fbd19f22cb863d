import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openCli, outputOf } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";

const line = (level: string, message: string, more: object = {}): string =>
  `${JSON.stringify({ level, time: "2026-11-22T12:00:00.000Z", ...more, message })}\n`;

test("maxclaw logs shows what the gateway wrote, at the level that is asked for, and no secret", async () => {
  await using cli = await openCli();
  assert.deepEqual((await cli.run(["logs"])).code, 1);
  await using _model = await withModel(cli, { text: "ok" }, { log: { level: "debug" } });
  const gateway = await startCliGateway(cli);
  gateway.child.kill("SIGTERM");
  await gateway.result;
  const { code, stdout, stderr } = await cli.run(["logs", "-n", "1000"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d info {2}stopping signal=SIGTERM$/m);
  assert.ok(!stdout.includes("sk-test-key"));
  const json = (await cli.run(["logs", "--json", "--level", "info", "-n", "2"])).stdout.trim().split("\n");
  assert.deepEqual(
    json.map((text) => JSON.parse(text).message),
    ["stopping", "stopped"],
  );
});

test("a start that failed is in the log, where a service without a terminal is looked for", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "ok" });
  const gateway = await startCliGateway(cli);
  const second = await cli.run(["gateway", "-p", "0"]);
  assert.equal(second.code, 1);
  const { stdout } = await cli.run(["logs", "--level", "error"]);
  assert.match(stdout, /error the gateway did not start error=".* is in use by another maxclaw/);
  gateway.child.kill("SIGTERM");
  await gateway.result;
});

test("a command that works on the files itself is not a gateway for the log", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "ok" });
  assert.equal((await cli.run(["agent", "-m", "hello"])).code, 0);
  const { stdout } = await cli.run(["logs"]);
  assert.match(stdout, /info {2}Turn complete/);
  assert.doesNotMatch(stdout, /The gateway is ready/);
});

test("maxclaw logs -f goes on, also where the file is rotated, and terminals are not steered", async () => {
  await using cli = await openCli();
  const path = join(cli.home, "logs", "gateway.log");
  mkdirSync(join(cli.home, "logs"), { recursive: true });
  writeFileSync(`${path}.1`, line("info", "of the file before") + line("debug", "left out"));
  writeFileSync(
    path,
    `${line("warn", "first", { attempt: 2, error: { message: "it is away", stack: "at x" } })}not JSON\n`,
  );
  const child = cli.start(["logs", "-f", "--level", "info", "-n", "3"]);
  const begun = await outputOf(child.stdout, /not JSON\n/);
  assert.match(begun, /info {2}of the file before\n.*warn {2}first attempt=2 error="it is away"\nnot JSON\n$/);
  const half = line("info", "in two pieces", { error: { message: "two pieces", stack: "at x" } });
  const more = outputOf(child.stdout, /the new file\n/);
  appendFileSync(path, half.slice(0, 20));
  appendFileSync(path, `${half.slice(20)}${line("error", "\u001b[2Jcleared")}`);
  renameSync(path, `${path}.1`);
  writeFileSync(path, line("info", "in the new file"));
  const text = await more;
  assert.deepEqual(
    text
      .trim()
      .split("\n")
      .map((one) => one.slice(20)),
    ["info  in two pieces", "error [2Jcleared", "info  in the new file"],
  );
});

test("maxclaw logs -f waits for the first gateway", async () => {
  await using cli = await openCli();
  const child = cli.start(["logs", "--follow"]);
  await using _model = await withModel(cli, { text: "ok" });
  const seen = outputOf(child.stdout, /stopped\n/, 30_000);
  const gateway = await startCliGateway(cli);
  gateway.child.kill("SIGTERM");
  await gateway.result;
  await seen;
});
