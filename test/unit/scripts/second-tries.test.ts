import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
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
    writeFileSync(
      join(folder, "shared.mjs"),
      'import test from "node:test"; export const holds = (name, run) => test(name, run);\n',
    );
    write("by-shared", `holds("by a shared file", () => { throw new Error("broken"); });`);
    write("good-by-shared", `holds("good by a shared file", () => console.log("it said this"));`);
    for (const name of ["many-1", "many-2", "many-3", "many-4", "many-5", "many-6", "many-7"]) {
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
      `import test from "node:test"; import { existsSync, writeFileSync } from "node:fs"; import { holds } from "./shared.mjs";\n${line}\n`,
    );
  const run = (...names: readonly string[]): { readonly code: number | null; readonly said: string } => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const files = names.map((name) => relative("", join(folder, `${name}.test.mjs`)));
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

  test("runs the file again whose test failed, also where a shared file holds what is tested", () => {
    const { code, said } = run("good-by-shared", "by-shared", "good");
    assert.equal(code, 1, said);
    assert.match(
      said,
      /Failed beside others and was run again alone: .*by-shared\.test\.mjs: by a shared file: broken/,
    );
    assert.match(said, /tests 3\n.*\n.*pass 2\n.*fail 1\n/);
    assert.match(said, /it said this\n/);
    assert.doesNotMatch(said, /The tests of the file/);
  });

  test("names a file that is given by its place from here, and only imports others", () => {
    write("group", `import "./good-by-shared.test.mjs"; import "./always.test.mjs";`);
    const { code, said } = run("group");
    assert.equal(code, 1, said);
    assert.match(said, /run again alone: .*group\.test\.mjs: always: broken/);
  });

  const thrown = 'setTimeout(() => { throw new Error("nobody caught it"); }, 1);';

  test("names the test from which an error comes that nobody catches", () => {
    write("uncaught", `test("throws late", async () => { await null; ${thrown} await new Promise(() => {}); });`);
    const { code, said } = run("uncaught");
    assert.equal(code, 1, said);
    assert.match(said, /run again alone: .*uncaught\.test\.mjs: throws late: nobody caught it/);
  });

  test("names of tests within a test the one that ran", () => {
    const inner = `test("inner", async () => { await null; ${thrown} await new Promise(() => {}); });`;
    write(
      "nested",
      `import { describe } from "node:test"; describe("outer", () => { test("before", () => {}); ${inner} });`,
    );
    const { code, said } = run("nested");
    assert.equal(code, 1, said);
    assert.match(said, /run again alone: .*nested\.test\.mjs: inner: nobody caught it/);
    assert.match(said, /outer[\s\S]*tests 2\n.*\n.*pass 1\n.*fail 1\n/);
  });

  test("fails when the error comes while several tests run at once, and names them with it", () => {
    const held = `let running = 0; const held = () => new Promise((end) => {
      process.once("unhandledRejection", () => setImmediate(end));
      running += 1;
      if (running === 2) Promise.reject(new Error("lost"));
    });`;
    const both = ["left", "right"].map((name) => `test("${name}", held);`);
    const suite = `describe("both", { concurrency: true }, () => { ${both.join(" ")} });`;
    write("beside", `import { describe } from "node:test"; ${held} ${suite}`);
    const { code, said } = run("beside");
    assert.equal(code, 1, said);
    assert.match(said, /Nobody caught this, while "left", "right" ran: Error: lost\n +at .*beside\.test\.mjs/);
  });

  test("fails when a file cannot be loaded", () => {
    write("unreadable", "(");
    const { code, said } = run("good-by-shared", "unreadable", "good");
    assert.equal(code, 1, said);
    assert.match(said, /run again alone: .*unreadable\.test\.mjs/);
    assert.match(said, /tests 3\n.*\n.*pass 2\n.*fail 1\n/);
  });

  test("fails when many files fail, though each would pass alone", () => {
    const { code, said } = run("many-1", "many-2", "many-3", "many-4", "many-5", "many-6", "many-7");
    assert.equal(code, 1);
    assert.match(said, /fail 7\n/);
  });
});
