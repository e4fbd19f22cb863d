import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createSessionFiles } from "../../../src/sessions/file-names.js";
import { queued, tempFolder } from "../../support/engine/engine-kit.js";
import { type OpenedStore, openStore } from "../../support/engine/histories/session-store.js";

const key = "webui:one";

function told({ log }: OpenedStore, what: string): boolean {
  return log.lines.some(({ level, message }) => level === "error" && message.includes(what));
}

test("a session whose log is missing goes on with what its document shows", async (t) => {
  const home = tempFolder(t);
  {
    await using s = await openStore(home);
    await s.store.open(key);
    await s.engine.append(key, [queued("msg_1")], { durable: true });
  }
  const files = createSessionFiles(join(home, "sessions"));
  assert.ok(existsSync(files.documentPath(key)));
  rmSync(files.logPath(key));
  for (const time of ["first", "second"]) {
    await using s = await openStore(home);
    const { document } = await s.store.open(key);
    const { lastSequence } = document;
    assert.deepEqual(
      document.toDocument().messages.map(({ content }) => content),
      ["text of msg_1"],
    );
    assert.equal(lastSequence, 1, time);
    assert.equal(told(s, "is missing: imported 1 messages"), time === "first");
  }
});

test("a document that shows more than the log holds is kept beside the one that is written from the log", async (t) => {
  const home = tempFolder(t);
  const files = createSessionFiles(join(home, "sessions"));
  let older = "";
  for (const id of ["msg_1", "msg_2"]) {
    await using s = await openStore(home);
    await s.store.open(key);
    await s.engine.append(key, [queued(id)], { durable: true });
    await s.engine.flush();
    if (id === "msg_1") older = readFileSync(files.logPath(key), "utf8");
  }
  const newer = readFileSync(files.documentPath(key), "utf8");
  writeFileSync(files.logPath(key), older);
  {
    await using s = await openStore(home);
    assert.equal((await s.store.open(key)).document.messageCount, 2);
    await s.engine.append(key, [queued("msg_3")], { durable: true });
    assert.ok(told(s, "does not hold the last events"));
  }
  const aside = readdirSync(join(home, "sessions")).filter((name) => name.includes(".newer-"));
  assert.equal(aside.length, 1);
  assert.equal(readFileSync(join(home, "sessions", aside[0] ?? ""), "utf8"), newer);
});

test("a deleted session is not brought back by a document that a power cut left behind", async (t) => {
  const home = tempFolder(t);
  const files = createSessionFiles(join(home, "sessions"));
  let document = "";
  {
    await using s = await openStore(home);
    await s.store.open(key);
    await s.engine.append(key, [queued("msg_1")], { durable: true });
    await s.store.flush();
    document = readFileSync(files.documentPath(key), "utf8");
    await s.store.delete(key);
  }
  writeFileSync(files.documentPath(key), document);
  await using s = await openStore(home);
  assert.equal((await s.store.open(key)).document.messageCount, 0);
});
