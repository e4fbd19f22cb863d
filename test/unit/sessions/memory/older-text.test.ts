import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createNotes } from "../../../../src/memory/notes.js";
import { appendOlderText } from "../../../../src/memory/older-text.js";
import { paragraphsOf } from "../../../../src/memory/paragraphs.js";
import { tempFolder } from "../../../support/engine/engine-kit.js";

const fileIn = (root: string) => ({ root, name: "memory/HISTORY.md" });
const at = (minute: number): string => new Date(Date.UTC(2026, 10, 21, 14, minute)).toISOString();
const first = {
  sessionKey: "webui:a--b",
  fromSeq: 2,
  toSeq: 9,
  messages: [
    { role: "user", content: "My cat is Momo.", timestamp: at(1) },
    { role: "assistant", content: "Nice.\nReally.", timestamp: at(2) },
  ],
};
const entry = `## 2026-11-21 14:02 UTC · webui:a--b

[2026-11-21 14:01] user: My cat is Momo.
[2026-11-21 14:02] assistant: Nice.
Really.
<!-- webui:a- -b 2..9 -->
`;

const markForeign = async (): Promise<void> => assert.fail("nothing is foreign here");

test("older text is in memory/HISTORY.md once, however often it is put there", async (t) => {
  const workspace = tempFolder(t);
  const path = join(workspace, "memory", "HISTORY.md");
  await appendOlderText(fileIn(workspace), { ...first, messages: [] }, { markForeign });
  for (let time = 0; time < 3; time += 1) await appendOlderText(fileIn(workspace), first, { markForeign });
  assert.equal(readFileSync(path, "utf8"), entry);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await appendOlderText(fileIn(workspace), { ...first, fromSeq: 12, toSeq: 19 }, { markForeign });
  assert.equal(readFileSync(path, "utf8"), `${entry}\n${entry.replace("2..9", "12..19")}`);
});

test("an entry that was cut off is written again, and what people wrote themselves is kept", async (t) => {
  const workspace = tempFolder(t);
  const path = join(workspace, "memory", "HISTORY.md");
  await appendOlderText(fileIn(workspace), first, { markForeign });
  writeFileSync(path, `# Mine\n\n${entry.slice(0, -20)}`);
  await appendOlderText(fileIn(workspace), first, { markForeign });
  assert.equal(readFileSync(path, "utf8"), `# Mine\n\n${entry.slice(0, -20)}\n\n${entry}`);
  appendFileSync(path, "no end of line");
  await appendOlderText(fileIn(workspace), { ...first, toSeq: 10 }, { markForeign });
  assert.match(readFileSync(path, "utf8"), /no end of line\n\n## /);
});

test("a history with a bound drops its oldest entries, and takes the end of what alone is too long", async (t) => {
  const root = tempFolder(t);
  const file = fileIn(root);
  const text = (): string => readFileSync(join(root, file.name), "utf8");
  const entryOf = (n: number, content: string) => ({
    sessionKey: "telegram:2",
    fromSeq: n,
    toSeq: n,
    messages: [{ role: "user", content, timestamp: at(n) }],
  });
  for (let n = 1; n <= 30; n += 1)
    await appendOlderText(file, entryOf(n, `said ${n} ${"😀".repeat(50)}`), { maxBytes: 4000, markForeign });
  assert.ok(statSync(join(root, file.name)).size <= 4000);
  assert.match(text(), /^## 2026-11-21 14:\d\d UTC · telegram:2\n/);
  assert.match(text(), /said 30 /);
  assert.doesNotMatch(text(), /said 1 /);
  const before = text();
  await appendOlderText(file, entryOf(30, "said 30 again"), { maxBytes: 4000, markForeign });
  assert.equal(text(), before, "what is there already is not added again");
  await appendOlderText(file, entryOf(31, "世".repeat(100_000)), { maxBytes: 4000, markForeign });
  assert.ok(statSync(join(root, file.name)).size <= 4000);
  assert.match(text(), /user: 世/);
  const many = Array.from({ length: 50 }, (_, n) => ({ role: "user", content: `word ${n}`, timestamp: at(1) }));
  await appendOlderText(file, { ...entryOf(32, ""), messages: many }, { maxBytes: 4000, markForeign });
  assert.match(text(), /word 49\n/);
  assert.doesNotMatch(text(), /word 0\n/);
});

test("nothing is written through a link, into a pipe, or into a folder that leads elsewhere", async (t) => {
  const [root, elsewhere] = [tempFolder(t), tempFolder(t)];
  const target = join(elsewhere, "target.md");
  writeFileSync(target, "mine");
  mkdirSync(join(root, "memory"));
  symlinkSync(target, join(root, "memory/HISTORY.md"));
  await assert.rejects(appendOlderText(fileIn(root), first, { markForeign }), /it is a link, which is not followed/);
  rmSync(join(root, "memory/HISTORY.md"));
  execFileSync("mkfifo", [join(root, "memory/HISTORY.md")]);
  await assert.rejects(appendOlderText(fileIn(root), first, { markForeign }), /it is not a regular file/);
  rmSync(join(root, "memory"), { recursive: true });
  symlinkSync(elsewhere, join(root, "memory"));
  await assert.rejects(appendOlderText(fileIn(root), first, { markForeign }), /its folder is a link to another place/);
  const notes = createNotes({ root, name: "memory/MEMORY.md" });
  await assert.rejects(notes.change({ kind: "add", text: "x" }), /its folder is a link to another place/);
  assert.equal(readFileSync(target, "utf8"), "mine");
  assert.ok(!existsSync(join(elsewhere, "MEMORY.md")));
});

test("paragraphs that others have a say in are named before they are written, as they are found later", async (t) => {
  const root = tempFolder(t);
  const marked: string[] = [];
  const said = [
    { role: "user", content: "read it", timestamp: at(3) },
    { role: "assistant", content: "It says:\n\n# Do this\nat once", timestamp: at(4), outside: "a page" },
  ];
  const older = { sessionKey: "webui:a", fromSeq: 1, toSeq: 9, messages: said };
  await appendOlderText(fileIn(root), older, { markForeign: async (paragraphs) => void marked.push(...paragraphs) });
  await appendOlderText(fileIn(root), { ...older, fromSeq: 10, messages: said.slice(0, 1) }, { markForeign });
  const found = paragraphsOf(readFileSync(join(root, "memory/HISTORY.md"), "utf8"));
  for (const paragraph of found.slice(0, marked.length)) assert.ok(marked.includes(paragraph), paragraph);
  assert.ok(found.length > marked.length);
  for (const paragraph of found.slice(marked.length + 1)) assert.ok(!marked.includes(paragraph), paragraph);
});
