import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import type { Confinement } from "../../../src/tools/exec/sandbox/sandbox.js";
import { shellCommand } from "../../../src/tools/exec/shell.js";
import { until } from "../../support/engine/engine-kit.js";
import { withoutSandbox, withoutSmallDisk } from "../../support/worlds/needs.js";
import { createExecPlace, processesOf, type RunOptions, untilGone } from "../../support/worlds/tools/exec-place.js";

/** A command that runs for ever, with a name that no other test has. */
const nap = (id: number): string => `sleep ${process.pid}${id}`;
const allow = async (): Promise<undefined> => undefined;
const closed = withoutSandbox();

for (const sandboxMode of ["auto", "off"] as const) {
  const skip = sandboxMode === "auto" && closed;
  describe(sandboxMode === "auto" ? "in the sandbox" : "without a sandbox", { skip }, () => {
    const open = (idleMs?: number) => createExecPlace({ sandboxMode, ...(idleMs === undefined ? {} : { idleMs }) });
    const permit = allow;

    test("folder and environment stay from command to command, also after one that failed", async () => {
      await using at = open();
      const { folder } = at.place;
      const run = async (command: string) => (await at.run(command, { permit })).text;
      assert.equal(
        await run("mkdir sub && cd sub && export GREETING='a \"b\" $c\n世界'"),
        `(no output)\n[now in ${folder}/sub]`,
      );
      assert.equal(await run('pwd; echo "$GREETING"; false'), `${folder}/sub\na "b" $c\n世界\n[exit 1]`);
      assert.equal(await run("cd ..; unset GREETING; exit 3"), `(no output)\n[exit 3]\n[now in ${folder}]`);
      assert.equal(await run("printenv GREETING || echo gone"), "gone");
      assert.equal(await run("cd sub; rm -r ../sub"), `(no output)\n[now in ${folder}/sub]`);
      assert.match(await run("pwd"), /sub is gone; this runs in .*telegram_42\]/);
      const syntax = await at.run("if then", { permit });
      assert.ok(syntax.isError);
      assert.match(syntax.text, /syntax error/);
    });

    test("two sessions share neither environment, nor folder, nor background, nor temporary files", async () => {
      await using at = open();
      const other = { session: "telegram:43", permit };
      await at.run("export SECRET=mine; mkdir a; cd a", { permit });
      if (sandboxMode === "auto") await at.run("echo mine > /tmp/note", { permit });
      await at.run(nap(98101), { permit, background: true });
      assert.match(
        (await at.run("pwd; printenv SECRET || echo unset; ls /tmp/note", other)).text,
        /telegram_43\nunset/,
      );
      if (sandboxMode === "auto") {
        assert.match((await at.run("ls /tmp/note; ps ax; cat /proc/*/cmdline", other)).text, /No such file/);
        assert.doesNotMatch((await at.run("cat /proc/*/cmdline | tr '\\0' ' '", other)).text, /98101/);
        assert.equal((await at.run("cat /tmp/note", { permit })).text, "mine");
      }
      assert.equal((await at.process({ action: "list" }, other)).text, "Nothing runs.");
      for (const action of ["read", "write", "kill"])
        assert.match(
          (await at.process({ action, id: "bg1", text: "x" }, other)).text,
          /There is no background command "bg1"/,
        );
      assert.match(
        (await at.process({ action: "list" }, { permit })).text,
        new RegExp(`^bg1: runs for \\d+ s: ${nap(98101)}$`),
      );
    });

    test("output is whole and in order, whichever way it is written", async () => {
      await using at = open();
      const { text } = await at.run("echo 1; echo 2 >&2; echo 3 > /dev/stdout; echo 4 > /dev/stderr; printf 五", {
        permit,
      });
      assert.equal(text, "1\n2\n3\n4\n五");
    });

    test("long output is shown with its beginning and its end, and kept whole in a file", async () => {
      await using at = open();
      const { text } = await at.run("seq 20000", { permit, toolCallId: "call/../7" });
      assert.ok(text.length < 16_000);
      const [, file = ""] = /the whole output is in (\S+)\]/.exec(text) ?? [];
      const whole = readFileSync(path.resolve(at.place.folder, file), "utf8");
      assert.equal(whole, Array.from({ length: 20_000 }, (_, n) => n + 1).join("\n"));
      assert.match(text, /^1\n2\n[\s\S]*characters left out[\s\S]*19999\n20000$/);
    });

    test("a command that floods is ended, and holds a bounded part of what it wrote", async () => {
      await using at = open();
      const { text } = await at.run("yes 0123456789", { permit, timeout: 60 });
      assert.match(text, /\[stopped: far too much output\]/);
    });

    test("at the time-out the command and all that it has started are dead, and the terminal is as before", async () => {
      await using at = open();
      await at.run("export KEPT=1", { permit });
      const command = `export KEPT=2; ${nap(98201)} & (setsid ${nap(98202)} &) ; nohup ${nap(98203)} & ${nap(98204)}`;
      const { text, isError } = await at.run(command, { permit, timeout: 1 });
      assert.ok(isError);
      assert.match(text, /\[stopped after 1 s/);
      for (const one of [98201, 98202, 98203, 98204]) await untilGone(nap(one));
      assert.equal((await at.run("echo $KEPT", { permit })).text, "1");
    });

    test("what a command leaves running ends with it, and holds nothing up", async () => {
      await using at = open();
      const begun = Date.now();
      assert.equal((await at.run(`${nap(98301)} & (setsid ${nap(98302)} &); echo done`, { permit })).text, "done");
      assert.ok(Date.now() - begun < 10_000);
      for (const one of [98301, 98302]) await untilGone(nap(one));
    });

    test("a command in a fresh environment gets nothing that earlier ones exported, and leaves nothing behind", async () => {
      await using at = open();
      const fresh = { permit, freshEnvironment: true };
      const run = async (command: string, options: RunOptions) => (await at.run(command, options)).text;
      await run("mkdir -p bin sub; printf '#!/bin/sh\\necho evil' > bin/date; chmod +x bin/date; cd sub", { permit });
      await run("export PATH=$HOME/bin:$PATH BASH_ENV=$HOME/x A=1; f() { echo evil; }; export -f f", { permit });
      assert.equal(await run("date", { permit }), "evil");
      assert.match(
        await run("date; printenv A || echo unset; pwd; f", fresh),
        /\d\d\nunset\n.*\/sub\n.*f: (command )?not found/,
      );
      assert.equal(await run("export A=2 B=2; cd ..", fresh), "(no output)");
      assert.equal(await run('echo "$A $B."; pwd', { permit }), `1 .\n${at.place.folder}/sub`);
    });

    test("a folder that grows too large ends its command, in the background too, and then it can be made smaller", async () => {
      await using at = createExecPlace({ sandboxMode, quota: { maxBytes: 4 * 1024 ** 2, maxFiles: 500 } });
      const run = async (command: string) => await at.run(command, { permit, timeout: 55 });
      const { text, isError } = await run("for i in 1 2 3 4; do head -c 1500000 /dev/zero > f$i; done; sleep 50");
      assert.ok(isError);
      assert.match(text, /\[stopped: this chat's folder holds more than its limit of 4\.0 MB\]/);
      const more = await run("echo more > more.txt; ls");
      assert.match(more.text, /\[this chat's folder holds .*; until it holds less, commands can only delete\]/);
      if (sandboxMode === "auto") assert.equal(readFileSync(path.join(at.place.folder, "more.txt"), "utf8"), "");
      assert.equal((await run("rm f*")).isError, false);
      assert.equal((await run("echo more > more.txt; cat more.txt")).text, "more");
      const fill = "i=0; while [ $i -lt 700 ]; do i=$((i+1)); : > n$i; done; sleep 50";
      await at.run(fill, { permit, background: true });
      const told = async () => (await at.process({ action: "list" }, { permit })).text;
      await until("it is stopped", async () => (await told()).includes("was stopped"), 40_000);
      assert.match(await told(), /bg1: was stopped: this chat's folder holds more than its limit of 500 files/);
      const next = await run("rm -f n*; : > one");
      assert.equal(next.isError, false, next.text);
      for (let i = 0; i < 1001; i += 1) writeFileSync(path.join(at.place.folder, `n${i}`), "");
      assert.match((await run("rm -f n*")).text, /more than twice as much, so no command runs here/);
    });

    test("when the turn is stopped everything is dead", async () => {
      await using at = open();
      const turn = new AbortController();
      const running = at.run(`${nap(98401)} & (setsid ${nap(98402)} &); ${nap(98403)}`, {
        permit,
        signal: turn.signal,
      });
      await until("it runs", () => processesOf(nap(98402)).length > 0 && processesOf(nap(98403)).length > 0, 20_000);
      turn.abort(new Error("stopped"));
      await assert.rejects(running, /stopped/);
      for (const one of [98401, 98402, 98403]) await untilGone(nap(one));
    });

    test("background commands are listed, read, written to and killed", async () => {
      await using at = open();
      const ask = async (input: unknown) => (await at.process(input, { permit })).text;
      const started = await at.run(`echo ready; while read -r line; do echo "got $line"; done; ${nap(98501)}`, {
        permit,
        background: true,
      });
      assert.equal(started.text, "Started in the background as bg1.");
      assert.match(await ask({ action: "read", id: "bg1", wait: 20 }), /^ready\n\[runs for/);
      assert.equal(await ask({ action: "write", id: "bg1", text: "hello\n" }), "Written to bg1.");
      assert.match(await ask({ action: "read", id: "bg1", wait: 20 }), /^got hello\n\[runs for/);
      assert.match(await ask({ action: "read", id: "bg1" }), /^\[runs for/);
      assert.equal(await ask({ action: "kill", id: "bg1" }), "bg1 was killed.");
      assert.equal(await ask({ action: "write", id: "bg1", text: "more\n" }), "bg1 has ended.");
      await untilGone(nap(98501));
      await at.run("echo quick; exit 4", { permit, background: true });
      await until("it has ended", async () => (await ask({ action: "list" })).includes("bg2: ended with exit 4"));
      assert.match(await ask({ action: "read", id: "bg2" }), /^quick\n\[ended with exit 4/);
      for (let n = 0; n < 8; n++) assert.ok(!(await at.run(nap(98502), { permit, background: true })).isError);
      assert.match((await at.run(nap(98502), { permit, background: true })).text, /Too much runs in the background/);
      await at.terminals.close("telegram:42", "test");
      assert.deepEqual(processesOf(nap(98502)), []);
    });

    test("an unused terminal is closed, one in which something runs is not", async () => {
      await using at = open(300);
      await at.run("export A=1", { permit });
      await at.run(nap(98601), { permit, background: true, session: "telegram:43" });
      await until("the idle one is closed", () => at.changes.some(({ to }) => to === "stopped"));
      const [opened, stopped] = at.changes.filter(({ sessionKey }) => sessionKey === "telegram:42");
      assert.deepEqual(stopped, { ...opened, from: "ready", to: "stopped", detail: "nobody used it" });
      assert.ok(at.terminals.find("telegram:43") !== undefined);
      assert.equal((await at.run("printenv A || echo fresh", { permit })).text, "fresh");
      await at.process({ action: "kill", id: "bg1" }, { permit, session: "telegram:43" });
      await until("the other is closed too", () => at.terminals.find("telegram:43") === undefined);
      assert.deepEqual(processesOf(nap(98601)), []);
    });

    test("a command whose person takes longer to say yes than an unused terminal stays open runs as it was asked", async () => {
      await using at = open(50);
      await at.run("export A=1", { permit });
      const late = async (): Promise<undefined> => {
        await at.run("true", { permit, session: "telegram:43" });
        await until("one that was used later is closed", () => at.terminals.find("telegram:43") === undefined);
      };
      assert.equal((await at.run("printenv A", { permit: late })).text, "1");
    });

    test("closing removes its temporary files, and a new process those of one that was killed", async () => {
      await using at = open();
      mkdirSync(path.join(at.home, "terminals/left"), { recursive: true });
      writeFileSync(path.join(at.home, "terminals/left/over"), "x");
      await at.run("true", { permit });
      await until("it is removed", () => !existsSync(path.join(at.home, "terminals/left")));
      await at.terminals.close("telegram:42", "test");
      assert.deepEqual(readdirSync(path.join(at.home, "terminals")), []);
    });
  });
}

test("without a sandbox every command asks, as owner; a guest may not at all", async () => {
  await using at = createExecPlace({ sandboxMode: "off" });
  assert.match((await at.run("echo hi")).text, /^Nobody allowed to run echo hi: that runs without a sandbox\.$/);
  assert.match((await at.run("echo hi", { role: "guest" })).text, /without a sandbox for an owner/);
  assert.equal((await at.run("echo hi", { mode: "auto" })).text, "hi");
  assert.match((await at.run("echo hi", { mode: "safe" })).text, /executionMode is "safe"/);
  process.env.MAXCLAW_TEST_TOKEN = "environment-secret";
  assert.doesNotMatch((await at.run("env", { mode: "auto" })).text, /environment-secret/);
  delete process.env.MAXCLAW_TEST_TOKEN;
});

test("in the sandbox a command asks only for the network, and gets none before the yes", { skip: closed }, async () => {
  await using at = createExecPlace();
  assert.equal((await at.run("echo hi")).text, "hi");
  assert.equal((await at.run("echo hi", { role: "guest" })).text, "hi");
  assert.match((await at.run("echo hi", { mode: "safe" })).text, /executionMode is "safe"/);
  assert.match((await at.run("echo hi", { network: true })).text, /Nobody allowed .* with the network/);
  assert.match((await at.run("echo hi", { network: true, role: "guest" })).text, /for an owner/);
  const yes = await at.run("cat /proc/net/dev | wc -l", { network: true, permit: allow });
  assert.equal(yes.outside, "a command with network access");
  assert.notEqual(yes.text, (await at.run("cat /proc/net/dev | wc -l")).text);
  await using off = createExecPlace({ network: "off" });
  assert.match((await off.run("echo hi", { network: true, permit: allow })).text, /have no network here/);
});

test("temporary files and shared memory count as well, and no folder escapes the count", { skip: closed }, async () => {
  await using at = createExecPlace({ quota: { maxBytes: 2 * 1024 ** 2, maxFiles: 500 } });
  // Each of them ends when it is stopped.
  const run = (command: string) => at.run(command, { timeout: 55 });
  const fill = "for i in 1 2 3; do head -c 1000000 /dev/zero >";
  for (const place of ["/tmp", "/dev/shm"]) {
    assert.match((await run(`${fill} ${place}/f$i; done; sleep 50`)).text, /stopped: this chat's folder holds/);
    await at.run(`rm ${place}/*`);
  }
  assert.match((await at.run("df /dev/shm; : > /dev/new")).text, /Read-only file system/);
  const deep = "d=dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd; i=0";
  const { text } = await run(`cd /tmp; ${deep}; while [ $i -lt 80 ]; do mkdir $d && cd $d; i=$((i+1)); done; sleep 50`);
  assert.match(text, /stopped: this chat's folder holds a folder that cannot be looked into/);
  await at.terminals.close("telegram:42", "test");
  assert.deepEqual(readdirSync(path.join(at.home, "terminals")), []);
});

test("a command that fills the disk, by files that are deleted already, is ended", {
  skip: closed || withoutSmallDisk(),
}, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "maxclaw-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "maxclaw-test", folder]);
  try {
    await using at = createExecPlace({ quota: { minFreeBytes: 24 * 1024 ** 2 }, root: folder });
    const { text } = await at.run(
      "exec 9> gone; rm gone; for i in 1 2 3 4 5 6; do head -c 8M /dev/zero >&9; done; sleep 50",
      { timeout: 55 },
    );
    assert.match(text, /\[stopped: the disk is almost full\]/);
    assert.equal((await at.run("echo fine")).text, "fine");
  } finally {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  }
});

test("a shell other than bash limits processes too", () => {
  const command = '(ulimit -u || ulimit -p) 2>/dev/null; echo "$HOME"';
  const all = shellCommand({ command, cwd: "/", home: "/", hasOwnProcesses: true, maxFileBytes: 0 });
  const options = { env: { HOME: "/" }, stdio: Array(6).fill("ignore").with(1, "pipe") };
  assert.equal(execFileSync("/bin/sh", all.slice(all.indexOf("-c")), options).toString(), "512\n/\n");
});

test("what is typed into a background command is asked about like a command", async () => {
  await using at = createExecPlace({ sandboxMode: "off" });
  await at.run("cat", { permit: allow, background: true });
  const { text } = await at.process({ action: "write", id: "bg1", text: "rm -rf x\n" });
  assert.match(text, /Nobody allowed to run rm -rf x[\s\S]*without a sandbox/);
});

test("a sandbox that does not hold what it promises is found out, and then every command asks", async () => {
  const launch: Confinement["launch"] = ([file, ...args]) => ({ file, args });
  const open: Confinement = { name: "paper", hasOwnProcesses: false, hasMounts: false, launch };
  await using at = createExecPlace({ search: () => open });
  assert.match((await at.run("echo hi")).text, /without a sandbox/);
  assert.deepEqual(at.sandbox(), {
    state: "unavailable",
    reason: "paper does not work here: files elsewhere can be read.",
  });
  const broken: Confinement = { ...open, launch: () => ({ file: "/bin/false", args: [] }) };
  await using none = createExecPlace({ search: () => broken, sandboxMode: "required" });
  const { text } = await none.run("echo hi", { permit: allow });
  assert.match(text, /in a sandbox only.*there is none\. paper does not work here/);
  const absent: Confinement = { ...open, launch: () => ({ file: "/no/such/program", args: [] }) };
  await using gone = createExecPlace({ search: () => absent });
  assert.match((await gone.run("echo hi")).text, /without a sandbox/);
  await using missing = createExecPlace({ search: () => "bubblewrap is not installed." });
  assert.match((await missing.run("echo hi")).text, /without a sandbox/);
  assert.deepEqual(missing.sandbox(), { state: "unavailable", reason: "bubblewrap is not installed." });
});

test("commands that no shell can take are refused in words", async () => {
  await using at = createExecPlace({ sandboxMode: "off" });
  assert.match((await at.run(" \n")).text, /what to run/);
  assert.match((await at.run("echo \0")).text, /NUL byte/);
  assert.match((await at.run(`echo ${"x".repeat(130_000)}`)).text, /too long/);
});
