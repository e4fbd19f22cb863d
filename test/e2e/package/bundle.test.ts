import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { projectFile } from "../../support/project.js";

const run = promisify(execFile);
const scripts = projectFile("dist/bundle/program");

describe("the files of the bundle", { timeout: 300_000 }, () => {
  before(() => run(process.execPath, [projectFile("scripts/bundle.mjs")]));

  it("hold no character beyond Latin-1, so that the program keeps one byte of memory for each", () => {
    const beyond = files().filter((path) => /[\u0100-\uffff]/.test(readFileSync(path, "utf8")));
    assert.deepEqual(beyond, []);
  });

  it("have maps that lead from each function to its line, also behind characters that were escaped", () => {
    const wrong: string[] = [];
    let found = 0;
    for (const path of files().filter((file) => existsSync(`${file}.map`))) {
      const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
      for (const [number, line] of readFileSync(path, "utf8").split("\n").entries())
        for (const match of line.matchAll(/(?<=(?:function|class) )[A-Za-z]\w{5,}/g)) {
          const source = lineOf(map, number, match.index);
          if (source === undefined) continue;
          found += 1;
          if (!source.includes(match[0])) wrong.push(`${path}:${number + 1}:${match.index} ${match[0]}: ${source}`);
        }
    }
    assert.deepEqual(wrong, []);
    assert.ok(found > 1000, `${found} functions were found in the maps`);
  });

  it("have no object that begins with another one and has more", () => {
    const found = files().flatMap(
      (path) => readFileSync(path, "utf8").match(/[=(,:]\{\.\.\.(?!void 0,)[\w$]+,[^}]/g) ?? [],
    );
    // A pattern takes such an object apart.
    assert.deepEqual(found, []);
  });

  it("have zod's messages in one language", () => {
    const inAll = files().filter((path) => /Ung(?:\\u00fc|ü)ltige Eingabe/.test(readFileSync(path, "utf8")));
    assert.deepEqual(inAll, []);
  });
});

function files(): readonly string[] {
  return readdirSync(scripts)
    .filter((name) => name.endsWith(".cjs"))
    .map((name) => join(scripts, name));
}

/** The line of our source that a place in a file comes from; undefined where it comes from a library. */
function lineOf(map: SourceMap, line: number, column: number): string | undefined {
  const entry = map.findEntry(line, column);
  // What comes from a library has a place, and no source.
  if (!("originalSource" in entry) || entry.originalSource === undefined) return undefined;
  const path = join(scripts, entry.originalSource);
  return path.includes("/src/") && existsSync(path)
    ? readFileSync(path, "utf8").split("\n")[entry.originalLine]
    : undefined;
}
