import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

describe("the runner of the tests", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "second-tries-"));
    write("good", `test("good", () => {});`);
    const mark = JSON.stringify(join(folder, "mark"));
    write(
      "once",
      `test("once", () => { if (!existsSync(${mark})) { writeFileSync(${mark}, ""); throw new Error("busy"); } });`,
    );
    write("always", `test("always", () => { throw new Error("broken"); });`);
    for (const name of ["many-1", "many-2", "many-3", "many-4"]) {
      const own = JSON.stringify(join(folder, `${name}.mark`));
      write(
        name,
        `test("${name}", () => { if (!existsSync(${own})) { writeFileSync(${own}, ""); throw new Error("x"); } });`,
      );
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const write = (name: string, line: string): void =>
    writeFileSync(
      join(folder, `${name}.test.mjs`),
      `import test from "node:test"; import { existsSync, writeFileSync } from "node:fs";\n${line}\n`,
    );
  const run = (...names: readonly string[]): { readonly code: number | null; readonly said: string } => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const files = names.map((name) => join(folder, `${name}.test.mjs`));
    const { status, stdout } = spawnSync(process.execPath, ["scripts/run-tests.mjs", "2", ...files], { env });
    return { code: status, said: stdout.toString() };
  };

  test("runs a file that failed once more, and names it", () => {
    const { code, said } = run("once", "good");
    assert.equal(code, 0, said);
    assert.match(said, /Failed beside others and was run again alone: .*once\.test\.mjs: once: busy/);
    assert.match(said, /tests 2\n.*\n.*pass 2\n.*fail 0\n/);
  });

  test("fails when a test fails alone too", () => {
    const { code, said } = run("always", "good");
    assert.equal(code, 1);
    assert.match(said, /tests 2\n.*\n.*pass 1\n.*fail 1\n/);
    assert.match(said, /failing tests:[\s\S]*Error: broken/);
  });

  test("fails when many files fail, though each would pass alone", () => {
    const { code, said } = run("many-1", "many-2", "many-3", "many-4");
    assert.equal(code, 1);
    assert.match(said, /fail 4\n/);
  });
});
