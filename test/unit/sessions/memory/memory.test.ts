import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { createContextFiles } from "../../../../src/memory/files.js";
import { withoutLinesOf } from "../../../../src/schedule/heartbeat/heartbeat.js";
import { isTemplate, templatesOf, workspaceTemplates } from "../../../../src/templates/workspace.js";
import { writeTemplates } from "../../../../src/templates/write.js";

function setUp() {
  const workspace = mkdtempSync(path.join(tmpdir(), "maxclaw-memory-"));
  mkdirSync(path.join(workspace, "memory"));
  return {
    workspace,
    files: createContextFiles(workspace, { isTemplate }),
    write: (name: string, text: string | Uint8Array) => writeFileSync(path.join(workspace, name), text),
    read: (name: string) => readFileSync(path.join(workspace, name), "utf8"),
    [Symbol.dispose]: () => rmSync(workspace, { recursive: true, force: true }),
  };
}

test("the files of a workspace are read; missing and empty ones are absent", async () => {
  using place = setUp();
  assert.deepEqual(await place.files.load(), { problems: [] });
  place.write("AGENTS.md", "\uFEFFagents\r\nmore\r\n");
  place.write("CLAUDE.md", "claude");
  place.write("SOUL.md", "soul");
  place.write("USER.md", "  \n");
  place.write("memory/MEMORY.md", "memory");
  place.write("memory/heartbeat.md", "heartbeat");
  place.write("GUESTS.md", "guests");
  assert.deepEqual(await place.files.load(), {
    agents: "agents\nmore",
    soul: "soul",
    guests: "guests",
    memory: "memory",
    heartbeat: "heartbeat",
    problems: [],
  });
});

test("a fresh workspace says nothing; a file counts as soon as it differs from its template", async () => {
  using place = setUp();
  await writeTemplates(place.workspace, { overwrite: false });
  assert.deepEqual(await place.files.load(), { problems: [] });
  place.write("SOUL.md", `${place.read("SOUL.md").replaceAll("\n", "\r\n")}\r\n`);
  assert.deepEqual(await place.files.load(), { problems: [] });
  place.write("USER.md", "My name is Ann.");
  assert.deepEqual(await place.files.load(), { user: "My name is Ann.", problems: [] });
});

test("a file that is still an older template says nothing", async () => {
  using place = setUp();
  const lines = "\n- Short answers first, details on request\n- Honest about what it does not know\n";
  const intro = "Write here how it should sound and what matters to it. For example:";
  place.write("SOUL.md", `# Who the assistant is\n\n${intro}\n${lines}`);
  place.write("memory/MEMORY.md", "# Memory\n\nWhat should be remembered over all chats, one fact a line.\n");
  const projects = "Write here what it should know about your projects and how you like things done. For example:";
  const points = ["Which folders hold what", "How files should be named", "What it should ask about first"];
  place.write("AGENTS.md", `# How the assistant should work\n\n${projects}\n\n- ${points.join("\n- ")}\n`);
  const effect = "Only you see the effect: guests and\ngroups have GUESTS.md. For example:";
  const guests = "all that they may hear. It sees\nnothing of your other files there, nor of your memory. For example:";
  for (const change of [
    () => place.write("AGENTS.md", place.read("AGENTS.md").replace("For example:", effect)),
    () =>
      place.write(
        "GUESTS.md",
        `# Guests and groups\n\nWrite here what the assistant should know and do when it talks to guests or in groups: ${guests}\n\n- Who they are and what they may ask for\n- What it should not talk about\n`,
      ),
    () =>
      place.write(
        "USER.md",
        "# About you\n\nWrite here what it should know about you. For example:\n\n- Name and language\n- Time zone\n- What you do, what you like\n",
      ),
  ]) {
    change();
    assert.deepEqual(await place.files.load(), { problems: [] });
  }
});

test("a heartbeat list has no task but those that a person wrote, also below an older template", () => {
  const template = templatesOf("memory/heartbeat.md").join("\n");
  const before =
    "# Heartbeat\n\nWhat should be looked after from time to time, one task a line. Nothing happens while there is none.\n";
  assert.equal(withoutLinesOf(template, before)?.trim(), "");
  assert.equal(withoutLinesOf(template, `${before}\n- water the plants\n`)?.trim(), "- water the plants");
});

test("a link is not followed, nor a memory folder that leads elsewhere, and nobody waits for a pipe", async () => {
  using place = setUp();
  using elsewhere = setUp();
  elsewhere.write("AGENTS.md", "foreign");
  elsewhere.write("memory/MEMORY.md", "foreign");
  symlinkSync(path.join(elsewhere.workspace, "AGENTS.md"), path.join(place.workspace, "AGENTS.md"));
  execFileSync("mkfifo", [path.join(place.workspace, "SOUL.md")]);
  rmSync(path.join(place.workspace, "memory"), { recursive: true });
  symlinkSync(path.join(elsewhere.workspace, "memory"), path.join(place.workspace, "memory"));
  const { problems, ...files } = await place.files.load();
  assert.deepEqual(files, {});
  assert.match(problems.join("\n"), /AGENTS\.md cannot be read: it is a link, which is not followed/);
  assert.match(problems.join("\n"), /SOUL\.md cannot be read: it is not a regular file/);
  assert.match(problems.join("\n"), /MEMORY\.md cannot be read: its folder is a link to another place/);
});

test("CLAUDE.md is used where AGENTS.md is missing or still the template", async () => {
  using place = setUp();
  place.write("CLAUDE.md", "claude");
  assert.equal((await place.files.load()).agents, "claude");
  await writeTemplates(place.workspace, { overwrite: false });
  assert.equal((await place.files.load()).agents, "claude");
  place.write("AGENTS.md", "agents");
  assert.equal((await place.files.load()).agents, "agents");
});

test("an edit counts from the next load on, also one of the same length", async () => {
  using place = setUp();
  for (const text of ["one", "two", "six"]) {
    place.write("SOUL.md", text);
    assert.equal((await place.files.load()).soul, text);
  }
  rmSync(path.join(place.workspace, "SOUL.md"));
  assert.equal((await place.files.load()).soul, undefined);
});

test("a long file is cut at 20,000 characters with a note, never inside a character", async () => {
  using place = setUp();
  for (const text of [`x${"😀".repeat(12_000)}`, "世".repeat(40_000), "y".repeat(500_000)]) {
    place.write("memory/MEMORY.md", text);
    const { memory = "" } = await place.files.load();
    const [body = "", note] = memory.split("\n\n");
    assert.ok(body.length <= 20_000 && body.length > 19_990);
    assert.ok(text.startsWith(body));
    assert.match(note ?? "", /^\[Cut: .*20000 characters/);
  }
  place.write("memory/MEMORY.md", "z".repeat(20_000));
  assert.equal((await place.files.load()).memory, "z".repeat(20_000));
});

test("a file that cannot be read is a problem with its path, and the others still count", async () => {
  using place = setUp();
  mkdirSync(path.join(place.workspace, "SOUL.md"));
  place.write("USER.md", "user");
  const { problems, ...files } = await place.files.load();
  assert.deepEqual(files, { user: "user" });
  assert.match(problems.join(), /SOUL\.md cannot be read: it is not a regular file/);
});

test("templates are written where something is missing, and nothing that exists is touched", async () => {
  using place = setUp();
  const workspace = path.join(place.workspace, "new", "ws");
  assert.deepEqual(await writeTemplates(workspace, { overwrite: false }), Object.keys(workspaceTemplates));
  assert.ok(existsSync(path.join(workspace, "skills")));
  writeFileSync(path.join(workspace, "SOUL.md"), "mine");
  rmSync(path.join(workspace, "memory"), { recursive: true });
  assert.deepEqual(await writeTemplates(workspace, { overwrite: false }), [
    "memory/MEMORY.md",
    "memory/heartbeat.md",
    "memory/HISTORY.md",
  ]);
  assert.equal(readFileSync(path.join(workspace, "SOUL.md"), "utf8"), "mine");
});

test("overwriting keeps a copy of each file that differs, also the second time", async () => {
  using place = setUp();
  await writeTemplates(place.workspace, { overwrite: false });
  for (const [text, copy] of [
    ["first", "SOUL.md.bak"],
    ["second", "SOUL.md.bak2"],
  ] as const) {
    place.write("SOUL.md", text);
    assert.deepEqual(await writeTemplates(place.workspace, { overwrite: true }), ["SOUL.md"]);
    assert.equal(place.read(copy), text);
    assert.equal(place.read("SOUL.md"), workspaceTemplates["SOUL.md"]);
  }
  assert.deepEqual(await writeTemplates(place.workspace, { overwrite: true }), []);
});
