import assert from "node:assert/strict";
import { utimesSync } from "node:fs";
import { test } from "node:test";
import { receivedName } from "../../../src/inbound/received-files.js";
import { sendFileTool } from "../../../src/tools/chat/send-file.js";
import { editFileTool } from "../../../src/tools/files/edit-file.js";
import { readFileTool } from "../../../src/tools/files/read-file.js";
import { globTool } from "../../../src/tools/files/search/glob.js";
import { grepTool } from "../../../src/tools/files/search/grep.js";
import { writeFileTool } from "../../../src/tools/files/write-file.js";
import { withoutSandbox } from "../../support/worlds/needs.js";
import { createExecPlace } from "../../support/worlds/tools/exec-place.js";
import { createToolPlace, type ToolPlace } from "../../support/worlds/tools/tool-context.js";

const kept = "ws/.sessions/.kept/telegram_42/received";

/** A file as it lies after it came; the higher `minute`, the later it came. */
function sent(place: ToolPlace, filename: string, text: string, minute = 1): string {
  const name = receivedName(`message ${minute}`, 0, filename);
  utimesSync(place.file(`${kept}/${name}`, text), 60 * minute, 60 * minute);
  return `received/${name}`;
}

test("a file that was sent in this chat is found by the name that the person gave it, and the answer says which it is", async () => {
  using place = createToolPlace();
  place.file("ws/.sessions/telegram_42/other.md", "x");
  const name = sent(place, "周报.txt", "three bugs fixed");
  for (const path of ["周报.txt", " 周报.txt ", "received/周报.txt", "./周报.txt".slice(2)]) {
    const { text, isError, summary } = await place.run(readFileTool, { path });
    assert.equal(text, `three bugs fixed\n[sent in this chat: ${name}]`, path);
    assert.deepEqual([isError, summary], [false, `read ${path.trim()} (1 line)`]);
  }
  assert.match((await place.run(grepTool, { pattern: "bugs", path: "周报.txt" })).text, /three bugs fixed/);
  assert.equal((await place.run(globTool, { pattern: "周*.txt" })).text, name);
  const handed: unknown[] = [];
  const artifact: Parameters<typeof place.run>[2] = {
    async artifact({ filename }) {
      handed.push(filename);
      return {
        ok: true,
        artifactId: "a",
        file: { path: "/x", filename: filename ?? "", mimeType: "text/plain", sizeBytes: 1 },
        isShown: true,
      };
    },
  };
  const given = await place.run(sendFileTool, { path: "周报.txt" }, artifact);
  assert.equal(given.text, `Sent 周报.txt.\n[sent in this chat: ${name}]`);
  assert.deepEqual(handed, ["周报.txt"]);
  const edited = await place.run(editFileTool, { path: "周报.txt", old_text: "three", new_text: "four" });
  assert.equal(edited.text, `周报.txt was sent in this chat and is kept as ${name}. Write a copy and edit that.`);
});

test("of several with one name it is the latest, letters count however a system writes them, and what is in the folder goes first", async () => {
  using place = createToolPlace();
  sent(place, "Übersicht.txt", "old", 1);
  const latest = sent(place, "Übersicht.txt", "new", 9);
  sent(place, "Übersicht.txt", "between", 5);
  for (const path of ["Übersicht.txt", "Übersicht.txt".normalize("NFD")])
    assert.equal(
      (await place.run(readFileTool, { path })).text,
      `new\n[sent in this chat: ${latest}, the latest of 3 with that name]`,
    );
  await place.run(writeFileTool, { path: "Übersicht.txt", content: "mine" });
  assert.equal((await place.run(readFileTool, { path: "Übersicht.txt" })).text, "mine");
  sent(place, "plan.md", "sent plan");
  place.file("ws/plan.md", "shared plan");
  assert.match((await place.run(readFileTool, { path: "plan.md" })).text, /^sent plan\n/);
});

test("a name finds nothing that was sent in another chat, that a rule closes, or that is not a name", async () => {
  using place = createToolPlace();
  sent(place, "a.txt", "text");
  place.file(`ws/.sessions/.kept/telegram_43/received/${receivedName("m", 0, "b.txt")}`, "of another chat");
  assert.equal((await place.run(readFileTool, { path: "b.txt" })).text, "b.txt does not exist.");
  for (const path of ["sub/a.txt", "../a.txt", "/a.txt", "A.txt"])
    assert.equal((await place.run(readFileTool, { path })).isError, true, path);
  const rules = [{ tool: "read_file", argument: "*-a.txt", verdict: "deny" }] as const;
  assert.equal((await place.run(readFileTool, { path: "a.txt" }, { rules })).text, "a.txt does not exist.");
});

test("a command that failed for the name that a person gave a file reads what the file is called here", {
  skip: withoutSandbox(),
}, async () => {
  await using e = createExecPlace();
  const name = sent(e.place, "data 2.csv", "a,b");
  const failed = await e.run("wc -l 'data 2.csv'");
  assert.match(failed.text, new RegExp(`\\[data 2\\.csv was sent in this chat: it is ${name}\\]`));
  assert.doesNotMatch((await e.run(`cat '${name}'; false`)).text, /was sent in this chat/);
  assert.doesNotMatch((await e.run("false")).text, /was sent in this chat/);
});
