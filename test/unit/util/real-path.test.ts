import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { editFileTool } from "../../../src/tools/files/edit-file.js";
import { listDirTool } from "../../../src/tools/files/list-dir.js";
import { readFileTool } from "../../../src/tools/files/read-file.js";
import { grepTool } from "../../../src/tools/files/search/grep.js";
import { writeFileTool } from "../../../src/tools/files/write-file.js";
import { HeldFolder, removeFolder } from "../../../src/util/files/held-folder.js";
import { openNoted } from "../../../src/util/files/noted-file.js";
import {
  LinkedFileError,
  openReal,
  PathChangedError,
  resolveReal,
  type Way,
} from "../../../src/util/files/real-path.js";
import { writeReal } from "../../../src/util/files/write-real.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

const ways: readonly Way[] = ["handles", "checks"];

test("in both ways a link in any place of a judged path is not followed, neither to read nor to write", async () => {
  for (const way of ways) {
    using place = createToolPlace();
    place.file("outside/a.txt", "secret");
    const file = place.file("ws/sub/a.txt", "fine");
    assert.deepEqual(await resolveReal(file, { way }), { ok: true, path: file, exists: true });
    {
      await using handle = await openReal(file, { way });
      assert.equal(await handle.readFile("utf8"), "fine");
    }
    assert.equal(await writeReal(file, "better", { way }), 6);
    renameSync(path.dirname(file), path.join(place.workspace, "moved"));
    symlinkSync(path.join(place.root, "outside"), path.join(place.workspace, "sub"));
    await assert.rejects(openReal(file, { way }), PathChangedError);
    await assert.rejects(writeReal(file, "evil", { way }), PathChangedError);
    await assert.rejects(writeReal(path.join(place.workspace, "sub/new/b.txt"), "evil", { way }), PathChangedError);
    await assert.rejects(HeldFolder.open(path.dirname(file), { way }), PathChangedError);
    assert.deepEqual(readdirSync(path.join(place.root, "outside")), ["a.txt"]);
    assert.equal(readFileSync(path.join(place.root, "outside/a.txt"), "utf8"), "secret");
  }
});

test("in both ways a folder that is moved while its file is being written gets nothing", async () => {
  for (const way of ways) {
    using place = createToolPlace();
    mkdirSync(path.join(place.workspace, "sub"));
    mkdirSync(path.join(place.root, "outside"));
    const swapped = (async function* () {
      yield Buffer.from("half");
      renameSync(path.join(place.workspace, "sub"), path.join(place.workspace, "moved"));
      symlinkSync(path.join(place.root, "outside"), path.join(place.workspace, "sub"));
      yield Buffer.from("whole");
    })();
    await assert.rejects(writeReal(path.join(place.workspace, "sub/a.txt"), swapped, { way }), PathChangedError);
    assert.deepEqual(readdirSync(path.join(place.root, "outside")), [], way);
    if (way === "handles") assert.deepEqual(readdirSync(path.join(place.workspace, "moved")), []);
  }
});

test("in both ways pipes and folders are not opened, and a link at the end is not written through", async () => {
  for (const way of ways) {
    using place = createToolPlace();
    const pipe = path.join(place.workspace, "pipe");
    execFileSync("mkfifo", [pipe]);
    await assert.rejects(openReal(pipe, { way }), { code: "ENXIO" });
    await assert.rejects(openReal(place.workspace, { way }), { code: "EISDIR" });
    await assert.rejects(writeReal(pipe, "x", { way }), { code: "ENXIO" });
    await assert.rejects(writeReal(place.workspace, "x", { way }), { code: "EISDIR" });
    const outside = place.file("outside/a.txt", "secret");
    symlinkSync(outside, path.join(place.workspace, "link"));
    await assert.rejects(writeReal(path.join(place.workspace, "link"), "x", { way }), PathChangedError);
    assert.equal(readFileSync(outside, "utf8"), "secret");
  }
});

test("a file that programs save again and again is read all the same", async () => {
  using place = createToolPlace();
  const file = place.file("ws/a.txt", "0");
  const saving = { isOver: false };
  const saved = (async () => {
    for (let round = 1; !saving.isOver; round++) {
      writeFileSync(`${file}.new`, String(round));
      renameSync(`${file}.new`, file);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
  for (let round = 0; round < 500; round++) {
    await using handle = await openReal(file);
    assert.match(await handle.readFile("utf8"), /^\d+$/);
  }
  saving.isOver = true;
  await saved;
});

test("a file of the session with a second name is neither read, searched nor sent; writing replaces it alone", async () => {
  using place = createToolPlace();
  const outside = place.file("ws/shared.txt", "the secret text");
  const file = path.join(place.folder, "mine.txt");
  mkdirSync(place.folder, { recursive: true });
  linkSync(outside, file);
  const read = await place.run(readFileTool, { path: "mine.txt" });
  assert.match(read.text, /^mine\.txt has a second name \(a hard link\) .* Copy it first/);
  assert.match((await place.run(grepTool, { pattern: "secret" })).text, /Nothing matches.*\n.*hard link/s);
  const edit = { path: "mine.txt", old_text: "secret", new_text: "evil" };
  assert.equal((await place.run(editFileTool, edit)).isError, true);
  await assert.rejects(openNoted(file), LinkedFileError);
  assert.equal((await place.run(readFileTool, { path: outside })).text, "the secret text");
  assert.equal((await place.run(writeFileTool, { path: "mine.txt", content: "mine" })).isError, false);
  assert.equal(readFileSync(outside, "utf8"), "the secret text");
});

test("what the gateway keeps may have a second name, as some backup programs make them", async () => {
  using place = createToolPlace();
  const file = place.file("ws/.sessions/.kept/telegram_42/received/a.png", "a picture");
  linkSync(file, path.join(place.root, "backup.png"));
  await using handle = await openNoted(file);
  assert.equal(await handle.readFile("utf8"), "a picture");
});

test("a path that was written down leads to its own file only, also where the workspace is a link", async () => {
  using place = createToolPlace();
  const file = place.file("ws/.sessions/telegram_42/received/a.png", "a picture");
  const linked = path.join(place.root, "linked");
  symlinkSync(place.workspace, linked);
  const noted = path.join(linked, ".sessions/telegram_42/received/a.png");
  {
    await using handle = await openNoted(noted);
    assert.equal(await handle.readFile("utf8"), "a picture");
  }
  renameSync(path.dirname(file), path.join(place.folder, "away"));
  symlinkSync(path.join(place.folder, "away"), path.dirname(file));
  await assert.rejects(openNoted(noted), PathChangedError);
});

test("tools say which files they have written", async () => {
  using place = createToolPlace();
  const written: string[] = [];
  const wrote = async (file: string) => void written.push(file);
  await place.run(writeFileTool, { path: "a/b.txt", content: "old" }, { wrote });
  await place.run(editFileTool, { path: "a/b.txt", old_text: "old", new_text: "new" }, { wrote });
  await place.run(editFileTool, { path: "a/b.txt", old_text: "none", new_text: "new" }, { wrote });
  assert.deepEqual(written, [path.join(place.folder, "a/b.txt"), path.join(place.folder, "a/b.txt")]);
});

test("in both ways folders as deep as they go are deleted, and links in them without what they lead to", async () => {
  for (const way of ways) {
    using place = createToolPlace();
    const outside = place.file("outside/a.txt", "secret");
    const own = path.join(place.root, "own");
    const deep = path.join(own, ...Array.from({ length: 120 }, () => "d"));
    mkdirSync(deep, { recursive: true });
    writeFileSync(path.join(deep, "file"), "x");
    symlinkSync(path.dirname(outside), path.join(own, "link"));
    await removeFolder(own, { way });
    assert.deepEqual(readdirSync(place.root).sort(), ["outside", "ws"]);
    assert.equal(readFileSync(outside, "utf8"), "secret");
    await removeFolder(own, { way });
    symlinkSync(path.dirname(outside), own);
    await removeFolder(own, { way });
    assert.deepEqual(readdirSync(place.root).sort(), ["outside", "ws"]);
    assert.equal(readFileSync(outside, "utf8"), "secret");
  }
});

test("what the gateway keeps of the session is found by its short name, read and never written", async () => {
  using place = createToolPlace();
  const kept = "ws/.sessions/.kept/telegram_42";
  place.file(`${kept}/received/0a-letter.txt`, "Dear all");
  place.file(`${kept}/plan.json`, "{}");
  place.file("ws/.sessions/.kept/telegram_43/received/0b-other.txt", "secret");
  const letter = await place.run(readFileTool, { path: "received/0a-letter.txt" });
  assert.equal(letter.text, "Dear all");
  assert.equal(letter.outside, "the file 0a-letter.txt");
  assert.match((await place.run(grepTool, { pattern: "Dear", path: "received" })).text, /0a-letter\.txt:1: Dear all/);
  assert.match((await place.run(listDirTool, {})).text, /\[kept by the gateway, to read: received\/\]/);
  assert.match((await place.run(listDirTool, { path: "received" })).text, /^0a-letter\.txt 8/);
  for (const other of [
    "received/../../telegram_43/received/0b-other.txt",
    "../.kept/telegram_43/received/0b-other.txt",
  ])
    assert.doesNotMatch((await place.run(readFileTool, { path: other })).text, /secret/);
  const full = path.join(place.root, kept, "received/0a-letter.txt");
  const written = await place.run(writeFileTool, { path: full, content: "evil" }, { mode: "auto" });
  assert.match(written.text, /is kept by the gateway and cannot be changed/);
  // Two folders of one name would hide each other's files.
  const mine = await place.run(writeFileTool, { path: "received/mine.txt", content: "mine" });
  assert.match(mine.text, /^received is where I keep files for this chat\. Write into another folder\.$/);
  assert.equal((await place.run(readFileTool, { path: "received/0a-letter.txt" })).text, "Dear all");
});
