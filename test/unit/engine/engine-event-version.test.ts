import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { verifyStoredEvents } from "../../../src/engine/embedded/inspect/verify.js";
import { encodeLine } from "../../../src/engine/embedded/journal/line.js";
import { loadJournal } from "../../../src/engine/embedded/journal/load.js";
import { encodeTransaction, parseJournalLine } from "../../../src/engine/embedded/journal/operations.js";
import { silentLog } from "../../../src/log.js";
import { logPath, openIn, sessionOf, tempFolder, titled } from "../../support/engine/engine-kit.js";

const newer =
  /schema version 2\.0; this maxclaw reads versions 1\.x\. It was written by a newer version: update maxclaw/;

/** A session log of three events, the last of which says that it is of this version. */
async function homeWith(t: TestContext, version: string): Promise<{ readonly home: string; readonly log: string }> {
  const home = tempFolder(t);
  const { engine } = await openIn(home);
  for (const title of ["1", "2", "3"]) await engine.append(sessionOf, [titled(title)], { durable: true });
  await engine[Symbol.asyncDispose]();
  const log = logPath(home, sessionOf);
  const lines = fs.readFileSync(log, "utf8").trimEnd().split("\n");
  const last = (lines.pop() ?? "").slice(9).replace('"schema_version":"1.0"', `"schema_version":"${version}"`);
  fs.writeFileSync(log, Buffer.concat([Buffer.from(`${lines.join("\n")}\n`), encodeLine(last)]));
  return { home, log };
}

test("an event of a newer version is refused by name, and its log is left as it is", async (t) => {
  const { home, log } = await homeWith(t, "2.0");
  const bytes = fs.readFileSync(log);
  const { engine } = await openIn(home);
  const about = { kind: "corrupt", message: newer };
  await assert.rejects(engine.events(sessionOf, { afterSeq: 0, limit: 10 }), about);
  await assert.rejects(engine.append(sessionOf, [titled("4")], { durable: true }), about);
  assert.equal((await engine.append("telegram:7", [titled("other")], { durable: true })).length, 1, "others go on");
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(fs.readFileSync(log), bytes);
  assert.equal(fs.readdirSync(join(home, "sessions")).length, 2, "nothing was set aside");
});

test("a later version that only adds something is read", async (t) => {
  const { home } = await homeWith(t, "1.7");
  const { engine } = await openIn(home);
  assert.equal((await engine.events(sessionOf, { afterSeq: 0, limit: 10 })).events.length, 3);
  await engine[Symbol.asyncDispose]();
});

test("checking the stored events names one of a newer version", async (t) => {
  const { home, log } = await homeWith(t, "2.0");
  const options = { logPathOf: () => log, signal: new AbortController().signal };
  const { problems } = await verifyStoredEvents({ home, logs: [log] }, options);
  assert.deepEqual(
    problems.map(({ kind, file, line }) => [kind, file, line]),
    [["version", log, 3]],
  );
  assert.match(problems[0]?.message ?? "", newer);
});

for (const form of ["first", "present"])
  test(`a journal of the ${form} format with an event of a newer version is refused by name`, async (t) => {
    const home = tempFolder(t);
    const { engine } = await openIn(home, { quietMs: 60_000 });
    await engine.append(sessionOf, [titled("1")], { durable: true });
    const path = join(home, "journal", "00000001.log");
    const copy = tempFolder(t);
    const lines = fs.readFileSync(path, "utf8").trimEnd().split("\n");
    await engine[Symbol.asyncDispose]();
    const changed = lines.map((line) => {
      const known = parseJournalLine(JSON.parse(line.slice(9)));
      if (known?.kind !== "transaction") return encodeLine(line.slice(9));
      const text = JSON.stringify({ tx: known.tx, s: known.synced, ops: known.ops });
      const newerText = text.replace('"schema_version":"1.0"', '"schema_version":"2.0"');
      return encodeLine(
        form === "first" ? newerText : encodeTransaction(known.tx, known.synced, JSON.parse(newerText).ops),
      );
    });
    fs.mkdirSync(join(copy, "journal"));
    fs.writeFileSync(join(copy, "journal", "00000001.log"), Buffer.concat(changed));
    await assert.rejects(loadJournal(copy, silentLog), { kind: "corrupt", message: /written by a newer version/ });
  });
