import assert from "node:assert/strict";
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { appendOlderText } from "../../src/memory/older-text.js";
import { tempFolder } from "../support/engine-kit.js";

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

test("older text stands in memory/HISTORY.md once, however often it is put there", async (t) => {
  const workspace = tempFolder(t);
  const path = join(workspace, "memory", "HISTORY.md");
  await appendOlderText(fileIn(workspace), { ...first, messages: [] });
  for (let time = 0; time < 3; time += 1) await appendOlderText(fileIn(workspace), first);
  assert.equal(readFileSync(path, "utf8"), entry);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await appendOlderText(fileIn(workspace), { ...first, fromSeq: 12, toSeq: 19 });
  assert.equal(readFileSync(path, "utf8"), `${entry}\n${entry.replace("2..9", "12..19")}`);
});

test("an entry that was cut off is written again, and what people wrote themselves is kept", async (t) => {
  const workspace = tempFolder(t);
  const path = join(workspace, "memory", "HISTORY.md");
  await appendOlderText(fileIn(workspace), first);
  writeFileSync(path, `# Mine\n\n${entry.slice(0, -20)}`);
  await appendOlderText(fileIn(workspace), first);
  assert.equal(readFileSync(path, "utf8"), `# Mine\n\n${entry.slice(0, -20)}\n\n${entry}`);
  appendFileSync(path, "no end of line");
  await appendOlderText(fileIn(workspace), { ...first, toSeq: 10 });
  assert.match(readFileSync(path, "utf8"), /no end of line\n\n## /);
});
