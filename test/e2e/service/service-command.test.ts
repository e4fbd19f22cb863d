import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFakePrograms } from "../../support/fakes/fake-programs.js";
import { projectFile } from "../../support/project.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";

function makeWorld() {
  const home = mkdtempSync(join(tmpdir(), "maxclaw-home-"));
  const programs = makeFakePrograms();
  const env = { PATH: `${programs.folder}:/usr/bin:/bin` };
  return { home, programs, env, unit: join(home, ".config", "systemd", "user", "maxclaw.service") };
}

describe("maxclaw service", { skip: process.platform !== "linux" && "needs Linux" }, () => {
  test("without systemd ends with 69, says what to do, and writes nothing", async () => {
    const { home, programs, unit } = makeWorld();
    for (const verb of ["install", "status", "start", "uninstall"]) {
      const { code, stderr } = await runMaxclaw(["service", verb], home, { PATH: programs.folder });
      assert.deepEqual([code, stderr.split("\n").length], [69, 2], stderr);
      assert.match(stderr, /^maxclaw: There is no systemd on this machine/);
    }
    assert.equal(existsSync(unit), false);
  });

  test("without a systemd that runs says what helps with each command", async () => {
    const { home, programs, env } = makeWorld();
    programs.add("systemctl", 'echo "Failed to connect to bus: No such file or directory" >&2; exit 1');
    const isBooted = existsSync("/run/systemd/system");
    // The PATH of cron has neither Node nor what npm installs.
    const cronLine = `@reboot MAXCLAW_HOME=${home} ${process.execPath} /`;
    for (const [verb, todo] of [
      ["install", cronLine],
      ["start", cronLine],
      ["restart", cronLine],
      ["stop", "where it was started"],
      ["uninstall", "There is nothing to remove."],
    ] as const) {
      const { code, stderr } = await runMaxclaw(["service", verb], home, env);
      assert.equal(code, 69);
      if (isBooted) continue;
      assert.match(stderr, /^maxclaw: systemd does not run on this machine\. /);
      assert.ok(stderr.includes(todo), stderr);
      assert.doesNotMatch(stderr, /ssh|sudo|--system/);
    }
    const { stderr } = await runMaxclaw(["onboard", "--yes", "--offline", "--service"], home, env);
    if (!isBooted)
      assert.ok(stderr.includes("systemd does not run on this machine. ") && stderr.includes(cronLine), stderr);
  });

  test("says what it means when the system has kept no log", async () => {
    const { home, programs, env } = makeWorld();
    programs.add("journalctl", "case \"$*\" in *--quiet*) ;; *) echo '-- No entries --' ;; esac");
    const none = await runMaxclaw(["service", "logs"], home, { PATH: programs.folder });
    assert.deepEqual([none.code, none.stdout], [69, ""]);
    assert.match(none.stderr, /^The service is not installed, so the system has no log of it\. .*: maxclaw logs$/m);
    assert.match(
      none.stderr,
      /^maxclaw: There is no systemd.* In a container, let it run maxclaw gateway, with a restart policy/m,
    );
    assert.doesNotMatch(none.stderr, /service install/);
    assert.equal(
      (await runMaxclaw(["service", "logs", "-f"], home, { PATH: programs.folder })).code,
      69,
      "it does not wait",
    );
    for (const name of ["systemctl", "loginctl", "systemd-notify"]) programs.add(name);
    const possible = await runMaxclaw(["service", "logs"], home, env);
    assert.match(possible.stderr, /has no log of it\. Install it with: maxclaw service install\. .*maxclaw logs$/m);
    assert.equal((await runMaxclaw(["service", "install"], home, env)).code, 0);
    const silent = await runMaxclaw(["service", "logs"], home, env);
    assert.deepEqual([silent.code, silent.stdout], [0, ""]);
    assert.match(silent.stderr, /^The system has kept no line of this service\. .*maxclaw logs$/m);
  });

  test("names the variables of the shell that the service does not see, without what is in them", async () => {
    const { home, programs, env, unit } = makeWorld();
    for (const name of ["systemctl", "loginctl", "systemd-notify"]) programs.add(name);
    const key = "sk-of-this-shell-only";
    const config = {
      providers: { openai: { apiKey: "$" + "{OPENAI_API_KEY}" }, groq: { apiKey: "$" + "{GROQ_API_KEY}" } },
    };
    writeFileSync(join(home, "config.json"), JSON.stringify(config));
    writeFileSync(join(home, "secrets.json"), JSON.stringify({ GROQ_API_KEY: "gsk-kept" }), { mode: 0o600 });
    const { code, stdout, stderr } = await runMaxclaw(["service", "install"], home, {
      ...env,
      OPENAI_API_KEY: key,
      GROQ_API_KEY: "gsk-other",
    });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /does not see the variables of your shell: OPENAI_API_KEY\. Write them into .*secrets\.json/);
    assert.ok(!`${stdout}${stderr}${readFileSync(unit, "utf8")}`.includes(key));
  });

  test("does not start a second gateway beside one that runs for the home", async () => {
    const { home, programs, env } = makeWorld();
    for (const name of ["systemctl", "loginctl", "systemd-notify"]) programs.add(name);
    await using daemon = await startDaemon({ home });
    const { code, stderr } = await runMaxclaw(["service", "install"], home, env);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      new RegExp(`A gateway \\(pid ${daemon.child.pid}\\) runs for .* already\\. Stop it, then: maxclaw service start`),
    );
    assert.ok(!programs.calls().some((call) => /restart|start maxclaw/.test(call)));
  });

  test("is not installed from what npx has unpacked", async () => {
    const { home, programs, env, unit } = makeWorld();
    for (const name of ["systemctl", "loginctl", "systemd-notify"]) programs.add(name);
    const folder = join(home, "_npx", "1234");
    mkdirSync(folder, { recursive: true });
    const script = join(folder, "maxclaw.mjs");
    writeFileSync(
      script,
      `import { main } from ${JSON.stringify(projectFile("dist/src/cli/main.js"))};\nawait main(process.argv.slice(2));\n`,
    );
    const { status, stderr } = spawnSync(process.execPath, [script, "service", "install"], {
      env: { ...env, HOME: home, MAXCLAW_HOME: home },
      encoding: "utf8",
    });
    assert.deepEqual([status, existsSync(unit)], [1, false]);
    assert.match(stderr, /npm install --global maxclaw/);
  });

  test("of the machine is for root only", {
    skip: process.getuid?.() !== 0 && "needs root, to be somebody else",
  }, () => {
    const { home, programs, env } = makeWorld();
    programs.add("systemctl");
    const done = spawnSync(
      process.execPath,
      ["--input-type=module", "-e", asNobody, "service", "install", "--system"],
      {
        env: { ...env, HOME: home, MAXCLAW_HOME: home, MAIN: projectFile("dist/src/cli/main.js") },
        encoding: "utf8",
      },
    );
    assert.equal(done.status, 1, done.stderr);
    assert.match(done.stderr, /changed by root only\. Run it with sudo, or without --system\./);
    assert.ok(!existsSync("/etc/systemd/system/maxclaw.service"));
  });

  test("shows what the service wrote through the program of the system", async () => {
    const { home, programs, env } = makeWorld();
    programs.add("journalctl", "echo 'Nov 22 maxclaw: ready'");
    const shown = await runMaxclaw(["service", "logs", "-f", "-n", "7"], home, env);
    assert.deepEqual([shown.code, shown.stdout], [0, "Nov 22 maxclaw: ready\n"], shown.stderr);
    assert.equal(
      programs.calls().at(-1),
      "journalctl --user-unit maxclaw.service --lines 7 --no-pager --quiet --follow",
    );
    const none = await runMaxclaw(["service", "logs"], home, { PATH: "/nowhere" });
    assert.deepEqual([none.code, /maxclaw logs/.test(none.stderr)], [1, true]);
  });
});

/** The rights are given up once everything that root alone can read is loaded. */
const asNobody = `
const { main } = await import(process.env.MAIN);
await import(process.env.MAIN.replace("main.js", "care/service-actions.js"));
process.setgid(65534); process.setuid(65534);
await main(process.argv.slice(1));
`;
