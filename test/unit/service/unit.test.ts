import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { exitCodes } from "../../../src/cli/exit.js";
import { agentPlist, homeInPlist, keeper, programInPlist } from "../../../src/service/agent-plist.js";
import type { ServicePlan } from "../../../src/service/manager.js";
import { finalExitCodes, homeIn, programIn, unitText } from "../../../src/service/unit.js";
import { projectFile } from "../../support/project.js";
import { finish, outputOf } from "../../support/worlds/cli.js";
import { withoutProgram, withoutPython } from "../../support/worlds/needs.js";

const oddNames = [
  "/srv/plain",
  "/srv/with blank",
  '/srv/"quoted" it\'s',
  "/srv/100%h $HOME $$",
  "/srv/back\\slash\\",
  "/srv/ünï",
];

function planOf(home: string): ServicePlan {
  const program = [process.execPath, `${home}/bin/maxclaw.js`, "gateway", "-c", `${home}/config.json`] as const;
  return { home, program, environment: { PATH: `${home}/bin:/usr/bin` }, writable: [] };
}

describe("the unit of systemd", () => {
  test("names the home and the program so that they are read as they are", () => {
    for (const home of oddNames)
      for (const scope of ["user", "system"] as const) {
        const text = unitText({ ...planOf(home), account: "maxclaw" }, { scope, canNotify: true });
        assert.equal(homeIn(text), home);
        assert.deepEqual(programIn(text), [process.execPath, `${home}/bin/maxclaw.js`]);
      }
    assert.throws(() => unitText(planOf("/srv/two\nlines"), { scope: "user", canNotify: true }), /control character/);
  });

  test("is one that systemd takes", { skip: withoutProgram("systemd-analyze") }, () => {
    const folder = mkdtempSync(join(tmpdir(), "maxclaw-unit-"));
    const faultsOf = (scope: "user" | "system", text: string): string => {
      const file = join(folder, `maxclaw-${scope}.service`);
      writeFileSync(file, text);
      const script = 'systemd-analyze verify --man=no "$1" "$2" 2>&1 || true';
      const env = { ...process.env, XDG_RUNTIME_DIR: folder, SYSTEMD_LOG_LEVEL: "warning" };
      const said = execFileSync("sh", ["-c", script, "sh", `--${scope}`, file], { env, encoding: "utf8" });
      return said
        .split("\n")
        .filter((line) => line.includes("maxclaw"))
        .join("\n");
    };
    for (const [at, name] of oddNames.entries())
      for (const scope of ["user", "system"] as const) {
        const home = join(folder, String(at), name);
        mkdirSync(join(home, "bin"), { recursive: true });
        writeFileSync(join(home, "bin", "maxclaw.js"), "");
        const account = scope === "system" ? "nobody" : undefined;
        const text = unitText({ ...planOf(home), account, writable: [home] }, { scope, canNotify: true });
        assert.equal(faultsOf(scope, text), "");
        assert.notEqual(faultsOf(scope, text.replace('ExecStart="', 'ExecStart="%Q')), "", "it does look");
      }
  });

  test("stays down after the ends that starting again does not help", () => {
    for (const code of [exitCodes.usage, exitCodes.damaged, exitCodes.config])
      assert.ok((finalExitCodes as readonly number[]).includes(code), String(code));
    const text = unitText(planOf("/srv/x"), { scope: "user", canNotify: true });
    for (const line of [
      "Restart=always",
      "StartLimitIntervalSec=600",
      "StartLimitBurst=10",
      "RestartPreventExitStatus=2 65 78",
    ])
      assert.ok(text.split("\n").includes(line), line);
  });

  test("waits for no word where the program that carries it is not there", () => {
    const lines = unitText(planOf("/srv/x"), { scope: "user", canNotify: false }).split("\n");
    assert.ok(lines.includes("Type=exec"));
    assert.ok(!lines.some((line) => /^(WatchdogSec|NotifyAccess)=/.test(line)));
  });

  test("of the machine writes to its home only, unless that lies among the files of people", () => {
    const lines = (home: string) =>
      unitText(
        { ...planOf(home), account: "ada", writable: ["/data/work space"] },
        { scope: "system", canNotify: true },
      ).split("\n");
    const own = lines("/var/lib/maxclaw");
    for (const line of [
      "ProtectSystem=strict",
      "ProtectHome=yes",
      'ReadWritePaths="/var/lib/maxclaw" "/data/work space"',
      "User=ada",
    ])
      assert.ok(own.includes(line), line);
    const persons = lines("/home/ada/.maxclaw");
    assert.ok(persons.includes("ProtectSystem=full"));
    assert.ok(!persons.some((line) => /^(ProtectHome|ReadWritePaths)=/.test(line)));
  });

  test("in scripts/ is the one that the command writes", () => {
    const remarks = readFileSync(projectFile("scripts/maxclaw.service"), "utf8")
      .split("\n\n[Unit]")[0]
      ?.split("\n")
      .slice(1)
      .map((line) => line.replace(/^# ?/, ""));
    const plan = {
      home: "/var/lib/maxclaw",
      program: ["/usr/bin/env", "maxclaw", "gateway"],
      environment: { NODE_ENV: "production" },
      account: "maxclaw",
      writable: [],
    } as const;
    const text = unitText(plan, { scope: "system", canNotify: true, remarks });
    assert.equal(readFileSync(projectFile("scripts/maxclaw.service"), "utf8"), text);
  });
});

describe("the agent of launchd", () => {
  test("names the home and the program so that they are read as they are", { skip: withoutPython() }, () => {
    for (const home of [...oddNames, "/srv/<a> & b"]) {
      const text = agentPlist("org.maxclaw.gateway", planOf(home));
      assert.equal(homeInPlist(text), home);
      assert.deepEqual(programInPlist(text), [process.execPath, `${home}/bin/maxclaw.js`]);
      const read = execFileSync(
        "python3",
        ["-c", "import sys, plistlib, json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))"],
        {
          input: text,
          encoding: "utf8",
        },
      );
      const { ProgramArguments, EnvironmentVariables, KeepAlive } = JSON.parse(read);
      assert.deepEqual(ProgramArguments, ["/bin/sh", "-c", keeper, "maxclaw", ...planOf(home).program]);
      assert.equal(EnvironmentVariables.MAXCLAW_HOME, home);
      assert.deepEqual(KeepAlive, { SuccessfulExit: false });
    }
  });

  test("ends well, and so for good, after the ends that starting again does not help", () => {
    const endOf = (script: string): number => {
      try {
        execFileSync("/bin/sh", ["-c", keeper, "maxclaw", "/bin/sh", "-c", script], { stdio: "pipe" });
        return 0;
      } catch (error) {
        return error instanceof Error && "status" in error ? Number(error.status) : -1;
      }
    };
    assert.deepEqual(["exit 0", "exit 78", "exit 65", "exit 1", "kill -9 $$"].map(endOf), [0, 0, 0, 1, 137]);
  });

  test("hands on the signal to stop, and waits for what the gateway finishes", async () => {
    const gateway = "trap 'echo finishing; exit 0' TERM; echo up; while :; do read -t 1 x <> <(:) || :; done";
    const child = spawn("/bin/sh", ["-c", keeper, "maxclaw", "/bin/bash", "-c", gateway]);
    await outputOf(child.stdout, /up/);
    const ended = finish(child);
    child.kill("SIGTERM");
    const { code, stdout } = await ended;
    assert.deepEqual([code, stdout], [0, "finishing\n"]);
  });
});
