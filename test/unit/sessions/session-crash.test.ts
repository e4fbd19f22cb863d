import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { queued, tempFolder } from "../../support/engine/engine-kit.js";
import { type OpenedStore, openStore } from "../../support/engine/histories/session-store.js";
import { childFile } from "../../support/project.js";

const child = childFile("support/engine/children/session-crash-child.js");
const key = "webui:one";

/** A home with two sessions at rest; one has a file in its folder, and one that is kept. */
async function makeHome(t: TestContext): Promise<string> {
  const home = tempFolder(t);
  await using opened = await openStore(home);
  for (const each of [key, "webui:other"]) {
    await opened.store.open(each);
    await opened.engine.append(each, [queued("msg_1")], { durable: true });
  }
  for (const folder of [opened.files.folder(key), opened.files.kept(key)]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "note.txt"), "secret");
  }
  return home;
}

/** Resolves with whether it was killed; false when it came to its end. */
function runChild(home: string, what: "save" | "delete", killAt: number): Promise<boolean> {
  const running = spawn(process.execPath, [child, home, what, String(killAt)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((resolve, reject) => {
    running.once("error", reject);
    running.once("close", (code, signal) => {
      if (signal === "SIGKILL" || code === 0) resolve(signal === "SIGKILL");
      else reject(new Error(`the child ended with ${code ?? signal}`));
    });
  });
}

/** Kills a process before each change of a session file in turn, and looks each time at what it left. */
async function sweep(t: TestContext, what: "save" | "delete", check: (opened: OpenedStore) => Promise<void>) {
  const made = await makeHome(t);
  const copy = (): string => {
    const home = tempFolder(t);
    cpSync(made, home, { recursive: true });
    return home;
  };
  let place = 0;
  let kills = 0;
  // Until a process comes to its end before its turn to be killed has come.
  const next = async (): Promise<void> => {
    for (;;) {
      place += 1;
      const killAt = place;
      const home = copy();
      if (!(await runChild(home, what, killAt))) return;
      kills += 1;
      // The second time nothing is left to be put right.
      for (const time of ["first", "second"]) {
        await using opened = await openStore(home);
        await check(opened).catch((error: unknown) => {
          throw new Error(`${what}, killed before change ${killAt}, ${time} look: ${String(error)}`, { cause: error });
        });
      }
    }
  };
  await Promise.all([next(), next()]);
  assert.ok(kills >= 3, `${kills} kills`);
}

test("wherever a process is killed while it saves a session, list, document and log say the same afterwards", async (t) => {
  let [before, after] = [0, 0];
  await sweep(t, "save", async ({ store, engine, files }) => {
    const lastSequence = await engine.lastSequence(key);
    if (lastSequence === 1) before += 1;
    else after += 1;
    const summaries = await store.list();
    assert.deepEqual(summaries.map((each) => each.key).sort(), [key, "webui:other"]);
    assert.equal(summaries.find((each) => each.key === key)?.messageCount, lastSequence);
    await store.flush();
    const document = JSON.parse(readFileSync(files.documentPath(key), "utf8"));
    assert.deepEqual([document.metadata.lastSequence, document.messages.length], [lastSequence, lastSequence]);
    assert.deepEqual(await store.document(key), document);
  });
  assert.ok(after > 0, `${before} before, ${after} after`);
});

test("wherever a process is killed while it deletes a session, it is all there or all gone, and nothing brings it back", async (t) => {
  let [whole, gone] = [0, 0];
  await sweep(t, "delete", async ({ store, engine, files }) => {
    const listed = (await store.list()).map((each) => each.key);
    const { events } = await engine.events(key, { afterSeq: 0, limit: 10 });
    if (listed.includes(key)) {
      whole += 1;
      assert.deepEqual([events.length, (await store.document(key)).messages.length], [1, 1]);
      assert.ok(existsSync(join(files.folder(key), "note.txt")));
      return;
    }
    gone += 1;
    const lives = events.length;
    assert.deepEqual([listed, await store.exists(key)], [["webui:other"], lives > 0]);
    assert.ok(!existsSync(files.documentPath(key)));
    const session = await store.open(key);
    assert.equal(session.document.messageCount, lives);
    for (const folder of [files.folder(key), files.kept(key)])
      assert.ok(!existsSync(folder), "the next life finds nothing of this one");
    assert.equal(await engine.lastSequence(key), 1, "its numbers go on");
  });
  assert.ok(whole > 0 && gone > 0, `${whole} whole, ${gone} gone`);
});

test("a new life goes on with the numbers of the old one, and tells where it begins", async (t) => {
  const home = tempFolder(t);
  for (const life of [1, 2, 3]) {
    await using opened = await openStore(home);
    await opened.store.open(key);
    await opened.engine.append(key, [queued(`msg_${life}a`), queued(`msg_${life}b`)], { durable: true });
    const { firstSequence, document } = await opened.store.open(key);
    assert.deepEqual([firstSequence, document.lastSequence], [2 * life - 1, 2 * life]);
    if (life < 3) await opened.store.delete(key);
  }
});
