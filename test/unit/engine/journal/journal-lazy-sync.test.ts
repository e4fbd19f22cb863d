import assert from "node:assert/strict";
import fs, { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { encodeHead, journalFolder, segmentPath } from "../../../../src/engine/embedded/journal/segment.js";
import { silentLog } from "../../../../src/log.js";

/** Each sync waits until the test lets it end. The journal keeps `fdatasync` for itself, and is therefore imported below. */
const held: (() => void)[] = [];
const real = fs.fdatasync;
fs.fdatasync = Object.assign((fd: number, done: fs.NoParamCallback) => void held.push(() => real(fd, done)), {
  __promisify__: real.__promisify__,
});
syncBuiltinESMExports();
const { Journal } = await import("../../../../src/engine/embedded/journal/journal.js");

test("what is written while a sync is on its way that nobody waits for is synced soon as well", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const home = mkdtempSync(join(tmpdir(), "maxclaw-journal-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const path = segmentPath(journalFolder(home), 1);
  const head = encodeHead(1, 0, []);
  mkdirSync(dirname(path));
  writeFileSync(path, head);
  const journal = new Journal(
    { segment: { number: 1, path }, size: head.length, checkpointEnd: head.length, tx: 0 },
    { mark: { note() {}, close() {} }, log: silentLog, onFatal: () => {}, onWritable: () => {} },
  );
  const put = (id: string) => journal.write([{ o: "put", kind: "test", id, value: {} }]);
  put("first");
  t.mock.timers.tick(200);
  await until(() => held.length === 1);
  const last = put("second");
  held[0]?.();
  await until(() => journal.syncedPosition > 0);
  t.mock.timers.tick(200);
  await until(() => held.length === 2);
  held[1]?.();
  await until(() => journal.syncedPosition === last);
  await journal.close();
});

/** By rounds: no clock passes here. */
async function until(isSo: () => boolean): Promise<void> {
  for (let round = 0; round < 100_000 && !isSo(); round++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(isSo());
}
