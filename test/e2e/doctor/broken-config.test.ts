import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { runDenied } from "../../support/worlds/denied.js";
import { tempHome } from "../../support/worlds/gateway.js";

const token = "0123456789abcdef0123456789abcdef";
const good = JSON.stringify({ gateway: { token } });
const broken = `{ "gateway": { "token": "${token}" `;

async function homeWith(text: string): Promise<string> {
  const home = await tempHome();
  chmodSync(home, 0o700);
  writeFileSync(join(home, "config.json"), text, { mode: 0o600 });
  return home;
}

test("a config that cannot be read gets no score, and nothing is said about what is in it", async () => {
  const home = await homeWith(broken);
  const { code, stdout } = await runMaxclaw(["security"], home);
  assert.equal(code, 1, stdout);
  assert.doesNotMatch(stdout, /There is no gateway\.token|Strangers are not let in|Tools ask|of 100/);
  assert.match(stdout, /^fail {2}access {7}.*config\.json cannot be read/m);
  assert.match(stdout, /^Security: no score, because .*config\.json cannot be read/m);
  const { security } = JSON.parse((await runMaxclaw(["doctor", "--offline", "--json"], home)).stdout);
  assert.equal(security.score, null);
});

test("a config that this account may not read gets no score either", async () => {
  const home = await homeWith(good);
  chmodSync(home, process.getuid?.() === 0 ? 0o700 : 0o000);
  const { stdout } = await runDenied(["security"], home, { isPlain: true, cwd: "/" });
  chmodSync(home, 0o700);
  assert.doesNotMatch(stdout, /There is no gateway\.token|of 100/);
});

test("a gateway that starts with a broken config says it once, and of no config before it", async () => {
  // With a token it would answer nobody until it is corrected.
  const home = await homeWith('{ "gateway": { "port": 0 }\n');
  await using daemon = await startDaemon({ home });
  const status = await runMaxclaw(["status"], home);
  assert.equal(status.stdout.match(/cannot be read/g)?.length, 1, status.stdout);
  assert.doesNotMatch(status.stdout, /as before|changed config/);
  // A further mistake, and then what can be read, though not without a mistake.
  writeFileSync(join(home, "config.json"), `\n\n${broken}`);
  await until("the further mistake is in the log", () => /line 3, column/.test(daemon.stderr()));
  writeFileSync(join(home, "config.json"), '{ "agnets": {} }');
  await until("what can be read counts", async () => {
    const status = await (await fetch(`${daemon.url}/api/status`)).text();
    return /unknown key ."agnets/.test(status) && !status.includes("changed config");
  });
  await daemon.end("SIGTERM");
  const log = readFileSync(join(home, "logs", "gateway.log"), "utf8");
  const said = log.match(/[^"]*cannot be read, line[^"]*/g) ?? [];
  assert.deepEqual([said.length, new Set(said).size], [2, 2], log);
  assert.doesNotMatch(log, /as before/);
});

test("what a broken config does is told to who checks it while a gateway runs, and to who has no gateway", async () => {
  const home = await homeWith(good);
  await using daemon = await startDaemon({ home });
  writeFileSync(join(home, "config.json"), broken);
  const { code, stdout, stderr } = await runMaxclaw(["config", "check"], home);
  assert.equal(code, 78);
  assert.match(stdout, /cannot be read, line 1/);
  assert.match(stderr, /The running gateway goes on with the config that it had/);
  const asked = await runMaxclaw(["sessions", "list"], home);
  assert.match(asked.stderr, /config\.json cannot be read, line 1.* MAXCLAW_TOKEN/);
  const goesOn = /The running gateway goes on with the config that it had/;
  for (const text of [JSON.stringify({ gateway: { token }, log: { level: "loud" } }), undefined]) {
    if (text === undefined) rmSync(join(home, "config.json"));
    else writeFileSync(join(home, "config.json"), text);
    await until(`the gateway has seen ${text}`, async () =>
      goesOn.test((await runMaxclaw(["config", "check"], home)).stderr),
    );
  }
  writeFileSync(join(home, "config.json"), good);
  await until("the file counts again", async () => {
    const { code: now, stderr: said } = await runMaxclaw(["config", "check"], home);
    return now === 0 && said === "";
  });
  writeFileSync(join(home, "config.json"), broken);
  await daemon.end("SIGTERM");
  const alone = await runMaxclaw(["config", "check"], home);
  assert.equal(alone.stderr, "");
  assert.match(alone.stdout, /a gateway that starts has all channels off/);
});

test("a token that is new in the file is told as due, and who is refused reads of a restart", async () => {
  const home = await homeWith('{ "gateway": { "port": 0, "token": "the-first-token-of-all" } }');
  await using daemon = await startDaemon({ home });
  const set = await runMaxclaw(["config", "set", "gateway.token", "another-token-than-that"], home);
  assert.deepEqual([set.code, set.stderr], [0, "Restart the gateway for gateway.token to take effect.\n"]);
  const level = await runMaxclaw(["config", "set", "log.level", "debug"], home);
  assert.equal(level.code, 0);
  assert.match(level.stderr, /does not say whether it uses it\. .*token.*restart it/);
  const asked = await runMaxclaw(["sessions", "list"], home);
  assert.match(asked.stderr, /If gateway\.token was changed since the gateway started, restart it\./);
  await daemon.end("SIGTERM");
});

test("the backup of another home in the current folder does not count", async () => {
  const home = await homeWith("{}");
  const here = join(await tempHome(), "here");
  mkdirSync(here);
  writeFileSync(join(here, "maxclaw-backup-2026-01-01-000000.tar.gz"), "of another home");
  const { stdout } = await runDenied(["doctor", "--offline"], home, { cwd: here });
  assert.match(stdout, /^warn {2}backups {6}There is no backup$/m);
});
