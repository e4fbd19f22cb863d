import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { postJson } from "../../support/worlds/http/http-server.js";

/** Codes of the system, as errors of a program name them, and a file that nobody names. */
const raw = /\bE[A-Z]{3,}\b|\bA file\b/;

const made = { home: "" };

before(async () => {
  made.home = await tempHome();
  await using daemon = await startDaemon({ home: made.home });
  await postJson(`${daemon.url}/api/message`, { sessionKey: "webui:work", content: "hello" });
  await daemon.end("SIGTERM");
});

/** A home with a conversation, and a folder in place of this file of it. `journal`: of its newest file. */
async function misplaced(name: string) {
  const home = await tempHome();
  cpSync(made.home, home, { recursive: true });
  const path = join(home, name === "journal" ? join(name, readdirSync(join(home, name)).at(-1) ?? "") : name);
  rmSync(path, { force: true });
  mkdirSync(path, { recursive: true });
  return { home, path };
}

const sessions = "workspace/.sessions";

test("a folder in place of a file is named by each command that cannot go on", async () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    journal: ["status", "events verify", "ledger check", "sessions list", "repair", "gateway -p 0"],
    "gateway.lock": ["status", "events verify", "ledger check", "sessions list", "repair", "gateway -p 0"],
    "format.json": ["sessions list", "repair", "gateway -p 0"],
    "reserve.tmp": ["repair", "gateway -p 0"],
    [`${sessions}/.lock`]: ["repair", "gateway -p 0"],
    [`${sessions}/webui_work.events.jsonl`]: ["events verify", "ledger check", "repair"],
    [`${sessions}/.index.jsonl`]: ["ledger check", "sessions list"],
    "gateway.events.jsonl": ["events verify", "repair"],
    "logs/gateway.log": ["logs"],
  };
  for (const [name, lines] of Object.entries(cases)) {
    await Promise.all(
      lines.map(async (line) => {
        const { home, path } = await misplaced(name);
        const { code, stdout, stderr } = await runMaxclaw(line.split(" "), home);
        const what = `${line}: ${stdout}${stderr}`;
        assert.notEqual(code, 0, what);
        assert.ok(`${stdout}${stderr}`.includes(path), what);
        assert.match(`${stdout}${stderr}`, /it is a folder, not a file/, what);
        assert.doesNotMatch(`${stdout}${stderr}`, raw, what);
      }),
    );
  }
});

test("a pipe in place of the lock or of the journal is named, and nobody waits for it", {
  timeout: 60_000,
}, async () => {
  for (const name of ["journal", "gateway.lock"]) {
    const { home, path } = await misplaced(name);
    rmdirSync(path);
    execFileSync("mkfifo", [path]);
    for (const line of ["status", "repair", "gateway -p 0"]) {
      const { code, stdout, stderr } = await runMaxclaw(line.split(" "), home);
      assert.equal(code, 1, line);
      assert.ok(
        `${stdout}${stderr}`.includes(`${path} cannot be used: it is not a regular file. Move it away`),
        stderr,
      );
    }
  }
});

test("a pipe in place of any other file holds nobody up", { timeout: 120_000 }, async () => {
  const lines = {
    "logs/gateway.log": ["cron list", "logs"],
    "gateway.events.jsonl": ["doctor --offline", "events verify"],
    "last-backup.json": ["doctor --offline", "backup ../made.tar.gz"],
    "packages/current.json": ["status"],
    "reserve.tmp": ["repair"],
    [`${sessions}/webui_work.json`]: ["doctor --offline"],
    [`${sessions}/webui_work.events.jsonl`]: ["events verify", "repair"],
  };
  for (const [name, commands] of Object.entries(lines)) {
    const { home, path } = await misplaced(name);
    rmdirSync(path);
    execFileSync("mkfifo", [path]);
    for (const line of commands) {
      const { code, stderr } = await runMaxclaw(line.split(" "), home);
      assert.ok(code !== null, `${name}, ${line}: ${stderr}`);
    }
  }
});

test("a pipe in place of a session's log stops that conversation alone", { timeout: 60_000 }, async () => {
  const { home, path } = await misplaced(`${sessions}/webui_work.events.jsonl`);
  rmdirSync(path);
  execFileSync("mkfifo", [path]);
  await using daemon = await startDaemon({ home });
  const ask = (name: string) =>
    postJson(`${daemon.url}/api/message`, { sessionKey: `webui:${name}`, content: "/help" });
  const work = ask("work");
  for (const name of ["a", "b", "c"]) assert.equal((await ask(name)).status, 200);
  await work;
  assert.equal(await daemon.end("SIGTERM"), 0);
});

test("a restore names a folder that is not a backup, and wants a name", async () => {
  const home = await tempHome();
  const folder = await runMaxclaw(["restore", home], home);
  assert.equal(folder.stderr, `maxclaw: ${home} cannot be read: it is a folder, not a file. Nothing was changed.\n`);
  const nothing = await runMaxclaw(["restore", ""], home);
  assert.equal(nothing.code, 2, nothing.stderr);
  assert.match(nothing.stderr, /Name the file of a backup\./);
});

test("status and doctor name a folder in place of a file that the gateway needs, or writes", async () => {
  const sentence = "it is a folder, not a file";
  for (const name of ["journal", "format.json", "reserve.tmp", `${sessions}/.lock`, "logs/gateway.log"]) {
    const { home, path } = await misplaced(name);
    const [status, doctor] = await Promise.all([
      runMaxclaw(["status"], home),
      runMaxclaw(["doctor", "--offline"], home),
    ]);
    const isNeeded = name !== "logs/gateway.log";
    const rest = isNeeded ? " The gateway does not start until then." : "";
    assert.equal(status.code, 1, `${name}: ${status.stdout}`);
    assert.equal(
      status.stdout.match(/^Problem:.*/gm)?.join(),
      `Problem:   ${path} cannot be used: ${sentence}. Move it away.${rest}`,
    );
    assert.equal(doctor.code, 1, `${name}: ${doctor.stdout}`);
    assert.ok(
      doctor.stdout.includes(`fail  files        The file ${path} cannot be used: ${sentence}\n`),
      doctor.stdout,
    );
    assert.match(doctor.stdout, /To do: Move it away$/m);
  }
});

test("the list of conversations names a log that it cannot read, and shows the others", async () => {
  const { home, path } = await misplaced(`${sessions}/webui_work.events.jsonl`);
  const says = (log: string) =>
    `maxclaw: ${log} cannot be used: it is a folder, not a file. Move it away. The list may lack what is damaged.\n`;
  for (const name of ["webui_work.json", ".index.jsonl"]) rmSync(join(home, sessions, name));
  const none = await runMaxclaw(["sessions", "list"], home);
  assert.deepEqual([none.code, none.stderr], [0, says(path)], none.stdout);

  // Its document may show less than its log.
  const other = await misplaced(`${sessions}/webui_work.events.jsonl`);
  writeFileSync(join(other.home, sessions, ".stale"), `${JSON.stringify("webui:work")}\n`);
  const listed = await runMaxclaw(["sessions", "list"], other.home);
  assert.equal(listed.stderr, says(other.path));
  assert.match(listed.stdout, /webui:work/);
});

test("a gateway that can write no log file says so once, and status and doctor as well", async () => {
  const { home, path } = await misplaced("logs/gateway.log");
  await using daemon = await startDaemon({ home });
  const sentence = `${path} cannot be used: it is a folder, not a file. Move it away.`;
  const [status, doctor] = await Promise.all([runMaxclaw(["status"], home), runMaxclaw(["doctor", "--offline"], home)]);
  assert.ok(daemon.stderr().includes(` error Nothing is written to the log file. ${sentence}\n`), daemon.stderr());
  assert.equal(daemon.stderr().match(/log file/g)?.length, 1, daemon.stderr());
  assert.ok(status.stdout.includes(`Problem:   ${sentence}\n`), status.stdout);
  assert.equal(status.code, 1);
  assert.match(doctor.stdout, /^fail {2}files .*gateway\.log/m);
});
