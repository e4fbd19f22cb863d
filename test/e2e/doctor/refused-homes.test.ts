import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { runDenied } from "../../support/worlds/denied.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { withoutSandbox } from "../../support/worlds/needs.js";

/** Each begins in another place of the program. */
const commands: readonly (readonly string[])[] = [
  ["status"],
  ["logs"],
  ["sessions", "list"],
  ["cron", "add", "hi", "--every", "1h"],
  ["config", "set", "log.level", "debug"],
  ["onboard", "--yes"],
  ["add"],
  ["repair"],
  ["skills", "new", "tea"],
  ["mcp", "add", "x", "--", "ls"],
  ["events", "verify"],
  ["gateway", "-p", "0"],
];

const raw = /\n +at |\bE[A-Z]{3,}\b|cannot be used: it cannot/;

test("where the home is a file, each command says so in a sentence", async () => {
  const home = await tempHome();
  const file = join(home, "file");
  writeFileSync(file, "not a home");
  for (const args of commands) {
    const { code, stdout, stderr } = await runMaxclaw(args, file);
    const what = `${args.join(" ")}: ${stdout}${stderr}`;
    assert.doesNotMatch(stderr, raw, what);
    assert.notEqual(code, 0, what);
    assert.ok(stderr.includes(file), what);
    assert.match(stderr, /is a file, not a folder\. Move it away\.$/m, what);
  }
  const check = await runMaxclaw(["config", "check"], file);
  assert.deepEqual(
    [check.code, check.stdout],
    [1, `${file} cannot be used: it is a file, not a folder. Move it away.\n`],
  );
});

test("a home that this account may not enter or make is named, with what to do", async () => {
  const around = await tempHome();
  chmodSync(around, 0o755);
  const closed = join(around, "closed");
  mkdirSync(closed, { mode: 0o700 });
  chmodSync(closed, process.getuid?.() === 0 ? 0o700 : 0);
  const absent = join(around, "locked", "home");
  mkdirSync(join(around, "locked"), { mode: 0o555 });
  for (const home of [closed, absent])
    for (const args of commands) {
      const { code, stdout, stderr } = await runDenied(args, home, { isPlain: true, cwd: "/" });
      const what = `${home} ${args.join(" ")}: ${stdout}${stderr}`;
      assert.doesNotMatch(stderr, raw, what);
      if (home === absent && ["status", "logs", "sessions", "add", "events"].includes(args[0] ?? "")) continue;
      assert.notEqual(code, 0, what);
      assert.ok(stderr.includes(home), what);
      assert.match(stderr, /account/, what);
    }
  chmodSync(closed, 0o700);
});

test("a config of another account is not to be corrected: the account is wrong", async () => {
  const home = await tempHome();
  chmodSync(home, 0o711);
  const config = join(home, "config.json");
  writeFileSync(config, "{}");
  chmodSync(config, process.getuid?.() === 0 ? 0o600 : 0);
  const denied = (args: readonly string[]) => runDenied(args, home, { isPlain: true, cwd: "/" });
  const wrongAccount =
    /has no right to it\..* Run the command as the account that owns it, or give this account the right\.$/m;
  assert.match((await denied(["onboard", "--yes"])).stderr, wrongAccount);
  assert.match((await denied(["config", "set", "log.level", "debug"])).stderr, wrongAccount);
  const { stdout } = await denied(["doctor", "--offline"]);
  assert.match(stdout, /^fail {2}config .*\n +To do: Run the command as the account that owns it/m);
  assert.doesNotMatch(stdout, /\bEACCES\b/);
});

test("a home on a disk that is mounted read-only is read, and not changed", { skip: withoutSandbox() }, async () => {
  const home = await tempHome();
  chmodSync(home, 0o700);
  writeFileSync(join(home, "config.json"), '{ "gateway": { "port": 28999 } }', { mode: 0o600 });
  assert.equal((await runMaxclaw(["agent", "-m", "hello", "-s", "cli:work"], home)).code, 0);
  const before = readdirSync(home, { recursive: true });
  const run = (...args: readonly string[]) => runDenied(args, home, { readOnly: [home] });

  const status = await run("status");
  assert.match(status.stdout, /^Problem: +.*mounted read-only/m);
  assert.equal(status.code, 1, status.stdout);
  const list = await run("sessions", "list");
  assert.match(list.stdout, /cli:work/, list.stderr);
  assert.equal(list.code, 0);
  const { sessions } = JSON.parse((await run("sessions", "list", "--json")).stdout);
  assert.equal(sessions[0]?.key, "cli:work");
  const usage = await run("usage");
  assert.deepEqual([usage.code, usage.stderr], [0, ""], usage.stdout);
  assert.match((await run("skills", "list")).stdout, /weather/);
  assert.match((await run("cron", "list")).stdout, /Nothing is scheduled/);

  for (const args of [
    ["config", "set", "gateway.port", "29000"],
    ["onboard", "--yes", "--force"],
    ["cron", "add", "hi", "--every", "1h"],
    ["sessions", "delete", "cli:work", "--yes"],
    ["repair"],
    ["add", "browser"],
    ["gateway", "-p", "0"],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    const what = `${args.join(" ")}: ${stdout}${stderr}`;
    assert.notEqual(code, 0, what);
    assert.match(stderr, /mounted read-only/, what);
    assert.doesNotMatch(stderr, raw, what);
  }
  assert.deepEqual(readdirSync(home, { recursive: true }), before);
});

test("what only looks makes no home, and says how to begin", async () => {
  const home = join(await tempHome(), "none");
  for (const [line, says] of [
    ["sessions list", /There is no conversation yet/],
    ["cron list", /Nothing is scheduled/],
    ["usage", /Nothing was used/],
    ["policy list", /Mode: ask/],
    ["skills list", /weather/],
    ["sessions show cli:work", /^$/],
    ["sessions delete cli:work --yes", /^$/],
    ["cron run x", /^$/],
  ] as const) {
    const { stdout, stderr } = await runMaxclaw(line.split(" "), home);
    assert.match(stdout, says, line);
    assert.ok(stderr.includes(`There is nothing at ${home} yet`), `${line}: ${stderr}`);
    assert.match(stderr, /maxclaw onboard/, line);
    assert.ok(!existsSync(home), `${line} made a home`);
  }
  const { stdout } = await runMaxclaw(["sessions", "list", "--json"], home);
  assert.deepEqual(JSON.parse(stdout).sessions, []);
});

test("a copy of a config is readable by its owner only, whatever the file was", async () => {
  const home = await tempHome();
  const config = join(home, "config.json");
  for (let n = 0; n < 2; n++) {
    writeFileSync(config, `{ "gateway": { "token": "secret-${n}-0123456789abcdef" } }`);
    chmodSync(config, 0o644);
    assert.equal((await runMaxclaw(["onboard", "--yes", "--force"], home)).code, 0);
  }
  for (const name of ["config.json", "config.json.bak", "config.json.bak2"])
    assert.equal(statSync(join(home, name)).mode & 0o777, 0o600, name);
  assert.match(readFileSync(`${config}.bak2`, "utf8"), /secret-1/);
});

test("a workspace that is gone, or whose disk is not mounted, is a failure in doctor and verify, and is not made anew", async () => {
  const home = await tempHome();
  const workspace = join(await tempHome(), "disk");
  writeFileSync(join(home, "config.json"), JSON.stringify({ agents: { defaults: { workspace } } }));
  const doctor = async () => {
    const { stdout } = await runMaxclaw(["doctor", "--offline", "--fix", "--json"], home);
    const { findings } = JSON.parse(stdout) as {
      findings: readonly Record<"check" | "level" | "found" | "todo", string>[];
    };
    return findings.filter(({ check }) => check === "home" || check === "stored").slice(1);
  };
  const isNew = await doctor();
  assert.deepEqual(
    isNew.map(({ level }) => level),
    ["ok", "ok"],
    "a home that has not been in use gets one",
  );
  const daemon = await startDaemon({ home });
  assert.equal(await daemon.end("SIGTERM"), 0);
  rmSync(workspace, { recursive: true });
  for (const isMountPoint of [false, true]) {
    if (isMountPoint) mkdirSync(workspace);
    const [finding, ...others] = await doctor();
    assert.deepEqual(others, []);
    assert.equal(finding?.level, "fail");
    const sentence = isMountPoint
      ? /^The workspace \S+disk has no \.sessions, where the conversations of this home were/
      : /^The workspace \S+disk is gone, and the conversations of this home were in it/;
    assert.match(finding?.found ?? "", sentence);
    assert.match(finding?.todo ?? "", /^Mount it, or restore it from a backup\./);
    const verified = await runMaxclaw(["events", "verify"], home);
    assert.equal(verified.code, 1);
    assert.match(verified.stdout, /The workspace \S+disk (?:is gone|has no \.sessions), .* Mount it, or restore it/);
    assert.deepEqual(existsSync(workspace) ? readdirSync(workspace) : undefined, isMountPoint ? [] : undefined);
  }
});
