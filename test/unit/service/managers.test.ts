import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { ServiceError, type ServicePlan, type ServiceScope } from "../../../src/service/manager.js";
import { openManager } from "../../../src/service/open-manager.js";
import { createRunProgram } from "../../../src/service/programs.js";
import { Systemd, type SystemdOptions } from "../../../src/service/systemd.js";
import { type FakePrograms, makeFakePrograms } from "../../support/fakes/fake-programs.js";

const run = ({ folder }: FakePrograms) =>
  createRunProgram({ PATH: `${folder}:/usr/bin:/bin` }, new AbortController().signal);
const onlyRun = ({ folder }: FakePrograms) => createRunProgram({ PATH: folder }, new AbortController().signal);

function planIn(folder: string): ServicePlan {
  return {
    home: join(folder, "home"),
    program: [process.execPath, "/srv/maxclaw.js", "gateway"],
    environment: {},
    writable: [],
  };
}

function systemdOf(programs: FakePrograms, scope: ServiceScope = "user") {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-service-"));
  const systemFolder = join(folder, "etc");
  mkdirSync(systemFolder);
  const options = {
    scope,
    name: "maxclaw",
    run: run(programs),
    configFolder: join(folder, "config"),
    systemFolder,
    user: "ada",
  };
  return { manager: new Systemd(options), plan: planIn(folder) };
}

describe("systemd", () => {
  test("says in words why the file of a service cannot be written, and what to do", async () => {
    const programs = makeFakePrograms();
    for (const name of ["systemctl", "systemd-notify", "loginctl"]) programs.add(name);
    const { manager, plan } = systemdOf(programs);
    const folder = dirname(dirname(manager.file));
    mkdirSync(dirname(folder), { recursive: true });
    // A disk that is not there at the moment.
    symlinkSync(join(folder, "..", "gone"), folder);
    await assert.rejects(manager.install(plan, { force: false, start: true }), (error) => {
      assert.ok(error instanceof ServiceError, String(error));
      assert.match(
        error.message,
        /^The file of the service cannot be written\. .*systemd cannot be used: it is a link, and what it leads to is not there\. Mount it/,
      );
      return true;
    });
    rmSync(folder);
    writeFileSync(folder, "");
    await assert.rejects(
      manager.install(plan, { force: false, start: true }),
      new RegExp(`${manager.file} cannot be read: it is a file, not a folder\\.$`),
    );
  });

  test("of the machine gets a unit that everybody may read and root alone may change, and no word of lingering", async () => {
    const programs = makeFakePrograms();
    for (const name of ["systemctl", "systemd-notify", "loginctl"]) programs.add(name);
    const { manager, plan } = systemdOf(programs, "system");
    const notes = await manager.install({ ...plan, account: "ada" }, { force: false, start: true });
    assert.deepEqual(notes, []);
    assert.match(readFileSync(manager.file, "utf8"), /^User=ada$/m);
    assert.equal(statSync(manager.file).mode & 0o777, 0o644);
    assert.deepEqual(
      programs.calls().filter((call) => call.startsWith("systemctl") && !call.includes("show")),
      [
        "systemctl daemon-reload",
        "systemctl enable maxclaw.service",
        "systemctl reset-failed maxclaw.service",
        "systemctl restart maxclaw.service",
      ],
    );
  });

  test("of a user is asked as theirs, and says how the gateway runs on without a login", async () => {
    const programs = makeFakePrograms();
    for (const name of ["systemctl", "systemd-notify"]) programs.add(name);
    programs.add("loginctl", "echo Linger=no");
    const { manager, plan } = systemdOf(programs);
    const [note = "", ...more] = await manager.install(plan, { force: false, start: false });
    assert.deepEqual(more, []);
    assert.match(note, /only while ada is logged in\. .*: loginctl enable-linger ada$/);
    assert.ok(
      programs
        .calls()
        .filter((call) => call.startsWith("systemctl"))
        .every((call) => call.includes("--user")),
    );
    assert.ok(!programs.calls().some((call) => call.includes("restart")), "it is not started");
    programs.add("loginctl", "echo Linger=yes");
    assert.deepEqual(await manager.install(plan, { force: false, start: false }), []);
  });

  test("that is not there, or does not run, is said with what else can be done", async () => {
    const none = makeFakePrograms();
    const { folder } = none;
    const options = { scope: "user", name: "maxclaw", configFolder: folder, user: "ada", bootMark: folder } as const;
    const plan = planIn(folder);
    const refusal = async (programs: FakePrograms, more: Partial<SystemdOptions> = {}): Promise<string> =>
      await new Systemd({ ...options, run: onlyRun(programs), ...more })
        .install(plan, { force: false, start: true })
        .then(
          () => "installed",
          (error: Error & { kind?: string }) => `${error.kind}: ${error.message}`,
        );
    assert.match(await refusal(none), /^unavailable: There is no systemd on this machine .*@reboot/);
    const dead = makeFakePrograms();
    dead.add(
      "systemctl",
      'echo "System has not been booted with systemd as init system (PID 1). Can\'t operate." >&2; exit 1',
    );
    assert.match(
      await refusal(dead, { bootMark: join(folder, "nothing") }),
      /^unavailable: systemd does not run on this machine\. .*@reboot/,
    );
    const su = makeFakePrograms();
    su.add("systemctl", 'echo "Failed to connect to bus: No medium found" >&2; exit 1');
    assert.match(
      await refusal(su),
      /^unavailable: The services of ada cannot be reached: Failed to connect.*by ssh.*--system$/,
    );
    const asRoot = await refusal(su, { user: "root" });
    assert.match(asRoot, /^unavailable: The services of root cannot be reached: .*: maxclaw service install --system$/);
    assert.doesNotMatch(asRoot, /ssh|sudo/);
    const unbooted = await refusal(su, { user: "root", bootMark: join(folder, "nothing") });
    assert.match(unbooted, /^unavailable: systemd does not run on this machine\. .*@reboot/);
    assert.doesNotMatch(unbooted, /--system|ssh/);
    assert.equal(existsSync(join(folder, "systemd")), false, "nothing is written");
  });

  test("leaves a service alone that it did not write", async () => {
    const programs = makeFakePrograms();
    programs.add("systemctl");
    const { manager, plan } = systemdOf(programs, "system");
    writeFileSync(manager.file, "[Service]\nExecStart=/usr/bin/other\n");
    await assert.rejects(manager.install(plan, { force: false, start: true }), /was not written by maxclaw.*--force/);
    await assert.rejects(manager.uninstall(), /was not written by maxclaw/);
    assert.match(readFileSync(manager.file, "utf8"), /other/);
    await manager.install(plan, { force: true, start: true });
    assert.equal(await manager.installedHome(), plan.home);
  });

  test("says what is wrong with a service: a Node that is gone, too many starts, no sign of life", async () => {
    const programs = makeFakePrograms();
    programs.add("loginctl", "echo Linger=yes");
    const { manager, plan } = systemdOf(programs);
    programs.add("systemctl");
    await manager.install(
      { ...plan, program: ["/opt/old/node", "/srv/maxclaw.js", "gateway"] },
      { force: false, start: false },
    );
    const problems = async (facts: string): Promise<string> => {
      programs.add("systemctl", `printf 'LoadState=loaded\\n${facts}'`);
      return (await manager.status()).problems.join("\n");
    };
    assert.match(await problems("ActiveState=failed\\nResult=start-limit-hit\\n"), /ten times in ten minutes/);
    assert.match(await problems("ActiveState=failed\\nResult=watchdog\\n"), /no sign of life/);
    assert.match(await problems("ActiveState=active\\n"), /^The service starts \/opt\/old\/node, which is not there\./);
  });
});

describe("launchd", () => {
  const open = (programs: FakePrograms, homedir: string) =>
    openManager({
      ...{ scope: "user", name: "maxclaw", run: run(programs), env: {}, homedir },
      ...{ user: "ada", uid: 501, platform: "darwin" },
    });

  test("gets an agent, which it starts, stops and forgets", async () => {
    const programs = makeFakePrograms();
    programs.add("launchctl", 'case "$1" in print) exit 113;; esac');
    const folder = mkdtempSync(join(tmpdir(), "maxclaw-service-"));
    const manager = open(programs, folder);
    const plan = planIn(folder);
    assert.deepEqual(await manager.install(plan, { force: false, start: true }), [
      "It runs while you are logged in at this Mac.",
    ]);
    assert.equal(manager.file, join(folder, "Library", "LaunchAgents", "org.maxclaw.gateway.plist"));
    assert.equal(await manager.installedHome(), plan.home);
    assert.deepEqual((await manager.status()).isRunning, false);
    programs.add("launchctl", 'case "$1" in print) printf "\\tstate = running\\n\\tpid = 77\\n";; esac');
    const status = await manager.status();
    assert.deepEqual([status.isRunning, status.lines[0]], [true, "Service:   running, pid 77"]);
    await manager.restart();
    await manager.stop();
    await manager.uninstall();
    assert.equal(existsSync(manager.file), false);
    assert.deepEqual(
      programs.calls().filter((call) => !/ (version|print)/.test(call)),
      [
        "launchctl bootout gui/501/org.maxclaw.gateway",
        `launchctl bootstrap gui/501 ${manager.file}`,
        "launchctl kickstart -k gui/501/org.maxclaw.gateway",
        "launchctl bootout gui/501/org.maxclaw.gateway",
        "launchctl bootout gui/501/org.maxclaw.gateway",
      ],
    );
    await assert.rejects(manager.start(), /The service is not installed/);
  });

  test("has no service of the machine, and other systems have none at all", () => {
    const programs = makeFakePrograms();
    const options = { name: "maxclaw", run: run(programs), env: {}, homedir: "/", user: "ada", uid: 501 };
    assert.throws(() => openManager({ ...options, scope: "system", platform: "darwin" }), /without --system/);
    assert.throws(
      () => openManager({ ...options, scope: "user", platform: "freebsd" }),
      /no service for this system \(freebsd\)/,
    );
  });
});
