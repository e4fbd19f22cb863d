import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { isInside } from "../../../src/policy/places/paths.js";
import { editFileTool } from "../../../src/tools/files/edit-file.js";
import { listDirTool } from "../../../src/tools/files/list-dir.js";
import { readFileTool } from "../../../src/tools/files/read-file.js";
import { writeFileTool } from "../../../src/tools/files/write-file.js";
import type { Tool } from "../../../src/tools/tool.js";
import { openReal, PathChangedError, resolveReal } from "../../../src/util/files/real-path.js";
import { writeReal } from "../../../src/util/files/write-real.js";
import { createToolPlace, type ToolPlace } from "../../support/worlds/tools/tool-context.js";

const secret = "the secret text";

/** Files that no tool of the session telegram_42 may see, and every way we know to ask for one. */
function prepareAttacks(place: ToolPlace): Readonly<Record<string, string>> {
  const outside = place.file("outside/secret.txt", secret);
  const twin = place.file("ws-evil/secret.txt", secret);
  const other = place.file("ws/.sessions/telegram_43/secret.txt", secret);
  const twinSession = place.file("ws/.sessions/telegram_42-evil/secret.txt", secret);
  const document = place.file("ws/.sessions/telegram_42.json", secret);
  const log = place.file("ws/.sessions/telegram_42.events.jsonl", secret);
  const env = place.file("ws/.env", secret);
  const upload = place.file("ws/.uploads/secret.txt", secret);
  const git = place.file("ws/project/.git/config", secret);
  mkdirSync(place.folder, { recursive: true });
  symlinkSync(outside, path.join(place.folder, "file-link"));
  symlinkSync(path.dirname(outside), path.join(place.folder, "folder-link"));
  symlinkSync(other, path.join(place.folder, "session-link"));
  symlinkSync("/", path.join(place.folder, "root-link"));
  symlinkSync("../../../outside", path.join(place.folder, "relative-link"));
  symlinkSync("folder-link", path.join(place.folder, "link-to-link"));
  symlinkSync("loop-b", path.join(place.folder, "loop-a"));
  symlinkSync("loop-a", path.join(place.folder, "loop-b"));
  symlinkSync(path.dirname(outside), path.join(place.workspace, "shared-link"));
  symlinkSync(env, path.join(place.workspace, "env-link"));
  return {
    "an absolute path outside": outside,
    "a system file": "/etc/passwd",
    "dots that climb out": "../../../outside/secret.txt",
    "dots behind a folder": "a/b/../../../../../outside/secret.txt",
    "dots in an absolute path": `${place.workspace}/../outside/secret.txt`,
    "a folder whose name begins like the workspace": twin,
    "dots into the twin of the workspace": "../../../ws-evil/secret.txt",
    "another session's folder": other,
    "another session by dots": "../telegram_43/secret.txt",
    "a session whose name begins like ours": twinSession,
    "our session document": document,
    "our session log": log,
    "a dot file of the workspace": env,
    "a dot file of the workspace, found by its relative name": ".env",
    "an upload of somebody": upload,
    "a dot folder further down": git,
    "a link to a file": "file-link",
    "a link to a folder": "folder-link/secret.txt",
    "a link to another session": "session-link",
    "a link to the root": "root-link/etc/passwd",
    "a relative link": "relative-link/secret.txt",
    "a link to a link": "link-to-link/secret.txt",
    "a circle of links": "loop-a",
    "a link in the workspace": "shared-link/secret.txt",
    "a link in the workspace by its absolute path": `${place.workspace}/shared-link/secret.txt`,
    "a link in the workspace to a dot file": "env-link",
    "a NUL byte": "notes.txt\0.png",
    "a NUL byte behind a secret": `${outside}\0`,
    "spaces around a path": `  ${outside}  `,
    "doubled slashes": `/${outside}`,
    "the process's own root": `/proc/self/root${outside}`,
    "the process's own folder": `/proc/self/cwd/package.json`,
  };
}

test("every trick to read what is not the session's is refused, and nothing of it is shown", async () => {
  using place = createToolPlace();
  for (const [trick, target] of Object.entries(prepareAttacks(place))) {
    for (const mode of ["safe", "ask", "auto"] as const) {
      const result = await place.run(readFileTool, { path: target }, { mode });
      assert.equal(result.isError, true, `${trick} (${mode}): ${result.text}`);
      assert.ok(!result.text.includes(secret) && !result.text.includes("root:"), trick);
      assert.equal((await place.run(listDirTool, { path: target }, { mode })).isError, true, trick);
      assert.equal(
        (await place.run(listDirTool, { path: path.dirname(target) || "." }, { mode })).text.includes("secret"),
        false,
        trick,
      );
    }
  }
});

test("every trick to write what is not the session's is refused in all modes, and nothing changes", async () => {
  using place = createToolPlace();
  const tricks = prepareAttacks(place);
  const before = execFileSync("find", [place.root, "-printf", "%p %s %l\n"], { encoding: "utf8" });
  for (const [trick, target] of Object.entries(tricks)) {
    // A new dot file of one's own is fine; that it does not hit the workspace's is seen by the comparison below.
    if (target === ".env" || target === "env-link" || target.startsWith("shared-link")) continue;
    for (const mode of ["safe", "ask", "auto"] as const) {
      for (const role of ["owner", "guest"] as const) {
        const calls: readonly [Tool, Record<string, string>][] = [
          [writeFileTool, { path: target, content: "evil" }],
          [editFileTool, { path: target, old_text: "secret", new_text: "evil" }],
        ];
        for (const [tool, input] of calls) {
          const result = await place.run(tool, input, { mode, role });
          assert.equal(result.isError, true, `${trick}, ${tool.name}, ${mode}: ${result.text}`);
        }
      }
    }
  }
  assert.equal(execFileSync("find", [place.root, "-printf", "%p %s %l\n"], { encoding: "utf8" }), before);
});

test("the refusal of a path outside says nothing about whether it exists", async () => {
  using place = createToolPlace();
  const there = place.file("outside/a", "x");
  const first = await place.run(readFileTool, { path: there });
  const second = await place.run(readFileTool, { path: path.join(place.root, "outside/b") });
  assert.equal(first.text, second.text);
});

test("writing through a link that leads nowhere creates nothing", async () => {
  using place = createToolPlace();
  mkdirSync(place.folder, { recursive: true });
  symlinkSync(path.join(place.root, "new.txt"), path.join(place.folder, "dangling"));
  symlinkSync(path.join(place.root, "new-folder"), path.join(place.folder, "dangling-folder"));
  for (const target of ["dangling", "dangling-folder/x.txt", "dangling-folder/a/../x.txt"]) {
    const result = await place.run(writeFileTool, { path: target, content: "x" }, { mode: "auto" });
    assert.match(result.text, /leads nowhere/, target);
  }
  assert.equal(existsSync(path.join(place.root, "new.txt")), false);
  assert.equal(existsSync(path.join(place.root, "new-folder")), false);
});

test("a file that is exchanged for a link after it was judged is not opened", async () => {
  using place = createToolPlace();
  const outside = place.file("outside/secret.txt", secret);
  const file = place.file("ws/a/notes.txt", "fine");
  const resolved = await resolveReal(file);
  assert.deepEqual(resolved, { ok: true, path: file, exists: true });
  rmSync(file);
  symlinkSync(outside, file);
  await assert.rejects(openReal(file), PathChangedError);
  await assert.rejects(writeReal(file, "evil"), PathChangedError);
  assert.equal(readFileSync(outside, "utf8"), secret);
});

test("a folder that is exchanged for a link after the path was judged is not entered", async () => {
  using place = createToolPlace();
  const outside = place.file("outside/notes.txt", secret);
  const file = place.file("ws/a/notes.txt", "fine");
  renameSync(path.join(place.workspace, "a"), path.join(place.workspace, "b"));
  symlinkSync(path.dirname(outside), path.join(place.workspace, "a"));
  await assert.rejects(openReal(file), PathChangedError);
  await assert.rejects(writeReal(file, "evil"), PathChangedError);
  assert.equal(readFileSync(outside, "utf8"), secret);
});

test("a tool whose path is exchanged while policy thinks about it reads and writes nothing", async () => {
  using place = createToolPlace();
  const outside = place.file("outside/secret.txt", secret);
  for (const tool of [readFileTool, editFileTool, writeFileTool] as const) {
    const file = place.file("ws/.sessions/telegram_42/notes.txt", "fine secret");
    const context = place.context(tool);
    const result = await tool.run(
      tool.input.parse({ path: "notes.txt", content: "evil", old_text: "secret", new_text: "evil" }) as never,
      {
        ...context,
        permit: async (access) => {
          const answer = await context.permit(access);
          rmSync(file);
          symlinkSync(outside, file);
          return answer;
        },
      },
    );
    assert.match(result.text, /changed while it was being opened/, tool.name);
    assert.ok(!result.text.includes(secret));
    assert.equal(readFileSync(outside, "utf8"), secret);
    rmSync(file);
  }
});

test("a pipe is refused at once instead of being waited for", async () => {
  using place = createToolPlace();
  mkdirSync(place.folder, { recursive: true });
  execFileSync("mkfifo", [path.join(place.folder, "pipe")]);
  assert.match((await place.run(readFileTool, { path: "pipe" })).text, /not a regular file/);
  assert.match((await place.run(writeFileTool, { path: "pipe", content: "x" })).text, /not a regular file/);
});

test("a workspace that is reached over a link works, and is still the limit", async () => {
  using place = createToolPlace();
  place.file("ws/notes.txt", "shared");
  place.file("outside/secret.txt", secret);
  const linked = path.join(place.root, "linked");
  symlinkSync(place.workspace, linked);
  const at = { workspace: linked };
  assert.match((await place.run(writeFileTool, { path: "mine.txt", content: "x" }, at)).text, /created mine.txt/);
  assert.equal((await place.run(readFileTool, { path: "mine.txt" }, at)).text, "x");
  assert.match((await place.run(readFileTool, { path: path.join(linked, "notes.txt") }, at)).text, /^shared/);
  assert.equal((await place.run(readFileTool, { path: `${linked}/../outside/secret.txt` }, at)).isError, true);
});

test("sessions kept on another disk over a link work, and stay apart", async () => {
  using place = createToolPlace();
  const other = place.file("disk/telegram_43/secret.txt", secret);
  symlinkSync(path.join(place.root, "disk"), path.join(place.workspace, ".sessions"));
  assert.equal((await place.run(writeFileTool, { path: "mine.txt", content: "x" })).isError, false);
  assert.equal((await place.run(readFileTool, { path: "mine.txt" })).text, "x");
  assert.equal((await place.run(readFileTool, { path: other })).isError, true);
  assert.equal((await place.run(readFileTool, { path: "../telegram_43/secret.txt" })).isError, true);
});

test("without restrictToWorkspace an owner may read outside; guests may not, and writing there needs auto", async () => {
  using place = createToolPlace();
  const outside = place.file("outside/notes.txt", "far away");
  const open = { restrictToWorkspace: false };
  assert.equal((await place.run(readFileTool, { path: outside }, open)).text, "far away");
  assert.equal((await place.run(readFileTool, { path: outside }, { ...open, role: "guest" })).isError, true);
  const write = { path: outside, content: "new" };
  assert.match((await place.run(writeFileTool, write, open)).text, /outside of the workspace/);
  assert.equal(readFileSync(outside, "utf8"), "far away");
  assert.equal((await place.run(writeFileTool, write, { ...open, mode: "auto" })).isError, false);
  assert.equal(readFileSync(outside, "utf8"), "new");
});

test("inside means the folder itself or below it", () => {
  assert.equal(isInside("/ws", "/ws"), true);
  assert.equal(isInside("/ws", "/ws/a"), true);
  assert.equal(isInside("/ws", "/ws/..a"), true);
  assert.equal(isInside("/ws", "/ws-evil"), false);
  assert.equal(isInside("/ws", "/"), false);
  assert.equal(isInside("/ws/a", "/ws"), false);
});

test("a path is resolved through its deepest existing folder", async () => {
  using place = createToolPlace();
  mkdirSync(path.join(place.root, "real"));
  symlinkSync(path.join(place.root, "real"), path.join(place.workspace, "link"));
  assert.deepEqual(await resolveReal(path.join(place.workspace, "link/a/b.txt")), {
    ok: true,
    path: path.join(place.root, "real/a/b.txt"),
    exists: false,
  });
  writeFileSync(path.join(place.root, "real/file"), "");
  assert.equal((await resolveReal(path.join(place.workspace, "link/file/below"))).ok, true);
  assert.equal((await resolveReal(`/${"a".repeat(5000)}`)).ok, false);
});
