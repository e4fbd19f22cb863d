import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { type Survey, Surveyor } from "../../../src/tools/exec/view/survey.js";
import { ViewTree } from "../../../src/tools/exec/view/tree.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

interface World extends Disposable {
  readonly root: string;
  readonly shared: string;
  readonly tree: ViewTree;
  put(name: string, text: string): Promise<string>;
  /** Looks at what is there, and brings the tree up to date. */
  update(
    isShown?: (target: string) => boolean,
    maxEntries?: number,
  ): Promise<Survey & { readonly leftOut: readonly string[] }>;
  /** The tree as `name=text`, sorted. */
  shows(): readonly string[];
}

function createWorld(treeIn?: string): World {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "maxclaw-view-")));
  const shared = path.join(root, "ws");
  const tree = new ViewTree(path.join(treeIn ?? root, "view"));
  const surveyor = new Surveyor();
  return {
    root,
    shared,
    tree,
    async put(name, text) {
      const file = path.join(shared, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
      return file;
    },
    async update(isShown = () => true, maxEntries = 1000) {
      const survey = await surveyor.look(shared, isShown, maxEntries);
      return { ...survey, leftOut: await tree.update(survey, [{ name: "ws", folder: shared }]) };
    },
    shows: () =>
      readdirSync(path.join(tree.root, "ws"), { withFileTypes: true, recursive: true })
        .map((entry) => {
          const full = path.join(entry.parentPath, entry.name);
          const name = path.relative(path.join(tree.root, "ws"), full);
          return entry.isFile() ? `${name}=${readFileSync(full, "utf8").slice(0, 20)}` : name;
        })
        .sort(),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

test("the tree follows what comes, goes, is replaced, and becomes something else", async () => {
  using world = createWorld();
  const { shared, put, update, shows } = world;
  const a = await put("a.txt", "a1");
  await put("deep/er/b.txt", "b1");
  await put(".env", "secret");
  await symlink("a.txt", path.join(shared, "latest"));
  const isShown = (target: string): boolean => !path.basename(target).startsWith(".");
  await update(isShown);
  assert.deepEqual(shows(), ["a.txt=a1", "deep", "deep/er", "deep/er/b.txt=b1", "latest"]);
  assert.equal(statSync(a).nlink, 2);
  // Written in place, it is the same file; saved as editors save, it is another one.
  await writeFile(a, "a2");
  renameSync(await put("new", "b2"), path.join(shared, "deep/er/b.txt"));
  renameSync(path.join(shared, "latest"), path.join(shared, ".latest"));
  await update(isShown);
  assert.deepEqual(shows(), ["a.txt=a2", "deep", "deep/er", "deep/er/b.txt=b2"]);
  rmSync(path.join(shared, "deep"), { recursive: true });
  await put("deep", "now a file");
  rmSync(a);
  await put("a.txt/c.txt", "now a folder");
  await update(isShown);
  assert.deepEqual(shows(), ["a.txt", "a.txt/c.txt=now a folder", "deep=now a file"]);
  await update((target) => isShown(target) && !target.includes("c.txt"));
  assert.deepEqual(shows(), ["a.txt", "deep=now a file"]);
  assert.deepEqual(readdirSync(world.tree.root), ["ws"], "nothing half made is left");
});

test("a folder that has not changed for a while is not read again, and one that has is", async () => {
  using world = createWorld();
  await world.put("old/a.txt", "a");
  execFileSync("touch", ["-d", "2020-01-01", path.join(world.shared, "old")]);
  const counts: number[] = [];
  for (const name of ["b.txt", "c.txt"]) {
    const { files } = await world.update();
    counts.push(files.length);
    await world.put(`old/${name}`, "new");
  }
  assert.deepEqual([...counts, (await world.update()).files.length], [1, 2, 3]);
});

test("what is too large to be looked through is left out, by name, and nothing else", async () => {
  using world = createWorld();
  for (let n = 0; n < 30; n++) await world.put(`many/${n}.txt`, "x");
  await world.put("zoo/one.txt", "x");
  await world.put("notes.txt", "x");
  const { tooLarge, files } = await world.update(() => true, 20);
  assert.deepEqual(tooLarge, ["many"]);
  assert.deepEqual(files.map((file) => path.basename(file.path)).sort(), ["notes.txt", "one.txt"]);
  assert.deepEqual(world.shows(), ["notes.txt=x", "zoo", "zoo/one.txt=x"]);
});

test("what cannot be linked is copied, up to a size, and copied again when it has changed", {
  skip: withoutSmallDisk(),
}, async () => {
  const disk = mkdtempSync(path.join(tmpdir(), "maxclaw-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "maxclaw-test", disk]);
  try {
    using world = createWorld(disk);
    const small = await world.put("small.txt", "first");
    truncateSync(await world.put("large.bin", ""), 64 * 1024 ** 2);
    const { leftOut } = await world.update();
    assert.deepEqual(leftOut, [path.join(world.shared, "large.bin")]);
    assert.deepEqual(world.shows(), ["small.txt=first"]);
    assert.equal(statSync(small).nlink, 1);
    await writeFile(small, "and more");
    await world.update();
    assert.deepEqual(world.shows(), ["small.txt=and more"]);
  } finally {
    execFileSync("umount", ["-l", disk]);
    rmSync(disk, { recursive: true });
  }
});
