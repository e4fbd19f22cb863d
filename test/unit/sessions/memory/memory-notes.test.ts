import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createNotes } from "../../../../src/memory/notes.js";
import { tempFolder } from "../../../support/engine/engine-kit.js";

test("notes are added once, replaced and forgotten, and the rest of the file stays as people wrote it", async (t) => {
  const root = tempFolder(t);
  const path = join(root, "memory/MEMORY.md");
  const notes = createNotes({ root, name: "memory/MEMORY.md" });
  assert.equal(await notes.change({ kind: "add", text: "likes tea" }), "done");
  assert.equal(await notes.change({ kind: "add", text: " likes\ntea " }), "known");
  await writeFile(path, "# Mine\n\n- likes tea\n* has a cat\nfree text", "utf8");
  assert.equal(await notes.change({ kind: "add", text: "lives in Bern" }), "done");
  assert.equal(await notes.change({ kind: "replace", old: "likes tea", text: "likes coffee" }), "done");
  assert.equal(await notes.change({ kind: "remove", old: "has a cat" }), "done");
  assert.equal(await readFile(path, "utf8"), "# Mine\n\n- likes coffee\nfree text\n- lives in Bern\n");
  assert.equal(await notes.change({ kind: "remove", old: "has a cat" }), "missing");
  assert.equal(await notes.change({ kind: "replace", old: "li", text: "x" }), "ambiguous");
});

test("notes that are written at the same time are all kept", async (t) => {
  const root = tempFolder(t);
  const path = join(root, "MEMORY.md");
  const notes = createNotes({ root, name: "MEMORY.md" });
  await Promise.all(Array.from({ length: 20 }, (_, n) => notes.change({ kind: "add", text: `fact ${n}` })));
  assert.equal((await readFile(path, "utf8")).trim().split("\n").length, 20);
});

test("a memory that is full takes no more, but can be shortened", async (t) => {
  const root = tempFolder(t);
  await writeFile(join(root, "MEMORY.md"), `- old fact\n${"x".repeat(19_980)}\n`);
  const notes = createNotes({ root, name: "MEMORY.md" });
  assert.equal(await notes.change({ kind: "add", text: "one fact too many" }), "full");
  assert.equal(await notes.change({ kind: "remove", old: "old fact" }), "done");
});
