import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { editFileTool } from "../../../src/tools/files/edit-file.js";
import { listDirTool } from "../../../src/tools/files/list-dir.js";
import { readFileTool } from "../../../src/tools/files/read-file.js";
import { globTool } from "../../../src/tools/files/search/glob.js";
import { grepTool } from "../../../src/tools/files/search/grep.js";
import { writeFileTool } from "../../../src/tools/files/write-file.js";
import type { Tool } from "../../../src/tools/tool.js";
import { removeFolder } from "../../../src/util/files/held-folder.js";
import { openReal, resolveReal } from "../../../src/util/files/real-path.js";
import { seedOf } from "../../support/engine/torture-options.js";
import { createToolPlace, type ToolPlace } from "../../support/worlds/tools/tool-context.js";

const flips = 10_000;
const secret = "the secret text";

/** As a background command does it: `door` is a folder and a link to another folder, by turns, as fast as it goes. */
const flipper = `
  const fs = require("node:fs");
  const [, door, target, stash, seed] = process.argv;
  let state = Number(seed);
  const random = () => (state = (state * 1664525 + 1013904223) % 4294967296) / 4294967296;
  const prepare = () => {
    fs.rmSync(stash, { recursive: true, force: true });
    fs.mkdirSync(stash);
    if (fs.lstatSync(door, { throwIfNoEntry: false })?.isSymbolicLink()) fs.unlinkSync(door);
    fs.symlinkSync(target, stash + "/link");
    fs.mkdirSync(door, { recursive: true });
    for (const name of fs.readdirSync(target)) fs.writeFileSync(door + "/" + name, "fine");
  };
  // Between no time and about as long as a few calls of the system take.
  const pause = () => { for (let left = random() ** 2 * 200_000; left > 0; left--); };
  prepare();
  let flips = 0;
  for (const end = Date.now() + 60_000; Date.now() < end; flips += 2) {
    try {
      fs.renameSync(door, stash + "/folder");
      fs.renameSync(stash + "/link", door);
      pause();
      fs.renameSync(door, stash + "/link");
      fs.renameSync(stash + "/folder", door);
      pause();
    } catch {
      // Somebody has deleted it.
      try { prepare(); } catch {}
    }
    if (flips % 1000 === 0) fs.writeFileSync(stash + "/count", String(flips));
  }`;

interface Race extends AsyncDisposable {
  readonly door: string;
  count(): number;
}

async function startRace(t: TestContext, place: ToolPlace, insideFile: string, outsideFile: string): Promise<Race> {
  place.file(insideFile, "fine");
  const outside = path.dirname(place.file(outsideFile, secret));
  const door = path.join(place.root, path.dirname(insideFile));
  const stash = path.join(place.root, "stash");
  mkdirSync(stash);
  const child: ChildProcess = spawn(process.execPath, ["-e", flipper, door, outside, stash, String(seedOf(t))], {
    stdio: "inherit",
  });
  const counted = path.join(stash, "count");
  const count = (): number => Number(existsSync(counted) ? readFileSync(counted, "utf8") : 0);
  return {
    door,
    count,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      if (child.exitCode === null && child.kill("SIGKILL")) await ended;
    },
  };
}

test(`${flips} flips of a folder and a link while file tools work: nothing outside is read or written`, async (t) => {
  const place = createToolPlace();
  t.after(() => place[Symbol.dispose]());
  await using race = await startRace(t, place, "ws/.sessions/telegram_42/door/config.json", "ws/skills/config.json");
  const skills = path.join(place.workspace, "skills");
  const calls: readonly (readonly [Tool, Record<string, unknown>])[] = [
    [readFileTool, { path: "door/config.json" }],
    [writeFileTool, { path: "door/config.json", content: "fine" }],
    [writeFileTool, { path: "door/new/deep/file.txt", content: "evil" }],
    [editFileTool, { path: "door/config.json", old_text: "fine", new_text: "fine too" }],
    [listDirTool, { path: "door" }],
    [globTool, { pattern: "**", path: "door" }],
    [grepTool, { pattern: ".", path: "door" }],
  ];
  // What is in the workspace may be read by everybody here; so that reading is an attack it is a rule that forbids it.
  const rules = [{ argument: "skills*", verdict: "deny" as const }];
  const worked = new Map<string, number>();
  for (let round = 0; race.count() < flips || round < 200; round++) {
    for (const [tool, input] of calls) {
      // A search starts a thread: not in each round.
      if (tool === grepTool && round % 10 !== 0) continue;
      const { text, isError } = await place.run(tool, input, { role: "guest", rules });
      assert.ok(!text.includes(secret), `${tool.name} in round ${round}: ${text}`);
      if (!isError) worked.set(tool.name, (worked.get(tool.name) ?? 0) + 1);
    }
  }
  assert.deepEqual(readdirSync(skills), ["config.json"]);
  assert.equal(readFileSync(path.join(skills, "config.json"), "utf8"), secret);
  for (const tool of [readFileTool, writeFileTool, listDirTool, globTool])
    assert.ok((worked.get(tool.name) ?? 0) > 0, `${tool.name} never got through`);
});

test("where the system cannot say where a handle is, opening is checked often enough not to be deceived", async (t) => {
  const place = createToolPlace();
  t.after(() => place[Symbol.dispose]());
  await using race = await startRace(t, place, "own/door/config.json", "outside/config.json");
  const file = path.join(race.door, "config.json");
  let opened = 0;
  let empty = 0;
  for (let round = 0; race.count() < flips || round < 500; round++) {
    const resolved = await resolveReal(file, { way: "checks" });
    if (!resolved.ok || resolved.path !== file) continue;
    try {
      await using handle = await openReal(file, { way: "checks" });
      const text = await handle.readFile("utf8");
      // Seen once on a loaded machine: nothing at all was read. Never may it be the other file.
      if (text === "") empty += 1;
      else assert.equal(text, "fine");
      opened += 1;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
  }
  t.diagnostic(`${opened} times opened, ${empty} times empty`);
});

test("a folder is deleted while a link takes the place of one in it by turns: nothing elsewhere goes", async (t) => {
  const place = createToolPlace();
  t.after(() => place[Symbol.dispose]());
  const names = Array.from({ length: 100 }, (_, index) => `${index}.txt`);
  for (const name of names) place.file(`outside/${name}`, secret);
  await using race = await startRace(t, place, "own/door/0.txt", "outside/0.txt");
  while (race.count() < 100) await new Promise((resolve) => setImmediate(resolve));
  for (let round = 0; round < 200; round++) await removeFolder(path.join(place.root, "own")).catch(() => undefined);
  assert.equal(readdirSync(path.join(place.root, "outside")).length, names.length);
});
