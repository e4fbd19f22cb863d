import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { createLimits } from "../../../src/tools/exec/limits.js";
import { createBubblewrap, readableIn } from "../../../src/tools/exec/sandbox/bubblewrap.js";
import { readNoted } from "../../../src/util/files/noted-file.js";
import { until } from "../../support/engine/engine-kit.js";
import { withoutSandbox } from "../../support/worlds/needs.js";
import { createExecPlace, type ExecPlace, type RunOptions, untilGone } from "../../support/worlds/tools/exec-place.js";

/** Whatever a command is, it must not be in what it says. */
const secrets = /(gateway|twin|env|upload|other|log|outside|environment)-secret/;

describe("in the sandbox", { skip: withoutSandbox() }, () => {
  const world: { at?: ExecPlace } = {};
  const at = (): ExecPlace => {
    assert.ok(world.at);
    return world.at;
  };
  /** Runs the command, which must not get to see any secret. */
  const attack = async (command: string, options: RunOptions = {}): Promise<string> => {
    const { text } = await at().run(command, options);
    assert.doesNotMatch(text, secrets, command);
    return text;
  };
  const shared = (name: string): string => readFileSync(path.join(at().place.root, name), "utf8");

  before(() => {
    world.at = createExecPlace();
    process.env.MAXCLAW_TEST_TOKEN = "environment-secret";
  });
  after(async () => {
    delete process.env.MAXCLAW_TEST_TOKEN;
    await world.at?.[Symbol.asyncDispose]();
  });

  test("the workspace can be read and the chat's own folder be written", async () => {
    const { place } = at();
    assert.equal(await attack(`cat ${place.workspace}/notes.txt`), "shared notes");
    assert.equal(await attack(`cat ${place.workspace}/project/readme.txt`), "project readme");
    assert.equal(await attack("pwd"), place.folder);
    await attack("mkdir -p deep && echo mine > deep/own.txt");
    assert.equal(readFileSync(path.join(place.folder, "deep/own.txt"), "utf8"), "mine\n");
    assert.deepEqual(at().sandbox(), { state: "ready", name: "bubblewrap" });
  });

  test("paths that climb lead to nothing", async () => {
    const { home, place } = at();
    for (const target of [
      "../../../home/secrets.json",
      `${home}/secrets.json`,
      `${place.folder}/../../../home/config.json`,
      "/proc/self/cwd/../../../home/secrets.json",
      "/proc/1/root/etc/shadow",
      "/etc/shadow",
      "/root/.ssh/id_rsa",
    ])
      assert.match(await attack(`cat ${target}`), /\[exit 1\]/, target);
    assert.match(await attack(`ls ${home}`), /No such file/);
  });

  test("nothing outside of the own folder can be written: workspace, what steers, config, skills, system", async () => {
    const { place, home } = at();
    const ws = place.workspace;
    for (const target of [
      "../../notes.txt",
      `${ws}/notes.txt`,
      `${ws}/AGENTS.md`,
      `${ws}/skills/weather/SKILL.md`,
      `${ws}/skills/new.md`,
      `${ws}/new.txt`,
      `${home}/config.json`,
      `${home}/new.json`,
      "/usr/new.txt",
      "/etc/new.txt",
      "/new.txt",
      "/var/new.txt",
    ])
      assert.match(await attack(`echo evil > ${target}`), /\[exit 1\]/, target);
    assert.match(await attack(`rm -rf ${ws}/skills; mv ${ws}/project ${ws}/gone; rmdir ${ws}`), /\[exit 1\]/);
    assert.equal(shared("ws/notes.txt"), "shared notes");
    assert.equal(shared("ws/AGENTS.md"), "be good");
    assert.equal(shared("ws/skills/weather/SKILL.md"), "a skill");
    assert.equal(shared("home/config.json"), '{"key":"gateway-secret"}');
    assert.deepEqual(readdirSync(ws).sort(), [
      ".env",
      ".sessions",
      ".uploads",
      "AGENTS.md",
      "notes.txt",
      "project",
      "skills",
    ]);
  });

  test("symbolic and hard links lead no further", async () => {
    const { home, place } = at();
    await attack(`ln -s ${home}/secrets.json link; cat link`);
    await attack(`ln -s ${place.root} up; cat up/home/secrets.json; echo evil > up/home/new.json`);
    await attack(`ln -s ${place.workspace}/notes.txt n; echo evil > n`);
    await attack(`ln ${place.workspace}/notes.txt hard && echo evil > hard`);
    assert.equal(shared("ws/notes.txt"), "shared notes");
    assert.ok(!existsSync(path.join(home, "new.json")));
  });

  test("a folder whose name only begins like the workspace is as closed as any other", async () => {
    const twin = path.join(at().place.root, "ws-evil");
    await attack(`cat ${twin}/loot.txt; cat ../../../ws-evil/loot.txt`);
    await attack(`echo evil > ${twin}/new.txt`);
    assert.deepEqual(readdirSync(twin), ["loot.txt"]);
  });

  test("cd leads out in no way, and stays where it was allowed to go", async () => {
    const { place, home } = at();
    await attack(
      `cd ../../..; ls; cat home/secrets.json; cd ${home}; cat secrets.json; cd -P /proc/self/root; ls home`,
    );
    await attack("cd ../../../../../../../..; cat etc/shadow; CDPATH=/ cd home");
    await attack(`pushd ${place.root} && cat home/secrets.json; popd`);
    assert.equal(await attack(`cd ${place.folder}; pwd`), `${place.folder}\n[now in ${place.folder}]`);
  });

  test("substitutions run in the sandbox as well", async () => {
    const { home } = at();
    await attack(`echo $(cat ${home}/secrets.json)`);
    await attack(`echo \`cat ${home}/secrets.json\``);
    await attack(`cat <(cat ${home}/secrets.json); eval "cat ${home}/secrets.json"`);
    await attack(`X="$(echo x > ${home}/made)"; sh -c "cat \${X}${home}/secrets.json" | cat`);
    assert.ok(!existsSync(path.join(home, "made")));
  });

  test("the gateway's environment is nowhere to be read", async () => {
    const text = await attack("env; export -p; cat /proc/*/environ | tr '\\0' '\\n'");
    assert.match(text, /PATH=/);
    assert.match(await attack(`cat /proc/${process.pid}/environ; ls /proc/${process.pid}/fd`), /No such file/);
    await attack(`kill -9 ${process.pid}; kill -9 ${process.ppid}`);
  });

  test("what a command leaves in the environment never reaches the sandbox's own program", async () => {
    const { place } = at();
    await attack(`export LD_DEBUG=files LD_DEBUG_OUTPUT=$HOME/debug LD_PRELOAD=$HOME/evil.so BASH_ENV=$HOME/evil.sh`);
    await attack("echo next; /usr/bin/env true");
    const traces = readdirSync(place.folder).filter((name) => name.startsWith("debug"));
    assert.ok(traces.length > 0);
    for (const name of traces)
      assert.doesNotMatch(readFileSync(path.join(place.folder, name), "utf8"), /bwrap|libcap/, name);
    await attack("unset LD_DEBUG LD_DEBUG_OUTPUT LD_PRELOAD BASH_ENV; rm -f $HOME/debug*");
  });

  test("other sessions, hidden files and what others sent are not there", async () => {
    const { place } = at();
    const ws = place.workspace;
    await attack(`cat ${ws}/.sessions/telegram_43/private.txt ${ws}/.sessions/*.jsonl ../telegram_43/private.txt`);
    await attack(`cat ${ws}/.env ${ws}/project/.env ${ws}/.uploads/sent.txt; grep -r secret ${ws}`);
    assert.equal(await attack("ls -A .. ../.kept"), "..:\n.kept\ntelegram_42\n\n../.kept:\ntelegram_42");
    assert.doesNotMatch(await attack(`ls -A ${ws}`), /\.env|\.uploads/);
  });

  test("results from outside are only where read_file shows them, marked; what else is kept can be read", async () => {
    const { place } = at();
    const kept = (name: string): string => `ws/.sessions/.kept/telegram_42/${name}`;
    place.file(kept("tool-results/outside/page.txt"), "outside-secret");
    place.file(kept("tool-results/exec-1.txt"), "a long result");
    place.file(kept("artifacts/chart.svg"), "<svg/>");
    place.file(kept("plan.json"), "{}");
    place.file("ws/.sessions/.kept/telegram_43/tool-results/exec-1.txt", "other-secret");
    const folder = path.join(place.root, kept(""));
    await attack(`cat tool-results/outside/page.txt ${folder}/tool-results/outside/*; cat ../.kept/*/*/* .[!.]*/*`);
    await attack("rm -f tool-results; ln -s . tool-results; find / -name page.txt | xargs cat");
    await attack("rm tool-results");
    assert.equal(await attack("cat tool-results/exec-1.txt artifacts/*"), "a long result<svg/>");
    assert.equal(await attack(`cat ${folder}/plan.json`), "{}");
    // That commands see it is not a second name of the kind that others could give it.
    assert.equal((await readNoted(path.join(folder, "artifacts/chart.svg"), 100)).toString(), "<svg/>");
    for (const name of ["plan.json", "tool-results/exec-1.txt", "artifacts/new", "received/new", "new"])
      assert.match(await attack(`echo evil > ${folder}/${name}`), /\[exit 1\]/, name);
    await attack(`rm -rf ${folder}; mv ${folder} gone`);
    assert.equal(shared(kept("tool-results/outside/page.txt")), "outside-secret");
    assert.equal(shared(kept("plan.json")), "{}");
    rmSync(path.join(place.root, "ws/.sessions/.kept"), { recursive: true });
  });

  test("what a rule forbids to read is not there either", async () => {
    const { place } = at();
    place.file("ws/family/diary.txt", "other-secret");
    place.file("ws/project/deep/plan.txt", "other-secret");
    const rules = [
      { argument: "family*", verdict: "deny" },
      { argument: "project/deep/plan.txt", verdict: "ask" },
    ] as const;
    await attack(`cat ${place.workspace}/family/diary.txt ${place.workspace}/project/deep/plan.txt`, { rules });
    assert.equal(await attack(`cat ${place.workspace}/project/readme.txt`, { rules }), "project readme");
    assert.match((await at().run(`cat ${place.workspace}/family/diary.txt`)).text, /other-secret/);
    rmSync(path.join(place.workspace, "family"), { recursive: true });
    rmSync(path.join(place.workspace, "project/deep"), { recursive: true });
  });

  test("files that came with messages are read there, marked, changed by nobody, and only where they are meant", async () => {
    const { place } = at();
    const file = place.file("ws/.sessions/.kept/telegram_42/received/ab-data.csv", "a,b\n1,2\n3,4\n");
    const counted = await at().run(`wc -l < ${file}`, { receivedHere: () => false });
    assert.deepEqual([counted.text, counted.outside], ["3", "a command that could read the files sent here"]);
    // A script names the file, its call does not: the conversation in which it came is enough.
    await attack(`echo 'cat recei""ved/*' > count.sh`);
    assert.equal((await at().run("sh count.sh", { receivedHere: () => true })).text, "a,b\n1,2\n3,4");
    const later = await at().run("sh count.sh; ls rec*/", { receivedHere: () => false });
    assert.match(later.text, /No such file/);
    // What such a command left in the terminal's variables or in /tmp may be of theirs.
    assert.equal(later.outside, "a command that could read the files sent here");
    await attack(
      `echo evil > ${file}; rm -f ${file}; rm -rf ../.kept; mv received gone; ln -s / received; rm received`,
    );
    assert.equal(readFileSync(file, "utf8"), "a,b\n1,2\n3,4\n");
    assert.match(await attack(`cat ${file}`, { session: "telegram:43" }), /No such file/);
    await at().run("cat received/*", { background: true });
    await until("it has ended", async () => (await at().process({ action: "list" })).text.includes("ended"));
    const told = await at().process({ action: "read", id: "bg1" });
    assert.match(told.text, /^a,b/);
    assert.equal(told.outside, "a command that could read the files sent here");
    rmSync(file);
  });

  test("what a command makes of the short names changes nothing in the places that they mean", async () => {
    const { place } = at();
    const session = "telegram:45";
    await attack("ln -s ../.. received; mkdir -p artifacts/x; mkdir -p ../.kept/telegram_45/received", { session });
    const kept = path.join(place.workspace, ".sessions/.kept/telegram_45");
    assert.ok(!existsSync(kept));
    const file = place.file("ws/.sessions/.kept/telegram_45/received/data.csv", "1");
    assert.equal(
      (await at().run(`ls received/; cat ${file}`, { session })).outside,
      "a command that could read the files sent here",
    );
    assert.equal(readlinkSync(path.join(place.workspace, ".sessions/telegram_45/received")), "../..");
    assert.deepEqual(readdirSync(kept), ["received"]);
  });

  test("a file that a rule hides stays hidden for a background command when it is replaced, and new ones too", async () => {
    const { place } = at();
    const rules = [{ argument: "app/*token*", verdict: "deny" }] as const;
    const session = "telegram:46";
    place.file("ws/app/token.txt", "other-secret");
    place.file("ws/app/readme.txt", "first");
    const look = "cat ws/.env ws/app/.env ws/app/*token* ws/app/* ws/app/new/* ws/.new/* 2>/dev/null";
    const ws = place.workspace;
    await at().run(`touch go; while [ -e go ]; do ${look.replaceAll("ws/", `${ws}/`)}; sleep 0.05; done`, {
      background: true,
      session,
      rules,
    });
    const told = async () => (await at().process({ action: "read", id: "bg1", wait: 5 }, { session })).text;
    assert.match(await told(), /first/);
    // As an editor saves: the masked file is another one afterwards.
    for (const name of ["ws/.env", "ws/app/.env", "ws/app/token.txt", "ws/app/readme.txt"]) {
      place.file(`${name}.new`, name.includes("readme") ? "second" : "other-secret");
      renameSync(path.join(place.root, `${name}.new`), path.join(place.root, name));
    }
    place.file("ws/app/new-token.txt", "other-secret");
    place.file("ws/app/new/file.txt", "other-secret");
    place.file("ws/.new/file.txt", "other-secret");
    let all = "";
    for (let n = 0; n < 5; n++) all += await told();
    assert.doesNotMatch(all, secrets);
    await at().process({ action: "kill", id: "bg1" }, { session });
    assert.equal(
      await at()
        .run(`cat ${ws}/app/readme.txt`, { session, rules })
        .then(({ text }) => text),
      "second",
    );
    for (const name of ["app", ".new"]) rmSync(path.join(ws, name), { recursive: true });
    place.file("ws/.env", "KEY=env-secret");
  });

  test("a command that goes on sees what has come and been judged, and no longer what was moved to a hidden name", async () => {
    await using own = createExecPlace({ refreshMs: 100 });
    const { place } = own;
    const rules = [{ argument: "app/*token*", verdict: "deny" }] as const;
    place.file("ws/app/readme.txt", "first");
    await own.run(`while :; do echo "[$(ls ${place.workspace}/app | tr '\\n' ' ')]"; sleep 0.1; done`, {
      background: true,
      rules,
    });
    const last = async () => {
      const { text } = await own.process({ action: "read", id: "bg1", wait: 5 });
      assert.doesNotMatch(text, /token/);
      return /\[([^[]*) \]\n\[runs/.exec(text)?.[1];
    };
    place.file("ws/app/new-token.txt", "other-secret");
    place.file("ws/app/new.txt", "new");
    await until("the new file is there", async () => (await last()) === "new.txt readme.txt", 20_000);
    renameSync(path.join(place.workspace, "app/readme.txt"), path.join(place.workspace, "app/token.txt"));
    await until("the old one is gone", async () => (await last()) === "new.txt", 20_000);
  });

  test("what a later command may read, one that runs already does not get to see", async () => {
    const { place } = at();
    const ws = place.workspace;
    const session = "telegram:47";
    place.file("ws/diary/day.txt", "other-secret");
    const rules = [{ argument: "diary*", verdict: "deny" }] as const;
    await at().run(`while :; do echo looked; cat ${ws}/diary/day.txt; sleep 0.05; done`, {
      background: true,
      session,
      rules,
    });
    assert.match((await at().run(`cat ${ws}/diary/day.txt`, { session })).text, /other-secret/);
    assert.match((await at().run(`sleep 0.3; cat ${ws}/diary/day.txt`, { session, rules })).text, /No such file/);
    const { text } = await at().process({ action: "read", id: "bg1" }, { session });
    assert.match(text, /looked/);
    assert.doesNotMatch(text, secrets);
    await at().process({ action: "kill", id: "bg1" }, { session });
    rmSync(path.join(ws, "diary"), { recursive: true });
  });

  test("calls of the kernel that reach beyond the sandbox are not there: keys, leases, attributes, other kinds of sockets", {
    skip: process.arch !== "x64",
  }, async () => {
    const { place } = at();
    place.file("ws/shared.txt", "shared");
    const call = (name: string, code: string): string =>
      `perl -e 'my $r = ${code}; print "${name} ", ($r == -1 ? "refused" : "done"), "\\n"'`;
    const { text } = await at().run(
      [
        call("add_key", `do { my @a = ("user", "note", "text"); syscall(248, @a, 4, -3) }`),
        call("keyctl", `syscall(250, 0, -3, 1)`),
        call("io_uring", `do { my $p = chr(0) x 120; syscall(425, 8, $p) }`),
        call("lease", `do { open(my $f, "<", "${place.workspace}/shared.txt") or die; fcntl($f, 1024, 1) // -1 }`),
        call("attribute", `do { my @a = (".", "user.note", "text"); syscall(188, @a, 4, 0) }`),
        call("vsock", `syscall(41, 40, 1, 0)`),
        call("unix", `syscall(41, 1, 1, 0)`),
        call("duplicate", `do { fcntl(STDIN, 1030, 10) // -1 }`),
      ].join("; "),
    );
    const refused = ["add_key", "keyctl", "io_uring", "lease", "attribute", "vsock"].map((name) => `${name} refused`);
    assert.deepEqual(text.split("\n"), [...refused, "unix done", "duplicate done"]);
  });

  test("neither the gateway's port nor anything else on the network can be reached", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "$(hostname -I | cut -d' ' -f1)"])
      assert.match(await attack(`exec 9<>/dev/tcp/${host}/${address.port}`), /\[exit 1\]/);
    assert.match(await attack("exec 9<>/dev/tcp/192.0.2.1/80", { timeout: 5 }), /unreachable/);
    server.close();
    assert.equal(connections, 0);
  });

  test("being root helps nothing: no mounts, no devices, no settings of the system, no new namespaces", async () => {
    const { place } = at();
    await attack(`mount -o remount,rw,bind /usr && touch /usr/made-by-test`);
    await attack(`mount -o remount,rw,bind ${place.workspace}/notes.txt && echo evil > ${place.workspace}/notes.txt`);
    await attack(
      `unshare -Urm sh -c 'mount -o remount,rw,bind /usr && touch /usr/made-by-test; umount ${place.workspace}/project/.env && cat ${place.workspace}/project/.env'`,
    );
    await attack("unshare -Urm umount -l /proc; umount -l /tmp; nsenter -t 1 -m cat /etc/shadow");
    // Only opened, so that a hole in the sandbox does not become one in the machine that runs the tests.
    for (const setting of ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger"])
      assert.doesNotMatch(await attack(`: > ${setting} && echo opened`), /opened/, setting);
    await attack("mknod disk b 8 0 && head -c 10 disk; ls /dev/sd* /dev/vd* /dev/nvme* /dev/mem");
    assert.ok(!existsSync("/usr/made-by-test"));
    assert.equal(shared("ws/notes.txt"), "shared notes");
  });

  test("of the system's certificates what is private is not there, though root could read it", async () => {
    assert.match(await attack("ls /etc/ssl/private /etc/pki/tls/private /etc/pki/nssdb"), /\[exit 2\]$/);
    assert.doesNotMatch(await attack("ls /etc/ssl /etc/pki /etc/pki/tls 2>/dev/null"), /private|nssdb/);
    if (existsSync("/etc/ssl/certs")) assert.doesNotMatch(await attack("ls /etc/ssl/certs | wc -l"), /^0$/);
    const { place } = at();
    const pem = place.file("etc/certs/site.pem", "a certificate");
    const key = place.file("etc/certs/deep/site.key", "a key");
    const certs = path.dirname(pem);
    assert.deepEqual(readableIn(certs), [certs]);
    chmodSync(key, 0o600);
    const other = place.file("etc/certs/deep/other.pem", "a certificate");
    const isRoot = process.getuid?.() === 0;
    assert.deepEqual([...readableIn(certs)].sort(), isRoot ? [other, pem].sort() : [certs]);
  });

  test("a set-id file, and one that is not ours, is copied and not linked", async () => {
    const { place } = at();
    const session = "telegram:48";
    const names = ["plain.sh", "setid.sh", "other.sh"];
    const [plain = "", setId = "", other = ""] = names.map((name) => place.file(`ws/own/${name}`, `echo ${name}`));
    chmodSync(setId, 0o4755);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(other, 12345, 12345);
    assert.equal(
      await attack(`cd ${place.workspace}/own && cat *`, { session }).then((text) => text.split("[")[0]),
      "echo other.shecho plain.shecho setid.sh\n",
    );
    const linksOf = (file: string): number => lstatSync(file).nlink - 1;
    assert.ok(linksOf(plain) > 0);
    assert.equal(linksOf(setId), 0);
    if (isRoot) assert.equal(linksOf(other), 0);
    // A copy is brought up to date as well.
    place.file("ws/own/setid.sh", "echo changed");
    assert.equal(await attack(`cat ${setId}`, { session }), "echo changed");
    await at().terminals.close(session, "test");
    assert.equal(linksOf(plain), 0);
    rmSync(path.join(place.workspace, "own"), { recursive: true });
  });

  test("the folder of a chat that is a link to somewhere else is not used", async () => {
    const { place } = at();
    const session = "telegram:44";
    const { symlinkSync } = await import("node:fs");
    symlinkSync(place.root, path.join(place.workspace, ".sessions", "telegram_44"));
    await assert.rejects(at().run("cat home/secrets.json", { session }), /link to somewhere else/);
  });

  const bound = createLimits();
  const probe = bound.open();
  const unbound = probe === undefined && process.getuid?.() === 0 && "needs control groups, or not to be root";

  test("a fork bomb ends at the limit of processes, and at the time-out", { skip: unbound }, async () => {
    await probe?.remove();
    const many = `i=0; while [ $i -lt 600 ]; do sleep ${process.pid}97531 & i=$((i+1)); done`;
    const counted = await attack(`sh -c '${many}' 2>/dev/null; set -- /proc/[0-9]*; echo $#`);
    assert.ok(Number(counted) > 400 && Number(counted) <= 512, counted);
    await untilGone(`sleep ${process.pid}97531`);
    // Begun only when the limit is known to hold.
    await attack(`:(){ :|:& };: ; sleep ${process.pid}97532`, { timeout: 2 });
    await untilGone(`sleep ${process.pid}97532`);
    assert.equal(await attack("echo alive"), "alive");
  });
});

const memory = createLimits(96 * 1024 * 1024);
const probe = memory.open();
const unlimited = withoutSandbox() || (probe === undefined && "needs control groups");

test("a command that takes too much memory is killed, and the next one runs", { skip: unlimited }, async () => {
  await probe?.remove();
  await using at = createExecPlace({ limits: memory });
  // Bounded by itself as well, so that a hole in the limit does not become one in the machine that runs the tests.
  const { text, isError } = await at.run("set -o pipefail; head -c 400M /dev/zero | tail -n 1 | wc -c", {
    timeout: 60,
  });
  assert.ok(isError, text);
  assert.match(text, /exit 137|killed/);
  assert.equal((await at.run("echo alive")).text, "alive");
});

test("where there are no control groups it is known that memory is not limited", () => {
  const none = createLimits(1024, "/no/such/folder");
  assert.equal(none.open(), undefined);
  assert.equal(none.holdsMemory, false);
});

test("a home among the folders of the system is closed in the sandbox, the workspace in it as ever", () => {
  const [home, workspace] = ["/opt/maxclaw", "/opt/maxclaw/workspace"];
  const shown = { folders: [], files: [], links: [], tooLarge: [] };
  const folders = { folder: `${workspace}/.sessions/a`, kept: `${workspace}/.sessions/.kept/a`, tree: "/tmp/x/view" };
  const launch = createBubblewrap("/usr/bin/bwrap").launch(["/bin/sh"], {
    view: { workspace, home, ...folders, shown, showsReceived: false },
    temp: { hidden: "/tmp/x", shown: "/tmp/x/tmp", memory: "/tmp/x/shm" },
    network: false,
  });
  const args = (launch.moreArgs ?? "").split("\0").join(" ");
  assert.match(args, / --ro-bind-try \/opt \/opt .* --tmpfs \/opt\/maxclaw --ro-bind \/tmp\/x\/view\/workspace /);
  assert.match(args, / --remount-ro \/opt\/maxclaw /);
});
