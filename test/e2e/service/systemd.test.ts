import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import { withoutSandbox } from "../../support/worlds/needs.js";
import { startUserSystemd, type UserSystemd, withoutUserSystemd } from "../../support/worlds/user-systemd.js";

/** A name with all that units give a meaning of their own. */
const oddName = `my "odd" $HOME ho%me \\ it's`;

function makeHome(systemd: UserSystemd, config: object): string {
  const home = join(systemd.folder, oddName);
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  return home;
}

const mainPid = (systemd: UserSystemd): number =>
  Number(systemd.control("show", "maxclaw", "--property=MainPID", "--value"));
const property = (systemd: UserSystemd, name: string): string =>
  systemd.control("show", "maxclaw", `--property=${name}`, "--value").trim();

describe("a service of a real systemd", { skip: withoutUserSystemd() }, () => {
  test("is installed for a home of any name, is ready when the gateway is, and has a sandbox for commands", async () => {
    await using model = await startFakeOpenAI({
      answer: [{ toolCalls: [{ name: "exec", input: { command: "echo from the sandbox" } }] }, { text: "ok" }],
    });
    await using systemd = await startUserSystemd();
    const home = makeHome(systemd, openAIConfig(model.apiBase, { gateway: { port: 0 } }));
    const run = (...args: readonly string[]) => runMaxclaw(args, home, systemd.env);

    const installed = await run("service", "install");
    assert.equal(installed.code, 0, installed.stderr);
    assert.match(installed.stdout, /Installed: .*maxclaw\.service.*\nThe gateway runs\./);
    assert.match(installed.stderr, /loginctl enable-linger/);
    assert.deepEqual([property(systemd, "ActiveState"), property(systemd, "Type")], ["active", "notify"]);
    await until("it says how it is", () => /^ready, /.test(property(systemd, "StatusText")), 15_000);

    const status = JSON.parse((await run("status", "--json")).stdout);
    assert.deepEqual([status.pid, status.home, status.state], [mainPid(systemd), home, "ready"]);
    const environ = readFileSync(`/proc/${status.pid}/environ`, "utf8").split("\0");
    assert.ok(environ.includes(`MAXCLAW_HOME=${home}`));
    assert.ok(environ.some((entry) => entry.startsWith("WATCHDOG_USEC=90000000")));
    if (withoutSandbox() === false) {
      const { code, stdout } = await run("agent", "-m", "hello");
      assert.deepEqual([code, stdout], [0, "ok\n"]);
      assert.match(JSON.stringify(model.requests.at(-1)?.body), /"content":"from the sandbox"/);
      const { sandbox } = JSON.parse((await run("status", "--json")).stdout);
      assert.deepEqual([sandbox.state, sandbox.name], ["ready", "bubblewrap"]);
    }

    const shown = await run("service", "status");
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(
      shown.stdout,
      /^Service: {3}active \(running\), pid \d+, since .*\nIt says: {3}ready, .*\nBy itself: yes/,
    );
    assert.match(shown.stdout, /^Home: {6}.*ho%me \\ it's$/m);

    const before = mainPid(systemd);
    process.kill(before, "SIGKILL");
    await until("it comes back after a crash", () => ![0, before].includes(mainPid(systemd)), 30_000);
    await until("it is ready again", () => property(systemd, "ActiveState") === "active", 30_000);

    const again = await run("service", "install");
    assert.equal(again.code, 0, again.stderr);
    const other = await runMaxclaw(["service", "install"], join(systemd.folder, "other"), systemd.env);
    assert.equal(other.code, 1);
    assert.match(
      other.stderr,
      /runs the gateway of .*\. Choose another name with --name, or replace it with --force\./,
    );

    assert.equal((await run("service", "stop")).code, 0);
    assert.deepEqual([property(systemd, "ActiveState"), (await run("service", "status")).code], ["inactive", 1]);
    assert.equal((await run("service", "start")).code, 0);
    const removed = await run("service", "uninstall");
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal(property(systemd, "LoadState"), "not-found");
    assert.ok(readdirSync(home).includes("config.json"), "the home stays");
    assert.equal((await run("service", "start")).code, 1);
  });

  test("stays down after a config that cannot be used, and says so", async () => {
    await using systemd = await startUserSystemd();
    const home = makeHome(systemd, { gateway: { port: 0 } });
    const config = join(home, "other.json");
    writeFileSync(config, "{}");
    const run = (...args: readonly string[]) => runMaxclaw(args, home, systemd.env);
    assert.equal((await run("service", "install", "--no-start", "-c", config)).code, 0);
    rmSync(config);
    const started = await run("service", "start");
    assert.equal(started.code, 1);
    assert.match(started.stderr, /systemctl could not start maxclaw\.service: .*maxclaw service logs/s);
    assert.deepEqual([property(systemd, "ActiveState"), property(systemd, "NRestarts")], ["failed", "0"]);
    const status = await run("service", "status");
    assert.match(status.stdout, /Problem: {3}It failed \(exit code 78\)/);
  });

  test("is killed and started again when its event loop hangs", async () => {
    await using systemd = await startUserSystemd();
    const home = makeHome(systemd, { gateway: { port: 0 } });
    const run = (...args: readonly string[]) => runMaxclaw(args, home, systemd.env);
    assert.equal((await run("service", "install", "--no-start")).code, 0);
    const drop = join(systemd.folder, "config", "systemd", "user", "maxclaw.service.d");
    mkdirSync(drop, { recursive: true });
    writeFileSync(join(drop, "quick.conf"), "[Service]\nWatchdogSec=3\nRestartSec=0\n");
    systemd.control("daemon-reload");
    assert.equal((await run("service", "start")).code, 0);
    const pid = mainPid(systemd);
    const stamp = (): string => property(systemd, "WatchdogTimestampMonotonic");
    const first = stamp();
    await until("it gives signs of life", () => stamp() !== first, 15_000);
    assert.equal(mainPid(systemd), pid, "and stays");
    // As one that is busy for ever.
    process.kill(pid, "SIGSTOP");
    await until("another one runs", () => ![0, pid].includes(mainPid(systemd)), 30_000);
    assert.equal(property(systemd, "NRestarts"), "1");
  });

  test("is not started for ever when it cannot start, says so, and starts again once somebody asks", async () => {
    await using systemd = await startUserSystemd();
    const home = makeHome(systemd, { gateway: { port: 0 } });
    const run = (...args: readonly string[]) => runMaxclaw(args, home, systemd.env);
    assert.equal((await run("service", "install", "--no-start")).code, 0);
    const drop = join(systemd.folder, "config", "systemd", "user", "maxclaw.service.d");
    mkdirSync(drop, { recursive: true });
    writeFileSync(join(drop, "quick.conf"), "[Service]\nRestartSec=0\n");
    systemd.control("daemon-reload");
    {
      await using _other = await startDaemon({ home });
      assert.equal((await run("service", "start")).code, 1);
      await until("systemd gives up", () => property(systemd, "ActiveState") === "failed", 60_000);
      assert.equal(property(systemd, "NRestarts"), "10");
      const status = await run("service", "status");
      assert.match(status.stdout, /^Problem: {3}It failed ten times in ten minutes and is not started again\./m);
    }
    const started = await run("service", "start");
    assert.equal(started.code, 0, started.stderr);
  });
});
