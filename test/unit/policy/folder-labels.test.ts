import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { FolderLabels } from "../../../src/labels/folder-labels.js";
import { usageOf } from "../../../src/tools/folder-usage.js";
import { removeFolder } from "../../../src/util/files/held-folder.js";

/** Longer than the step of any clock. */
const apart = () => later(60);

function startPlace() {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "maxclaw-labels-")));
  const own = path.join(root, "own");
  mkdirSync(own);
  const file = path.join(root, "kept", "labels.jsonl");
  const open = (): FolderLabels => new FolderLabels({ file, root: own, now: Date.now });
  const write = (name: string, text = name): string => {
    const target = path.join(own, name);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
    return target;
  };
  return { root, own, file, open, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

test("what is written under the influence of others is foreign, also after a restart; what came before and after is not", async () => {
  using place = startPlace();
  const before = place.write("before.txt");
  await apart();
  const labels = place.open();
  const writing = await labels.write(path.join(place.own, "notes.txt"));
  const notes = place.write("notes.txt");
  await writing.end();
  await apart();
  const after = place.write("after.txt");
  for (const one of [labels, place.open()]) {
    assert.equal(await one.outsideOf(notes), "the file notes.txt");
    assert.equal(await one.outsideOf(before), undefined);
    assert.equal(await one.outsideOf(after), undefined);
  }
});

test("a foreign file stays so by another name, another time, other rights and a second name; a clean one in its place is clean", async () => {
  using place = startPlace();
  const labels = place.open();
  const writing = await labels.write(path.join(place.own, "dir/notes.txt"));
  place.write("dir/notes.txt");
  await writing.end();
  await apart();
  const run = await labels.startRun([]);
  assert.match(run.outside() ?? "", /^the file (dir|notes\.txt)$/);
  renameSync(path.join(place.own, "dir"), path.join(place.own, "other"));
  const moved = path.join(place.own, "other/moved.txt");
  renameSync(path.join(place.own, "other/notes.txt"), moved);
  linkSync(moved, path.join(place.own, "second.txt"));
  chmodSync(moved, 0o600);
  utimesSync(moved, 0, 0);
  cpSync(moved, path.join(place.own, "copy.txt"));
  await run.end();
  await apart();
  for (const name of ["other/moved.txt", "second.txt", "copy.txt"])
    assert.notEqual(await labels.outsideOf(path.join(place.own, name)), undefined, name);
  rmSync(path.join(place.own, "copy.txt"));
  assert.equal(await labels.outsideOf(place.write("copy.txt", "clean")), undefined);
});

test("a folder that is moved takes its foreign files along", async () => {
  using place = startPlace();
  const labels = place.open();
  const writing = await labels.write(path.join(place.own, "dir/notes.txt"));
  place.write("dir/notes.txt");
  await writing.end();
  await apart();
  renameSync(path.join(place.own, "dir"), path.join(place.own, "harmless"));
  assert.notEqual(await place.open().outsideOf(path.join(place.own, "harmless/notes.txt")), undefined);
});

test("a command is foreign with its output and its files when a foreign file lies there, and clean again when it is gone", async () => {
  using place = startPlace();
  const labels = place.open();
  place.write("own.txt");
  await apart();
  const writing = await labels.write(path.join(place.own, "page.txt"));
  const page = place.write("page.txt");
  await writing.end();
  await apart();
  const run = await labels.startRun([]);
  assert.equal(run.outside(), "the file page.txt");
  const made = place.write("made.txt");
  await run.end();
  await apart();
  assert.equal(await labels.outsideOf(made), "the file made.txt");
  rmSync(made);
  rmSync(page);
  const clean = await labels.startRun([]);
  assert.equal(clean.outside(), undefined);
  const cleanly = place.write("cleanly.txt");
  await clean.end();
  assert.equal(await labels.outsideOf(cleanly), undefined);
  assert.doesNotMatch(readFileSync(place.file, "utf8"), /open/, "nothing is remembered of what is gone");
});

test("a clean command that runs while something foreign comes is foreign from then on", async () => {
  using place = startPlace();
  const labels = place.open();
  const background = await labels.startRun([]);
  assert.equal(background.outside(), undefined);
  assert.ok(!existsSync(place.file), "nothing is written while all is clean");
  const writing = await labels.write(path.join(place.own, "page.txt"));
  await writing.end();
  assert.notEqual(background.outside(), undefined);
  await apart();
  const late = place.write("late.txt");
  assert.equal(await labels.outsideOf(late), "the file late.txt");
  const other = await labels.startRun([]);
  assert.notEqual(other.outside(), undefined, "it may read what the other one writes");
  await other.end();
  await background.end();
  await apart();
  assert.equal(await labels.outsideOf(place.write("clean.txt")), undefined);
});

test("a command that a crash has cut off counts up to the next start", async () => {
  using place = startPlace();
  await place.open().startRun(["https://a.example/"]);
  await apart();
  const made = place.write("made.txt");
  await apart();
  const labels = place.open();
  assert.notEqual(await labels.outsideOf(made), undefined);
  await apart();
  assert.equal(await labels.outsideOf(place.write("clean.txt")), undefined);
});

test("a line that was cut off takes no other one along, and a file that cannot be read makes everything foreign", async () => {
  using place = startPlace();
  const first = await place.open().write(path.join(place.own, "one.txt"));
  const one = place.write("one.txt");
  await first.end();
  appendFileSync(place.file, '{"kind":"open","id":"span_x","at":1');
  await apart();
  const labels = place.open();
  assert.notEqual(await labels.outsideOf(one), undefined);
  const second = await labels.write(path.join(place.own, "two.txt"));
  const two = place.write("two.txt");
  await second.end();
  assert.notEqual(await place.open().outsideOf(two), undefined);
  rmSync(place.file);
  mkdirSync(place.file);
  assert.notEqual(await place.open().outsideOf(two), undefined);
});

test("in a copy of the folder, where all times are new, everything that was there is foreign", async () => {
  using place = startPlace();
  const writing = await place.open().write(path.join(place.own, "one.txt"));
  place.write("one.txt");
  await writing.end();
  const copy = path.join(place.root, "restored");
  cpSync(place.own, path.join(copy, "own"), { recursive: true });
  cpSync(path.dirname(place.file), path.join(copy, "kept"), { recursive: true });
  await apart();
  const labels = new FolderLabels({
    file: path.join(copy, "kept/labels.jsonl"),
    root: path.join(copy, "own"),
    now: Date.now,
  });
  assert.notEqual(await labels.outsideOf(path.join(copy, "own/one.txt")), undefined);
  await apart();
  writeFileSync(path.join(copy, "own/new.txt"), "new");
  assert.equal(await labels.outsideOf(path.join(copy, "own/new.txt")), undefined);
});

test("however much is written, little is remembered, and nothing foreign becomes clean", async () => {
  using place = startPlace();
  const labels = place.open();
  const files: string[] = [];
  for (let index = 0; index < 450; index++) {
    const writing = await labels.write(path.join(place.own, `${index}.txt`));
    files.push(place.write(`${index}.txt`));
    await writing.end();
  }
  assert.ok(statSync(place.file).size < 200_000);
  for (const one of [labels, place.open()])
    for (const file of files) assert.notEqual(await one.outsideOf(file), undefined, file);
});

test("where no session owns the files only the very paths are labelled, and they are named", async () => {
  using place = startPlace();
  const shared = new FolderLabels({ file: place.file, now: Date.now });
  const target = path.join(place.own, "shared.txt");
  const writing = await shared.write(target);
  place.write("shared.txt");
  const beside = place.write("beside.txt");
  await writing.include(target);
  await writing.end();
  assert.equal(await shared.outsideOf(target), "the file shared.txt");
  assert.equal(await shared.outsideOf(beside), undefined);
  const isForeign = await shared.foreignPaths();
  assert.deepEqual([target, beside].map(isForeign), [true, false]);
  await apart();
  place.write("shared.txt", "by a person");
  const isForeignNow = await shared.foreignPaths();
  assert.equal(isForeignNow(target), false);
  await (await shared.write(beside)).end();
  assert.equal(isForeignNow(beside), true, "also what becomes foreign later");
});

test("what a command wrote before others had a say in it counts from its start: a mapped file changes without a sign", async () => {
  using place = startPlace();
  const labels = place.open();
  const run = await labels.startRun([]);
  const mapped = place.write("mapped.txt");
  await apart();
  await run.add(["a page"]);
  await run.end();
  assert.equal(await labels.outsideOf(mapped), "the file mapped.txt");
});

test("a link whose target is a text is not a link of the gateway's, and what cannot be looked at is foreign", async () => {
  using place = startPlace();
  const labels = place.open();
  mkdirSync(path.join(place.root, ".kept/own"), { recursive: true });
  const run = await labels.startRun(["a page"]);
  symlinkSync("../.kept/send all secrets/../own", path.join(place.own, "own"));
  await run.end();
  await apart();
  const next = await labels.startRun([]);
  assert.equal(next.outside(), "the file own");
  await next.end();
  rmSync(path.join(place.own, "own"));
  await apart();
  const clean = await labels.startRun([]);
  assert.equal(clean.outside(), undefined);
  await clean.end();
});

test("a path that is too long for the system hides nothing: neither what is in it nor that it takes up room", async () => {
  using place = startPlace();
  const name = "d".repeat(200);
  const deep = `cd "$0"; for n in $(seq 1 22); do mkdir ${name} && cd ${name}; done; echo text > file.txt`;
  const labels = place.open();
  const run = await labels.startRun(["a page"]);
  execFileSync("/bin/bash", ["-c", deep, place.own]);
  await run.end();
  await apart();
  const next = await labels.startRun([]);
  assert.match(next.outside() ?? "", /^the file d+/);
  await next.end();
  const usage = await usageOf([place.own], { maxBytes: 1e9, maxFiles: 1e6 });
  assert.notEqual(usage.closed, undefined);
  await removeFolder(place.own);
  assert.ok(!existsSync(place.own));
});
