import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { KeptCode } from "../../../src/cli/start/kept-code.js";
import { Scripts } from "../../../src/cli/start/scripts.js";
import { smallDisk } from "../../support/engine/small-disk.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

/** A folder with these scripts, by name. */
function folderWith(t: TestContext, scripts: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-scripts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, source] of Object.entries(scripts)) writeFileSync(join(folder, name), source);
  return folder;
}

function homeIn(folder: string): string {
  const home = join(folder, "home");
  mkdirSync(home, { mode: 0o700 });
  return home;
}

describe("scripts of a bundle", () => {
  it("run once each, as CommonJS does, and are the same for who requires the file through Node", (t) => {
    const folder = folderWith(t, {
      "main.cjs": `"use strict"; exports.one = require("./one.cjs"); exports.os = require("node:os"); exports.from = __filename;
        exports.hasThis = (function () { return this !== undefined; })();`,
      "one.cjs": `exports.early = require("./main.cjs"); exports.count = (exports.count ?? 0) + 1;`,
    });
    const scripts = new Scripts(folder, undefined);
    const main = scripts.load("main.cjs") as { readonly one: { readonly early: unknown; readonly count: number } };
    assert.equal(main.one.early, main, "a circle sees what is there so far");
    assert.equal(main.one.count, 1);
    const { from, hasThis } = main as unknown as { readonly from: string; readonly hasThis: boolean };
    assert.deepEqual([from, hasThis], [join(folder, "main.cjs"), false]);
    assert.equal(createRequire(import.meta.url)(join(folder, "one.cjs")), main.one);
    assert.equal(scripts.load("one.cjs"), main.one);
  });

  it("name their own lines and columns in a trace, also on the first line, and run again after they threw", (t) => {
    const source = `globalThis.keptRuns = (globalThis.keptRuns ?? 0) + 1; /* \u00fc */ throw new Error("no");`;
    const column = source.indexOf("new Error") + 1;
    const scripts = new Scripts(folderWith(t, { "main.cjs": source }), undefined);
    for (const run of [1, 2]) {
      assert.throws(
        () => scripts.load("main.cjs"),
        ({ stack }: Error) => {
          return new RegExp(`/main\\.cjs:1:(?:${column}|${source.indexOf("throw") + 1})\\b`).test(stack ?? "");
        },
      );
      assert.equal(Reflect.get(globalThis, "keptRuns"), run);
    }
  });

  it("leave nothing where nothing is kept, or where the home is not there", async (t) => {
    const folder = folderWith(t, { "main.cjs": "exports.a = 1;" });
    const gone = join(folder, "gone");
    assert.equal(KeptCode.read(gone), undefined);
    const scripts = new Scripts(folder, KeptCode.read(gone));
    scripts.load("main.cjs");
    await scripts.keep();
    assert.deepEqual(readdirSync(folder), ["main.cjs"]);
  });

  it("are compiled as ever on a disk that is nearly full, or read-only, and leave nothing there", {
    skip: withoutSmallDisk(),
  }, async (t) => {
    const newFolder = (): string => folderWith(t, { "main.cjs": "exports.a = 1;" });
    for (const [size, expected] of [
      ["32m", []],
      ["128m", ["program.bin"]],
    ] as const) {
      const disk = smallDisk(t, size);
      const home = homeIn(disk);
      const scripts = new Scripts(newFolder(), KeptCode.read(home));
      scripts.load("main.cjs");
      await scripts.keep();
      assert.deepEqual(readdirSync(join(home, "cache/code")), expected, size);
    }
    const disk = smallDisk(t, "128m");
    const home = homeIn(disk);
    execFileSync("mount", ["-o", "remount,ro", disk]);
    const scripts = new Scripts(newFolder(), KeptCode.read(home));
    assert.deepEqual(scripts.load("main.cjs"), { a: 1 });
    await scripts.keep();
    assert.deepEqual(readdirSync(home), []);
  });
});
