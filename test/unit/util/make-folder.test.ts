import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder, makeFolderSync } from "../../../src/util/files/make-folder.js";
import { mountSmallDisk } from "../../support/engine/small-disk.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

test("a folder is made with all above it, for this account alone; what is there stays", async () => {
  const root = await mkdtemp(join(tmpdir(), "maxclaw-folder-"));
  try {
    for (let time = 0; time < 2; time++) await makeFolder(join(root, "a", "b"));
    assert.equal((await stat(join(root, "a", "b"))).mode & 0o777, 0o700);
    await mkdir(join(root, "open"), { mode: 0o755 });
    await makeFolder(join(root, "open"));
    assert.equal((await stat(join(root, "open"))).mode & 0o777, 0o755);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test("where a folder can be neither made nor found, this is said at once", {
  skip: process.platform !== "linux" && "only Linux has /proc",
}, async () => {
  for (const path of ["/proc/nothing/like/this", "/proc/nothing"]) {
    await assert.rejects(makeFolder(path), { code: "ENOENT" });
    assert.throws(() => makeFolderSync(path), { code: "ENOENT" });
  }
});

test("a file in the place of a folder is an error, also for makeFolderSync, which makes the same folders", async () => {
  const root = await mkdtemp(join(tmpdir(), "maxclaw-folder-"));
  try {
    await writeFile(join(root, "file"), "");
    for (const path of ["file", "file/deep", "file/deep/er"]) {
      await assert.rejects(makeFolder(join(root, path)), /EEXIST|ENOTDIR/);
      assert.throws(() => makeFolderSync(join(root, path)), /EEXIST|ENOTDIR/);
    }
    makeFolderSync(join(root, "a", "b", "c"));
    makeFolderSync(join(root, "a", "b", "c"));
    assert.equal((await stat(join(root, "a", "b"))).mode & 0o777, 0o700);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test("a disk that is closed or full is named as what it is", { skip: withoutSmallDisk() }, async () => {
  using disk = mountSmallDisk("1m,nr_inodes=3");
  await makeFolder(join(disk.folder, "one"));
  await assert.rejects(makeFolder(join(disk.folder, "one", "two", "three")), { code: "ENOSPC" });
  execFileSync("mount", ["-o", "remount,ro", disk.folder]);
  await makeFolder(join(disk.folder, "one"));
  for (const path of ["other", "one/other/deep"])
    await assert.rejects(makeFolder(join(disk.folder, path)), { code: "EROFS" });
});
