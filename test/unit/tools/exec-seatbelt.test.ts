import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createSeatbelt, seatbeltProfile } from "../../../src/tools/exec/sandbox/seatbelt.js";
import { countProcesses, shellCommand } from "../../../src/tools/exec/shell.js";
import type { Survey } from "../../../src/tools/exec/view/survey.js";
import type { View } from "../../../src/tools/exec/view/view.js";
import { readSeatbelt } from "../../support/rules/seatbelt-rules.js";
import { withoutSandbox } from "../../support/worlds/needs.js";
import { createExecPlace, untilGone } from "../../support/worlds/tools/exec-place.js";

const home = "/Users/ann/.maxclaw";
const workspace = `${home}/workspace`;
const folder = `${workspace}/.sessions/telegram_42`;
const temp = `${home}/terminals/0123/tmp`;
const kept = `${workspace}/.sessions/.kept/telegram_42`;
const surveyOf = (folders: readonly string[], files: readonly string[]): Survey => ({
  folders,
  files: files.map((file, index) => ({ path: file, dev: 1, ino: index + 1 })),
  links: [],
  tooLarge: [],
});
const view: View = {
  workspace,
  home,
  folder,
  kept,
  shown: {
    ...surveyOf(
      [`${workspace}/project`, `${workspace}/project/src`, `${workspace}/skills`, `${kept}/received`],
      [
        `${workspace}/notes.txt`,
        `${workspace}/project/src/main.ts`,
        `${workspace}/skills/weather/SKILL.md`,
        `${kept}/received/data.csv`,
      ],
    ),
    links: [{ path: `${workspace}/latest`, target: "project" }],
  },
  tree: undefined,
  showsReceived: true,
};
const rulesOf = (more: Partial<View> = {}, network = false) =>
  readSeatbelt(seatbeltProfile({ view: { ...view, ...more }, temp, network }));
const read = "file-read-data";
const write = "file-write-create";

test("a profile lets a command read the system and the workspace, and write its own folder", () => {
  const { allows, imports } = rulesOf();
  assert.deepEqual(imports, ["system.sb"]);
  for (const place of [
    "/",
    "/bin/bash",
    "/usr/bin/git",
    "/opt/homebrew/bin/python3",
    "/opt/homebrew/etc/ca-certificates/cert.pem",
    "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation",
    "/private/etc/hosts",
    workspace,
    `${workspace}/notes.txt`,
    `${workspace}/project/src/main.ts`,
    `${workspace}/skills/weather/SKILL.md`,
    `${workspace}/latest`,
    `${folder}/deep/own.txt`,
    `${folder}/.venv/bin/python`,
    `${kept}/received/data.csv`,
    `${temp}/x`,
  ])
    assert.ok(allows({ operation: read, subject: place }), place);
  for (const place of ["/bin/ls", "/opt/homebrew/bin/node", `${folder}/run.sh`, `${temp}/a.out`])
    assert.ok(allows({ operation: "process-exec", subject: place }), place);
  for (const place of [`${folder}/made.txt`, `${folder}/deep/er`, `${temp}/x`, `${folder}/.venv/x`])
    assert.ok(allows({ operation: write, subject: place }), place);
  assert.ok(allows({ operation: "file-write-data", subject: "/dev/null" }));
  // Every folder on the way can be walked through.
  for (const place of ["/Users", "/Users/ann", home, `${workspace}/.sessions`, `${home}/terminals`])
    assert.ok(allows({ operation: "file-read-metadata", subject: place }), place);
  assert.ok(allows({ operation: "signal", subject: "same-sandbox" }));
});

test("a profile forbids the gateway's own, other sessions, hidden files, secrets and every other place", () => {
  const { allows } = rulesOf();
  for (const place of [
    home,
    `${home}/config.json`,
    `${home}/secrets.json`,
    `${home}/terminals`,
    `${home}/terminals/4567/tmp/other`,
    `${home}/workspace-evil/loot.txt`,
    `${workspace}/.env`,
    `${workspace}/.sessions`,
    `${workspace}/.sessions/telegram_43/private.txt`,
    `${workspace}/.sessions/telegram_42.events.jsonl`,
    `${workspace}/.sessions/telegram_420/x`,
    `${workspace}/.uploads/sent.txt`,
    `${workspace}/project/.env`,
    `${workspace}/project/.made-just-now`,
    `${workspace}/project/deep/.git/config`,
    `${workspace}/project/two\nlines/.env`,
    `${workspace}/project/config.json`,
    `${workspace}/project/made-just-now.txt`,
    `${workspace}/project/src/main.ts/x`,
    `${kept}/tool-results/outside/page.txt`,
    `${kept}/received/came-just-now.txt`,
    `${workspace}/.sessions/.kept/telegram_43/received/x`,
    "/Users/ann/.ssh/id_ed25519",
    "/Users/ann/Documents/letter.txt",
    "/private/etc/master.passwd",
    "/private/etc/sudoers",
    "/private/var/folders/ab/cd/T/x",
    "/private/tmp/x",
    "/opt/homebrew/var/postgres/base",
    "/opt/homebrew/etc/redis.conf",
    "/System/Volumes/Data/Users/ann/.ssh/id_ed25519",
    `/System/Volumes/Data${home}/secrets.json`,
    "/Library/Keychains/System.keychain",
    "/Applications/Safari.app/Contents/Info.plist",
  ]) {
    assert.ok(!allows({ operation: read, subject: place }), `read ${place}`);
    assert.ok(!allows({ operation: write, subject: place }), `write ${place}`);
  }
  for (const place of [
    workspace,
    `${workspace}/notes.txt`,
    `${workspace}/new.txt`,
    `${workspace}/skills/new/SKILL.md`,
    `${workspace}/AGENTS.md`,
    folder,
    temp,
    `${kept}/received`,
    `${kept}/received/data.csv`,
    "/usr/local/bin/new",
    "/private/etc/hosts",
    "/private/tmp/new",
  ])
    for (const operation of [write, "file-write-unlink", "file-write-data"])
      assert.ok(!allows({ operation, subject: place }), `${operation} ${place}`);
  for (const place of ["/Users/ann/bin/tool", `${workspace}/.git/hooks/x`, "/private/tmp/x"])
    assert.ok(!allows({ operation: "process-exec", subject: place }), place);
  for (const [operation, subject] of [
    ["signal", "others"],
    ["process-info-pidinfo", "others"],
    ["mach-lookup", "com.apple.SecurityServer"],
    ["mach-lookup", "com.apple.pasteboard.1"],
    ["appleevent-send", "com.apple.finder"],
    ["job-creation", "any"],
    ["sysctl-read", "kern.procargs2"],
    ["sysctl-write", "kern.maxproc"],
    ["file-link", `${workspace}/notes.txt`],
  ] as const)
    assert.ok(!allows({ operation, subject }), `${operation} ${subject}`);
  assert.ok(allows({ operation: "sysctl-read", subject: "hw.ncpu" }));
});

test("a home among the folders of the system is closed, the workspace in it as ever", () => {
  const at = "/opt/maxclaw";
  const own = `${at}/workspace/.sessions/a`;
  const shown = surveyOf([], [`${at}/workspace/a.txt`]);
  const more = { home: at, workspace: `${at}/workspace`, folder: own, kept: `${at}/workspace/.sessions/.kept/a` };
  const { allows } = rulesOf({ ...more, shown });
  for (const place of [`${at}/workspace/a.txt`, `${own}/x`, "/opt/other/x"])
    assert.ok(allows({ operation: read, subject: place }), place);
  for (const place of [`${at}/secrets.json`, `${at}/journal/1`, `${at}/workspace/b.txt`])
    assert.ok(!allows({ operation: read, subject: place }), place);
});

test("the network is there only when it is given, and sockets in files not even then", () => {
  for (const network of [false, true]) {
    const { allows } = rulesOf({}, network);
    for (const subject of ["127.0.0.1:18890", "192.0.2.1:443"])
      assert.equal(allows({ operation: "network-outbound", subject }), network, subject);
    assert.equal(allows({ operation: "network-bind", subject: "127.0.0.1:8080" }), network);
    assert.equal(allows({ operation: "mach-lookup", subject: "com.apple.trustd.agent" }), network);
    for (const subject of ["/private/var/run/docker.sock", "/private/tmp/com.apple.launchd.x/Listeners"])
      assert.ok(!allows({ operation: "network-outbound", subject }), subject);
  }
});

test("names with quotes, brackets and the like stay names", () => {
  const odd = `${home}/a "b") (allow default) \\ [c].*(d`;
  const own = `${odd}/.sessions/telegram_42`;
  const { allows } = rulesOf({ workspace: odd, folder: own, shown: surveyOf([], [`${odd}/n"o\\te`]) });
  assert.ok(allows({ operation: read, subject: `${odd}/n"o\\te` }));
  assert.ok(allows({ operation: write, subject: `${own}/x` }));
  for (const place of [`${odd}/n"o\\te/.env`, `${odd}/.env`, `${odd}/other`, "/Users/ann/x"])
    assert.ok(!allows({ operation: read, subject: place }), place);
  const broken = `${workspace}/two\nlines`;
  for (const shown of [surveyOf([], [broken]), surveyOf([broken], [])])
    assert.ok(!rulesOf({ shown }).allows({ operation: read, subject: broken }));
  assert.throws(() => rulesOf({ folder: broken }), /cannot name/);
});

/** A program instead of sandbox-exec; the text is for /bin/sh. */
function standIn(
  text: string,
): { readonly file: string; readonly args: () => string; readonly rules: () => string } & Disposable {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "maxclaw-seatbelt-")));
  const file = path.join(folder, "sandbox-exec");
  writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/args"\ncat "$2" > "${folder}/rules"\n${text}\n`);
  chmodSync(file, 0o755);
  return {
    file,
    args: () => readFileSync(path.join(folder, "args"), "utf8"),
    rules: () => readFileSync(path.join(folder, "rules"), "utf8"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

/** Enforces what it is given, on Linux. */
const program = fileURLToPath(new URL("../../support/fakes/stand-in-seatbelt.js", import.meta.url));
const enforcing = (change: string): string =>
  `rules="$2.changed"; cat "$2" ${change} > "$rules"; shift 2; "${process.execPath}" "${program}" -f "$rules" "$@"; code=$?; rm "$rules"; exit $code`;

async function assertFoundOut(text: string, reason: RegExp): Promise<void> {
  using fake = standIn(text);
  await using at = createExecPlace({ search: () => createSeatbelt(fake.file) });
  assert.match((await at.run("echo hi")).text, /without a sandbox/);
  const state = at.sandbox();
  assert.ok(state.state === "unavailable");
  assert.match(state.reason, /^sandbox-exec does not work here: .*\.$/);
  assert.match(state.reason, reason);
  assert.match(fake.args(), /^-f\n\/.*\/profile_\w+\.sb\n--\n\/bin\/(ba)?sh\n/);
  assert.match(fake.rules(), /^\(version 1\)\n\(deny default\)\n/);
}

test("a sandbox-exec that enforces nothing, or does not work, is found out, and every command asks", async () => {
  await assertFoundOut('shift 3; exec "$@"', /files elsewhere can be read/);
  await assertFoundOut("echo 'sandbox_apply: Operation not permitted' >&2; exit 71", /sandbox_apply: Operation not/);
  await assertFoundOut("exit 0", /what it writes is not kept/);
});

test("one that enforces too little is found out as well", { skip: withoutSandbox() }, async () => {
  const adding = (rule: string): string => enforcing(`| { cat; echo '${rule}'; }`);
  await assertFoundOut(adding('(allow file-read* (regex "hidden"))'), /hidden files can be read/);
  await assertFoundOut(adding('(allow file-read* (regex "late"))'), /files that came later can be read/);
  await assertFoundOut(adding('(allow network-outbound (remote ip "*:*"))'), /ports can be reached/);
  await assertFoundOut(adding('(allow file-write* (regex "shown"))'), /files elsewhere can be written/);
});

test("where the rules are enforced the trial passes, and commands run by them", {
  skip: withoutSandbox(),
}, async () => {
  using fake = standIn(enforcing(""));
  await using at = createExecPlace({ search: () => createSeatbelt(fake.file) });
  const { place } = at;
  const run = async (command: string, more = {}) => (await at.run(command, more)).text;
  assert.equal(await run("echo mine > own.txt; cat own.txt"), "mine");
  assert.deepEqual(at.sandbox(), { state: "ready", name: "sandbox-exec" });
  assert.equal(
    await run(`cat ${place.workspace}/notes.txt ${place.workspace}/project/readme.txt`),
    "shared notesproject readme",
  );
  const secrets = [`${at.home}/secrets.json`, `${place.workspace}/project/.env`, "../telegram_43/private.txt"];
  for (const target of secrets) assert.match(await run(`cat ${target}`), /\[exit 1\]$/, target);
  assert.match(await run(`echo evil > ${place.workspace}/AGENTS.md`), /\[exit 1\]$/);
  assert.equal(readFileSync(path.join(place.workspace, "AGENTS.md"), "utf8"), "be good");
  assert.match(await run('echo x > "$TMPDIR/x"; ls "$TMPDIR"; echo "$TMPDIR"'), /^x\n.*\/home\/terminals\/\w+\/tmp$/);
  await run(`sleep ${process.pid}95101 & sleep ${process.pid}95102`, { timeout: 1 });
  for (const id of [95101, 95102]) await untilGone(`sleep ${process.pid}${id}`);
  assert.equal(
    await run("export A=1; cd deep 2>/dev/null || mkdir deep && cd deep"),
    `(no output)\n[now in ${place.folder}/deep]`,
  );
  assert.equal(await run("echo $A; pwd"), `1\n${place.folder}/deep`);
});

test("where a command has no processes of its own, its limit comes on top of what the user runs already", {
  skip: !existsSync("/bin/ps") && "needs ps",
}, () => {
  const limitOf = (hasOwnProcesses: boolean): number =>
    Number(shellCommand({ command: "true", cwd: "/", home: "/", hasOwnProcesses, maxFileBytes: 0 }).at(-2));
  const [byProc, byPs] = [countProcesses(), countProcesses("/no/such/folder")];
  assert.ok(byProc > 0 && byPs > 0 && byPs < 4096 && Math.abs(byProc - byPs) < 100, `${byProc}, ${byPs}`);
  assert.equal(limitOf(true), 512);
  assert.ok(limitOf(false) > 512 && limitOf(false) < 512 + byProc + 100, `${limitOf(false)}`);
});
