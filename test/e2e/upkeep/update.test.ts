import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { startProgramRegistry } from "../../support/fakes/program-registry.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import { openUpdateWorld, packVersion, programFolder, type UpdateWorld } from "../../support/worlds/update-world.js";

const cleanUp: string[] = [];
const packed = { sound: "", dies: "", lies: "" };

async function packOnce(version: string, ...changes: Parameters<typeof packVersion>[1] & object): Promise<string> {
  const file = await packVersion(version, changes);
  cleanUp.push(dirname(file));
  return file;
}

before(async () => {
  packed.sound = await packOnce("0.2.0");
  // It passes every trial, and ends as soon as it is the gateway.
  packed.dies = await packOnce("0.3.0", {
    file: programFolder,
    from: "async function runGateway(",
    to: "process.argv.includes('gateway')&&process.exit(1);async function runGateway(",
  });
  // Half of it is of another version: it answers, with the old number.
  packed.lies = await packOnce("0.4.0", {
    file: programFolder,
    from: /\bversion,env:process\.env,http:\{host,/,
    to: 'version:"0.1.0",env:process.env,http:{host,',
  });
});

after(async () => {
  for (const folder of cleanUp) await rm(folder, { recursive: true, force: true });
});

async function withGateway(world: UpdateWorld, config: object = {}): Promise<void> {
  await writeFile(join(world.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  execFileSync(world.restart);
  await until("the gateway answers", async () => (await world.status()).running, 40_000);
}

test("an update keeps everything, is judged by the gateway that then runs, and is what each start runs from then on", async () => {
  await using model = await startFakeOpenAI({ answer: ({ userText }) => ({ text: `heard: ${userText.length > 0}` }) });
  await using registry = await startProgramRegistry();
  registry.versions = [{ version: "0.2.0", file: packed.sound }];
  await using world = await openUpdateWorld(registry.url);
  await withGateway(world, openAIConfig(model.apiBase));
  assert.equal((await world.run(["agent", "-m", "before the update"])).code, 0);

  const check = await world.run(["update", "--check", "--json"]);
  assert.deepEqual([check.code, JSON.parse(check.stdout)], [1, { version: "0.1.0", newest: "0.2.0", isNewer: true }]);
  const done = await world.run(["update", "--restart", world.restart, "--json"]);
  assert.equal(done.code, 0, done.stderr);
  const { backup, ...about } = JSON.parse(done.stdout);
  assert.deepEqual(about, { from: "0.1.0", to: "0.2.0", isRunning: true });
  assert.equal((await stat(backup)).mode & 0o777, 0o600);
  const now = await world.status();
  assert.deepEqual([now.running, now.version], [true, "0.2.0"]);
  assert.equal((await world.run(["--version"])).stdout.trim(), "0.2.0");
  assert.match((await world.run(["sessions", "show", "cli:default"])).stdout, /before the update[\s\S]*heard: true/);
  assert.deepEqual(await world.steps(), ["began", "installed", "backed-up", "tried", "switched", "updated"]);
  assert.deepEqual(await world.versions(), ["0.2.0", "current"]);

  const again = await world.run(["update"]);
  assert.deepEqual([again.code, again.stdout], [0, "0.2.0 is in use already. Nothing was done.\n"]);
  assert.equal((await world.run(["update", "--check"])).code, 0);
  const older = await world.run(["update", "--to", "0.0.9"]);
  assert.equal(older.code, 1);
});

test("a version that does not come up, or says that it is another one, is taken back, and the old one runs", async () => {
  await using registry = await startProgramRegistry();
  await using world = await openUpdateWorld(registry.url);
  await withGateway(world);
  for (const [file, seconds, why] of [
    [packed.dies, "4", /did not come up as 0\.3\.0: nothing answers, after 4 s\. It runs as 0\.1\.0 again\./],
    [
      packed.lies,
      // Long enough for it to answer on a busy machine.
      "8",
      /did not come up as 0\.4\.0: a gateway of version 0\.1\.0 answers, after 8 s\. It runs as 0\.1\.0 again\./,
    ],
  ] as const) {
    const done = await world.run(["update", "--from", file, "--restart", world.restart, "--wait", seconds]);
    assert.equal(done.code, 1);
    assert.match(done.stderr, why);
    const { running, version } = await world.status();
    assert.deepEqual([running, version], [true, "0.1.0"]);
    assert.deepEqual(await world.versions(), []);
    assert.equal((await world.steps()).at(-1), "taken-back");
  }
});

test("a version that cannot read what is stored is never switched to, and the gateway is left alone", async () => {
  await using registry = await startProgramRegistry();
  await using world = await openUpdateWorld(registry.url);
  await withGateway(world);
  const { pid } = await world.status();
  const file = await packOnce("0.5.0", {
    file: programFolder,
    from: /line\.kind===`header`&&line\.v>\d+/,
    to: "line.kind===`header`&&line.v>0",
  });
  const done = await world.run(["update", "--from", file, "--restart", world.restart]);
  assert.equal(done.code, 1);
  assert.match(
    done.stderr,
    /Version 0\.5\.0 cannot open what is stored .*written by a newer version.*Nothing was changed: 0\.1\.0 is in use\./s,
  );
  assert.equal((await world.status()).pid, pid);
  assert.deepEqual(await world.versions(), []);
  const other = await packOnce("0.6.0", { file: "package.json", from: '"name":"maxclaw"', to: '"name":"other"' });
  const wrong = await world.run(["update", "--from", other]);
  assert.match(wrong.stderr, /The new version could not be installed: .*Nothing was changed/s);
  assert.deepEqual(await world.versions(), []);
});
