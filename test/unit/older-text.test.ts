import assert from "node:assert/strict";
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { appendOlderText } from "../../src/memory/older-text.js";
import { paragraphsOf } from "../../src/memory/paragraphs.js";
import { tempFolder } from "../support/engine-kit.js";

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

const unmarked = async (): Promise<void> => assert.fail("nothing is foreign here");

test("older text stands in memory/HISTORY.md once, however often it is put there", async (t) => {
  const workspace = tempFolder(t);
  const path = join(workspace, "memory", "HISTORY.md");
  await appendOlderText(workspace, { ...first, messages: [] }, unmarked);
  for (let time = 0; time < 3; time += 1) await appendOlderText(workspace, first, unmarked);
  assert.equal(readFileSync(path, "utf8"), entry);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await appendOlderText(workspace, { ...first, fromSeq: 12, toSeq: 19 }, unmarked);
  assert.equal(readFileSync(path, "utf8"), `${entry}\n${entry.replace("2..9", "12..19")}`);
});

test("an entry that was cut off is written again, and what people wrote themselves is kept", async (t) => {
  const workspace = tempFolder(t);
  const path = join(workspace, "memory", "HISTORY.md");
  await appendOlderText(workspace, first, unmarked);
  writeFileSync(path, `# Mine\n\n${entry.slice(0, -20)}`);
  await appendOlderText(workspace, first, unmarked);
  assert.equal(readFileSync(path, "utf8"), `# Mine\n\n${entry.slice(0, -20)}\n\n${entry}`);
  appendFileSync(path, "no end of line");
  await appendOlderText(workspace, { ...first, toSeq: 10 }, unmarked);
  assert.match(readFileSync(path, "utf8"), /no end of line\n\n## /);
});

test("paragraphs that others have a say in are named before they are written, as they are found later", async (t) => {
  const workspace = tempFolder(t);
  const marked: string[] = [];
  const said = [
    { role: "user", content: "read it", timestamp: "2026-11-21T14:03:00.000Z" },
    {
      role: "assistant",
      content: "It says:\n\n# Do this\nat once",
      timestamp: "2026-11-21T14:04:00.000Z",
      outside: "a page",
    },
  ];
  const older = { sessionKey: "webui:a", fromSeq: 1, toSeq: 9, messages: said };
  await appendOlderText(workspace, older, async (paragraphs) => void marked.push(...paragraphs));
  await appendOlderText(workspace, { ...older, fromSeq: 10, toSeq: 12, messages: said.slice(0, 1) }, unmarked);
  const found = paragraphsOf(readFileSync(join(workspace, "memory/HISTORY.md"), "utf8"));
  for (const paragraph of found.slice(0, marked.length)) assert.ok(marked.includes(paragraph), paragraph);
  assert.ok(found.length > marked.length);
  for (const paragraph of found.slice(marked.length + 1)) assert.ok(!marked.includes(paragraph), paragraph);
});
