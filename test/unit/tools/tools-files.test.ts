import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { editFileTool } from "../../../src/tools/files/edit-file.js";
import { listDirTool } from "../../../src/tools/files/list-dir.js";
import { readFileTool } from "../../../src/tools/files/read-file.js";
import { writeFileTool } from "../../../src/tools/files/write-file.js";
import { makeDocx } from "../../support/documents.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

const own = "ws/.sessions/telegram_42";

test("a relative path is read from the session's folder, without line numbers", async () => {
  using place = createToolPlace();
  place.file(`${own}/notes.txt`, "one\r\ntwo\n\nfour\n");
  const result = await place.run(readFileTool, { path: "notes.txt" });
  assert.deepEqual(result, { text: "one\ntwo\n\nfour", isError: false, summary: "read notes.txt (4 lines)" });
});

test("what the session's folder lacks is read from the workspace, and that is said", async () => {
  using place = createToolPlace();
  const shared = place.file("ws/docs/plan.md", "shared plan");
  const found = await place.run(readFileTool, { path: "docs/plan.md" });
  assert.equal(found.text, `shared plan\n[from the workspace: ${shared}]`);
  place.file(`${own}/docs/plan.md`, "own plan");
  assert.equal((await place.run(readFileTool, { path: "docs/plan.md" })).text, "own plan");
  assert.equal((await place.run(readFileTool, { path: shared })).text, "shared plan");
});

test("offset and limit choose lines, and the result names where to read on", async () => {
  using place = createToolPlace();
  place.file(`${own}/many.txt`, Array.from({ length: 50 }, (_, i) => `line ${i + 1}`).join("\n"));
  const middle = await place.run(readFileTool, { path: "many.txt", offset: 10, limit: 2 });
  assert.equal(middle.text, "line 10\nline 11\n[lines 10-11 of 50; read on with offset 12]");
  const end = await place.run(readFileTool, { path: "many.txt", offset: 50 });
  assert.equal(end.text, "line 50\n[lines 50-50 of 50]");
  const beyond = await place.run(readFileTool, { path: "many.txt", offset: 51 });
  assert.match(beyond.text, /only 50 lines/);
  assert.equal(beyond.isError, true);
});

test("a long file, and one long line, can be read to the end by following the offsets", async () => {
  using place = createToolPlace();
  const texts = {
    "lines.txt": Array.from({ length: 3000 }, (_, i) => `row ${i} ${"x".repeat(i % 90)}`).join("\n"),
    "line.txt": "é😀x".repeat(20_000),
  };
  for (const [name, text] of Object.entries(texts)) {
    place.file(`${own}/${name}`, text);
    const parts: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const result = await place.run(readFileTool, { path: name, offset });
      assert.ok(result.text.length < 16_000);
      const cut = result.text.lastIndexOf("\n[lines ");
      parts.push(result.text.slice(0, cut));
      const next: string | undefined = /read on with offset (\d+)/.exec(result.text.slice(cut))?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    const whole = parts.join("\n");
    assert.equal(name === "line.txt" ? whole.replaceAll("\n", "") : whole, text);
    assert.ok(!/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(whole), "no half characters");
  }
});

test("UTF-8 and UTF-16 with byte order marks are text; what is neither is refused with a sentence", async () => {
  using place = createToolPlace();
  const text = "Grüße, 世界 😀";
  place.file(`${own}/bom.txt`, `\uFEFF${text}`);
  place.file(`${own}/le.txt`, Buffer.from(`\uFEFF${text}`, "utf16le"));
  place.file(`${own}/be.txt`, Buffer.from(`\uFEFF${text}`, "utf16le").swap16());
  for (const name of ["bom.txt", "le.txt", "be.txt"]) {
    assert.equal((await place.run(readFileTool, { path: name })).text, text, name);
  }
  place.file(`${own}/picture.tif`, Buffer.from([0x49, 0x49, 0x2a, 0, 0, 1, 2]));
  // What could be Russian, and a byte that stands for nothing in Western Europe.
  place.file(`${own}/russian.txt`, Buffer.from("\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0", "latin1"));
  place.file(`${own}/odd.txt`, Buffer.from("some text, \x81", "latin1"));
  for (const name of ["picture.tif", "russian.txt", "odd.txt"]) {
    const result = await place.run(readFileTool, { path: name });
    assert.equal(result.isError, true);
    assert.match(result.text, /not a text file/, name);
  }
});

test("a picture is shown, whatever its name says, and one that no model takes is refused", async () => {
  using place = createToolPlace();
  const png = Buffer.from("\x89PNG\r\n\x1a\n and so on", "latin1");
  const file = place.file(`${own}/picture.txt`, png);
  const result = await place.run(readFileTool, { path: "picture.txt" });
  assert.deepEqual(result.images, [{ path: file, mimeType: "image/png", filename: "picture.txt" }]);
  assert.match(result.text, /image\/png/);
  place.file(`${own}/large.png`, Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]));
  const large = await place.run(readFileTool, { path: "large.png" });
  assert.match(large.text, /more than 5 MB/);
  assert.equal(large.images, undefined);
});

test("the text of a document is read in parts like any other, and marked when others sent it", async () => {
  using place = createToolPlace();
  const paragraphs = Array.from({ length: 40 }, (_, i) => `<w:p><w:r><w:t>line ${i + 1}</w:t></w:r></w:p>`);
  place.file(`${own}/report.docx`, makeDocx(paragraphs.join("")));
  const result = await place.run(readFileTool, { path: "report.docx", offset: 39 });
  assert.equal(result.text, "line 39\nline 40\n[text of a document: 40 paragraphs]\n[lines 39-40 of 40]");
  place.file(`${own}/broken.pdf`, "%PDF-1.4 and no more");
  const broken = await place.run(readFileTool, { path: "broken.pdf" });
  assert.deepEqual([broken.text, broken.isError], ["broken.pdf is damaged and cannot be read.", true]);
  place.file(`${own}/tool-results/outside/sent.docx`, makeDocx(paragraphs.join("")));
  const sent = await place.run(readFileTool, { path: "tool-results/outside/sent.docx" });
  assert.match(sent.outside ?? "", /sent\.docx/);
});

test("Chinese in GBK is read and edited in GBK; a character that it lacks changes nothing", async () => {
  using place = createToolPlace();
  // 你好，世界
  const bytes = Buffer.from("c4e3bac3a3accac0bde7", "hex");
  const file = place.file(`${own}/gbk.txt`, Buffer.concat([bytes, Buffer.from(" v1\r\n")]));
  assert.equal((await place.run(readFileTool, { path: "gbk.txt" })).text, "你好，世界 v1");
  const edit = (old_text: string, new_text: string) => place.run(editFileTool, { path: "gbk.txt", old_text, new_text });
  assert.equal((await edit("世界 v1", "你好 v2")).isError, false);
  const after = Buffer.concat([bytes.subarray(0, 6), bytes.subarray(0, 4), Buffer.from(" v2\r\n")]);
  assert.deepEqual(readFileSync(file), after);
  assert.match((await edit("v2", "😀")).text, /gbk, which lacks/);
  assert.deepEqual(readFileSync(file), after);
});

test("a CSV file of Western Windows is read and edited in its encoding, and the guess is said", async () => {
  using place = createToolPlace();
  const file = place.file(`${own}/data.csv`, Buffer.from("Name;Preis\r\nK\xe4se;3 \x80\r\n", "latin1"));
  const read = await place.run(readFileTool, { path: "data.csv" });
  assert.equal(read.text, "Name;Preis\nKäse;3 €\n[read as windows-1252]");
  const edit = (old_text: string, new_text: string) =>
    place.run(editFileTool, { path: "data.csv", old_text, new_text });
  assert.equal((await edit("Käse;3", "Öl – „gut“;4")).isError, false);
  const after = Buffer.from("Name;Preis\r\n\xd6l \x96 \x84gut\x93;4 \x80\r\n", "latin1");
  assert.deepEqual(readFileSync(file), after);
  assert.match((await edit("gut", "好")).text, /windows-1252, which lacks/);
  assert.deepEqual(readFileSync(file), after);
});

test("missing, empty, huge and unreadable files and folders give plain sentences", async () => {
  using place = createToolPlace();
  place.file(`${own}/empty.txt`, "");
  place.file(`${own}/huge.txt`, Buffer.alloc(10 * 1024 * 1024 + 1, "x"));
  mkdirSync(path.join(place.folder, "folder"));
  assert.equal((await place.run(readFileTool, { path: "nothing.txt" })).text, "nothing.txt does not exist.");
  assert.equal((await place.run(readFileTool, { path: "empty.txt/x" })).text, "empty.txt/x does not exist.");
  assert.equal((await place.run(readFileTool, { path: "empty.txt" })).text, "(empty file)");
  assert.match((await place.run(readFileTool, { path: "huge.txt" })).text, /larger than 10 MB/);
  assert.match((await place.run(readFileTool, { path: "folder" })).text, /use list_dir/);
  for (const name of ["", "  ", "~/notes.txt"]) {
    assert.match((await place.run(readFileTool, { path: name })).text, /Give a path/);
  }
});

test("writing creates the folders, says what it did, and keeps the rights of a file", async () => {
  using place = createToolPlace();
  const created = await place.run(writeFileTool, { path: "a/b/ü.txt", content: "né" });
  assert.deepEqual(created, {
    text: "created a/b/ü.txt (3 bytes)",
    isError: false,
    summary: "created a/b/ü.txt (3 bytes)",
  });
  const file = path.join(place.folder, "a/b/ü.txt");
  chmodSync(file, 0o640);
  const again = await place.run(writeFileTool, { path: file, content: "x" });
  assert.equal(again.text, `overwrote ${file} (1 byte)`);
  assert.equal(readFileSync(file, "utf8"), "x");
  assert.equal(statSync(file).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(path.dirname(file)), ["ü.txt"]);
  assert.match((await place.run(writeFileTool, { path: "a/b", content: "x" })).text, /is a folder/);
  assert.match((await place.run(writeFileTool, { path: "a/b/ü.txt/c", content: "x" })).text, /is a file, not a folder/);
});

test("a write that the disk cuts short leaves the old file whole and nothing beside it", () => {
  using place = createToolPlace();
  const file = place.file("ws/big.txt", "the old text");
  const script = `import { writeReal } from ${JSON.stringify(fileURLToPath(new URL("../../../src/util/files/write-real.js", import.meta.url)))};
    process.on("SIGXFSZ", () => {});
    await writeReal(${JSON.stringify(file)}, "x".repeat(300000)).then(() => console.log("done"), (error) => console.log(error.code));`;
  // A limit on the size of files cuts writes short as a full disk does.
  const output = execFileSync(
    "sh",
    ["-c", 'ulimit -f 128; exec "$0" --input-type=module -e "$1"', process.execPath, script],
    {
      encoding: "utf8",
      timeout: 9000,
    },
  );
  assert.equal(output.trim(), "EFBIG");
  assert.equal(readFileSync(file, "utf8"), "the old text");
  assert.deepEqual(readdirSync(place.workspace), ["big.txt"]);
});

test("a relative write never goes to the workspace's file of that name", async () => {
  using place = createToolPlace();
  const shared = place.file("ws/plan.md", "shared");
  await place.run(writeFileTool, { path: "plan.md", content: "mine" });
  assert.equal(readFileSync(shared, "utf8"), "shared");
  assert.equal(readFileSync(path.join(place.folder, "plan.md"), "utf8"), "mine");
});

test("an edit replaces the one place and shows a short diff", async () => {
  using place = createToolPlace();
  const file = place.file(`${own}/list.txt`, "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  const result = await place.run(editFileTool, { path: "list.txt", old_text: "5\n6", new_text: "five" });
  assert.equal(readFileSync(file, "utf8"), "1\n2\n3\n4\nfive\n7\n8\n9\n");
  assert.equal(result.text, "edited list.txt\n@@ -2,8 +2,7 @@\n 2\n 3\n 4\n-5\n-6\n+five\n 7\n 8\n 9");
});

test("an edit keeps line endings, byte order mark and encoding", async () => {
  using place = createToolPlace();
  const windows = place.file(`${own}/windows.txt`, "\uFEFFa\r\nb\r\nc\r\n");
  assert.equal(
    (await place.run(editFileTool, { path: "windows.txt", old_text: "a\nb", new_text: "x\ny\nz" })).isError,
    false,
  );
  assert.equal(readFileSync(windows, "utf8"), "\uFEFFx\r\ny\r\nz\r\nc\r\n");
  const wide = place.file(`${own}/wide.txt`, Buffer.from("\uFEFFeins 一", "utf16le").swap16());
  await place.run(editFileTool, { path: "wide.txt", old_text: "eins", new_text: "zwei" });
  assert.deepEqual(readFileSync(wide), Buffer.from("\uFEFFzwei 一", "utf16le").swap16());
});

test("an edit that matches nowhere or often changes nothing and says what to do", async () => {
  using place = createToolPlace();
  const text = "if (x) {\n  y();\n}\nif (x) {\n  z();\n}\n";
  const file = place.file(`${own}/code.ts`, text);
  const edit = (old_text: string, new_text = "new") => place.run(editFileTool, { path: "code.ts", old_text, new_text });
  assert.match((await edit("if (x) {")).text, /2 times \(lines 1, 4\)/);
  assert.match((await edit("nothing")).text, /was not found\. Read the file/);
  assert.match((await edit("if (x) {\n\ty();")).text, /Line 1 is like it/);
  assert.match((await edit("y();", "y();")).text, /are the same/);
  assert.equal(readFileSync(file, "utf8"), text);
  assert.match(
    (await place.run(editFileTool, { path: "gone", old_text: "a", new_text: "b" })).text,
    /write_file can create it/,
  );
  place.file(`${own}/aaa.txt`, "aaa");
  assert.match((await place.run(editFileTool, { path: "aaa.txt", old_text: "aa", new_text: "b" })).text, /2 times/);
});

test("replacement text is taken as it is, not as a pattern", async () => {
  using place = createToolPlace();
  const file = place.file(`${own}/a.txt`, "cost: X (y.*)");
  await place.run(editFileTool, { path: "a.txt", old_text: "X (y.*)", new_text: "$& $1 $$" });
  assert.equal(readFileSync(file, "utf8"), "cost: $& $1 $$");
});

test("a folder is listed in order with sizes, and as deep as asked", async () => {
  using place = createToolPlace();
  place.file(`${own}/b.txt`, "12345");
  place.file(`${own}/a/deep/x.txt`, "1");
  place.file(`${own}/.hidden`, "");
  symlinkSync("/etc", path.join(place.folder, "c"));
  const flat = await place.run(listDirTool, {});
  assert.equal(flat.text, `.hidden 0\na/\nb.txt 5\nc (link)\n[workspace: ${place.workspace}]`);
  const deep = await place.run(listDirTool, { path: "a", depth: 2 });
  assert.equal(deep.text, "deep/\ndeep/x.txt 1");
});

test("in the workspace no name with a dot is listed", async () => {
  using place = createToolPlace();
  for (const name of ["ws/.env", "ws/.uploads/x", "ws/p/.git/config", "ws/p/readme.txt", `${own}/x`])
    place.file(name, "");
  const result = await place.run(listDirTool, { path: place.workspace, depth: 5 });
  assert.equal(result.text, "p/\np/readme.txt 0");
});

test("a session's folder that does not exist yet is empty, another folder is an error", async () => {
  using place = createToolPlace();
  assert.match((await place.run(listDirTool, {})).text, /^\(empty\)/);
  assert.equal(existsSync(place.folder), false);
  assert.equal((await place.run(listDirTool, { path: "nowhere" })).isError, true);
});

test("a listing ends after 500 entries and says so; line breaks in names add no lines", async () => {
  using place = createToolPlace();
  for (let i = 0; i < 501; i++) place.file(`${own}/many/f${i}`, "");
  const lines = (await place.run(listDirTool, { path: "many" })).text.split("\n");
  assert.equal(lines.length, 501);
  assert.match(lines.at(-1) ?? "", /more than 500 entries/);
  place.file(`${own}/odd/a\nb`, "");
  assert.equal((await place.run(listDirTool, { path: "odd" })).text, "a?b 0");
});
