import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { EngineError } from "../../../src/errors.js";
import { failSyncs } from "../../support/engine/failing-sync.js";
import { withoutProc } from "../../support/worlds/needs.js";

const skip = withoutProc();
const failures = skip === false ? await failSyncs() : { failsOn: () => false };
// Only now, because the engine keeps the sync functions that it finds.
const kit = await import("../../support/engine/engine-kit.js");
const { checkAfterCrash } = await import("../../support/engine/engine-crash.js");
const { answered, consuming, inbound, logPath, openIn, outbound, queued, sessionOf, tempFolder, titled, until } = kit;

const journalIn = (home: string) => (path: string) => path.startsWith(join(home, "journal"));
const logIn = (home: string) => (path: string) => path === logPath(home, "telegram:1");
const logFolderIn = (home: string) => (path: string) => path === dirname(logPath(home, "telegram:1"));

function folderOf(t: TestContext): string {
  t.after(() => {
    failures.failsOn = () => false;
  });
  return tempFolder(t);
}

for (const [name, failsIn] of [
  ["the journal", journalIn],
  ["a session log", logIn],
  ["the folder of the session logs", logFolderIn],
] as const) {
  test(`when ${name} cannot be synced, nothing more is promised, and everything promised before is there at the next start`, {
    skip,
  }, async (t) => {
    const home = folderOf(t);
    const fatal: Error[] = [];
    const accepted: string[] = [];
    const committed: string[] = [];
    const { engine, published } = await openIn(home, {
      journal: { segmentBytes: 9000 },
      quietMs: 1,
      process: { onFatal: (error) => fatal.push(error) },
    });
    const handling = consuming(engine, "inbound", async (delivery) => {
      const { id } = delivery.work;
      await delivery.commit({
        events: [titled(`end ${id}`), answered([id])],
        emit: [outbound(`${id}#1`, delivery.work.sessionKey)],
      });
      committed.push(id);
    });
    for (let n = 0; fatal.length === 0; n += 1) {
      const id = `msg_${n}`;
      if (n === 5) failures.failsOn = failsIn(home);
      await engine
        .accept(inbound(id, `telegram:${n % 4}`), { events: [queued(id)], cursor: { name: "offset", value: id } })
        .then(
          () => accepted.push(id),
          () => {},
        );
      assert.ok(n < 2000, "the failure is noticed");
    }
    const { length } = published;
    await assert.rejects(engine.accept(inbound("late"), { events: [queued("late")] }), isPoisoned);
    await assert.rejects(engine.append(sessionOf, [titled("late")], { durable: false }), isPoisoned);
    await assert.rejects((await engine.records.open("pairing")).put("late", 1), isPoisoned);
    assert.deepEqual([engine.status().writable, published.length, fatal.length], [false, length, 1]);
    await handling.stop();
    await engine[Symbol.asyncDispose]();
    failures.failsOn = () => false;
    await checkAfterCrash(home, { signal: null, accepted, committed }, false);
  });
}

function isPoisoned(error: unknown): boolean {
  return error instanceof EngineError && error.kind === "persistence" && !error.retryable;
}

test("a home whose disk cannot sync is refused at the start, in words", { skip }, async (t) => {
  const home = folderOf(t);
  for (const failsOn of [() => true, journalIn(home), (path: string) => path === home]) {
    failures.failsOn = failsOn;
    await assert.rejects(openIn(home), (error: unknown) => {
      assert.ok(error instanceof EngineError && error.kind === "persistence", String(error));
      assert.match(error.message, /has failed to read or write it/);
      assert.match(error.message, /Check the disk/);
      return true;
    });
  }
  failures.failsOn = () => false;
  const { engine } = await openIn(home);
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  await engine[Symbol.asyncDispose]();
  for (const failsOn of [() => true, journalIn(home)]) {
    failures.failsOn = failsOn;
    await assert.rejects(openIn(home), /Check the disk/);
  }
});

test("a process whose disk does not sync any more ends with code 74, says why, and has promised nothing", {
  skip,
}, async (t) => {
  const home = folderOf(t);
  const child = fileURLToPath(new URL("../../support/engine/children/engine-fatal-child.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [child, home], { encoding: "utf8", timeout: 30_000 });
  assert.equal(status, 74, stderr);
  assert.match(stderr, /the process stops.*could not be synced.*EIO/);
  assert.equal(stdout, "");
  const { engine } = await openIn(home);
  const waiting = (await engine.waiting("inbound", sessionOf)).map(({ id }) => id);
  assert.equal(waiting[0], "msg_1");
  assert.ok(fs.existsSync(join(home, "journal")));
  await until("what waits can be worked on", () => engine.status().writable);
  await engine[Symbol.asyncDispose]();
});
