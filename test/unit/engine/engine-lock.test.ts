import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { acquireLock, acquireLocks, readLock } from "../../../src/engine/embedded/locking/lock.js";
import { processStart } from "../../../src/engine/embedded/locking/process-start.js";
import { silentLog } from "../../../src/log.js";
import { recordingLog, tempFolder, until } from "../../support/engine/engine-kit.js";

const child = fileURLToPath(new URL("../../support/engine/children/engine-lock-child.js", import.meta.url));

interface Contender {
  readonly process: ChildProcess;
  readonly said: () => string;
}

function contend(t: TestContext, path: string): Contender {
  const running = spawn(process.execPath, [child, path], { stdio: ["pipe", "pipe", "inherit"] });
  let output = "";
  running.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  t.after(() => running.kill("SIGKILL"));
  return { process: running, said: () => output };
}

function deadPid(): number {
  return spawnSync(process.execPath, ["-e", ""]).pid;
}

function writeLock(path: string, content: object): void {
  fs.writeFileSync(path, JSON.stringify({ id: "dead", pid: 1, processStart: "1", startedAt: 5, ...content }));
}

test("a lock names its holder and its address, refuses a second one, and is free once released", async (t) => {
  const path = join(tempFolder(t), "new", "gateway.lock");
  const lock = await acquireLock(path, silentLog);
  assert.deepEqual(Object.keys((await readLock(path)) ?? {}), ["pid", "startedAt"]);
  lock.setAddress("127.0.0.1:18890");
  assert.deepEqual([(await readLock(path))?.pid, (await readLock(path))?.address], [process.pid, "127.0.0.1:18890"]);
  await assert.rejects(acquireLock(path, silentLog), (error: unknown) => {
    assert.ok(error instanceof Error && "kind" in error && error.kind === "locked");
    assert.match(error.message, new RegExp(`pid ${process.pid} at 127\\.0\\.0\\.1:18890`));
    return true;
  });
  lock.release();
  assert.equal(await readLock(path), undefined);
  assert.deepEqual(fs.readdirSync(join(path, "..")), []);
  const next = await acquireLock(path, silentLog);
  lock.release();
  lock.setAddress("late");
  assert.equal((await readLock(path))?.address, undefined, "an old holder's release does not touch the new lock");
  assert.equal((await readLock(path))?.pid, process.pid);
  next.release();
});

test("a lock of a dead process, of an earlier process with the same pid, or that is garbage is taken over", async (t) => {
  for (const content of [{ pid: deadPid() }, { pid: process.pid, processStart: "12345" }, undefined]) {
    const path = join(tempFolder(t), "gateway.lock");
    if (content === undefined) fs.writeFileSync(path, "");
    else writeLock(path, content);
    assert.equal(await readLock(path), undefined);
    const log = recordingLog();
    const lock = await acquireLock(path, log);
    assert.equal((await readLock(path))?.pid, process.pid);
    assert.deepEqual(
      log.lines.map(({ level }) => level),
      ["warn"],
    );
    assert.deepEqual(fs.readdirSync(join(path, "..")), ["gateway.lock"]);
    lock.release();
  }
});

test("a copy of a lock, as in a home that was copied under a gateway, is held by nobody", async (t) => {
  const folder = tempFolder(t);
  const [path, copy] = [join(folder, "a", "gateway.lock"), join(folder, "b", "gateway.lock")] as const;
  fs.mkdirSync(join(folder, "b"));
  const lock = await acquireLock(path, silentLog);
  const original = JSON.parse(fs.readFileSync(path, "utf8"));
  for (const hold of ["kernel", "lease"]) {
    fs.writeFileSync(copy, JSON.stringify({ ...original, hold }));
    assert.equal(await readLock(copy), undefined, hold);
    const ofCopy = await acquireLock(copy, silentLog);
    assert.equal((await readLock(path))?.pid, process.pid);
    ofCopy.release();
  }
  // A file system that gives a file another number now and then: the kernel and the path still say whose it is.
  fs.writeFileSync(path, JSON.stringify({ ...original, inode: 1 }));
  assert.equal((await readLock(path))?.pid, process.pid);
  fs.writeFileSync(path, JSON.stringify({ ...original, inode: 1, hold: "lease" }));
  assert.equal((await readLock(path))?.pid, process.pid);
  lock.release();
});

test("a take-over that a crash cut short is itself taken over", async (t) => {
  const path = join(tempFolder(t), "gateway.lock");
  writeLock(path, { id: "first", pid: deadPid() });
  writeLock(`${path}.after-first`, { id: "second", pid: deadPid() });
  const lock = await acquireLock(path, silentLog);
  assert.equal((await readLock(path))?.pid, process.pid);
  assert.deepEqual(fs.readdirSync(join(path, "..")), ["gateway.lock"]);
  lock.release();
});

test("of several locks all are taken or none, and who holds the first waits for one that is about to be given up", async (t) => {
  const folder = tempFolder(t);
  const [first, second] = [join(folder, "home", "gateway.lock"), join(folder, "sessions", ".lock")];
  const held = await acquireLock(first, silentLog);
  await assert.rejects(acquireLocks([first, second], silentLog), { kind: "locked" });
  assert.equal(await readLock(second), undefined, "what was taken is given back");
  held.release();
  const other = await acquireLock(second, silentLog);
  await assert.rejects(acquireLocks([first, second], silentLog), { kind: "locked" });
  assert.equal(await readLock(first), undefined, "what was taken is given back");
  const taking = acquireLocks([first, second], silentLog);
  await until("the first is held", async () => (await readLock(first)) !== undefined);
  other.release();
  for (const lock of await taking) lock.release();
  for (const lock of await acquireLocks([first, second], silentLog)) lock.release();
});

test("of several processes that want one stale lock at the same time exactly one gets it", async (t) => {
  const path = join(tempFolder(t), "gateway.lock");
  writeLock(path, { pid: deadPid() });
  const contenders = Array.from({ length: 5 }, () => contend(t, path));
  await until("all are ready", () => contenders.every(({ said }) => said() === "waiting\n"));
  for (const { process: running } of contenders) running.stdin?.write("go\n");
  await until("all have tried", () => contenders.every(({ said }) => said().split("\n").length === 3));
  const results = contenders.map(({ said }) => said().split("\n")[1] ?? "");
  const holders = contenders.filter((_, index) => results[index] === "held");
  assert.equal(holders.length, 1, results.join(" | "));
  const holder = holders[0]?.process;
  assert.equal((await readLock(path))?.pid, holder?.pid);
  for (const result of results) if (result !== "held") assert.match(result, new RegExp(`pid ${holder?.pid}\\b`));
  holder?.kill("SIGKILL");
  await until("the holder is gone", () => holder?.signalCode === "SIGKILL");
  assert.equal(await readLock(path), undefined);
  (await acquireLock(path, silentLog)).release();
});

test("a process that has ended but that nobody has waited for holds nothing", async (t) => {
  // `cat` waits for no child, and a shell would.
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => parent.kill("SIGKILL"));
  let said = "";
  parent.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  parent.stdin.write("is cat\n");
  await until("the shell is replaced", () => said.endsWith("is cat\n"));
  const pid = Number(said.split("\n")[0]);
  assert.ok(processStart(pid), "it runs");
  process.kill(pid, "SIGKILL");
  await until("the process counts as gone", () => processStart(pid) === undefined);
  assert.ok(process.kill(pid, 0), "its pid is still taken");
});

test("the start of a process tells it from others", () => {
  assert.ok(processStart(process.pid));
  assert.equal(processStart(process.pid), processStart(process.pid));
  assert.equal(processStart(deadPid()), undefined);
  assert.equal(processStart(0), undefined);
});
