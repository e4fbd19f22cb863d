import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { watchSyncs } from "../../support/engine/power-cut.js";
import { withoutProc } from "../../support/worlds/needs.js";

test("what a sync has put on the disk stays there when one that began before ends after it", {
  skip: withoutProc(),
}, async (t) => {
  // Each first one takes long, each second one does not.
  const slow = [0.9, 0.9];
  const fast = [0.1];
  const numbers = [...slow, ...fast, ...slow, ...fast];
  const watch = await watchSyncs(() => numbers.shift() ?? 0);
  t.after(() => watch.removeAll());
  const disk = watch.openDisk();
  const synced = (fd: number): Promise<void> => new Promise((resolve) => fs.fsync(fd, () => resolve()));

  const folder = fs.openSync(disk.root, "r");
  const file = fs.openSync(join(disk.root, "a"), "w");
  fs.writeSync(file, "one");
  const first = synced(file);
  fs.writeSync(file, "two");
  await Promise.all([first, synced(file)]);
  const before = synced(folder);
  fs.writeFileSync(join(disk.root, "b"), "");
  await Promise.all([before, synced(folder)]);
  for (const fd of [folder, file]) fs.closeSync(fd);

  const cut = disk.cut(() => 0);
  assert.deepEqual([fs.readdirSync(cut), fs.readFileSync(join(cut, "a"), "utf8")], [["a", "b"], "onetwo"]);
});
