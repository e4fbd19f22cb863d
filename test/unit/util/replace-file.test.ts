import assert from "node:assert/strict";
import { appendFile, chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { replaceFile } from "../../../src/util/files/replace-file.js";
import { tempFolder } from "../../support/engine/engine-kit.js";

describe("a file that is replaced", () => {
  it("has the new text, the old mode, and nothing beside it", async (t) => {
    const folder = tempFolder(t);
    const file = join(folder, "a.json");
    await writeFile(file, "old");
    await chmod(file, 0o664);
    await replaceFile(file, "new");
    assert.equal(await readFile(file, "utf8"), "new");
    assert.equal((await stat(file)).mode & 0o777, 0o664);
    await replaceFile(file, Buffer.from("once more"), { mode: 0o600, sync: false });
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(folder), ["a.json"]);
  });

  it("is made where there is none, with the mode that is asked for whatever the process leaves out", async (t) => {
    const folder = tempFolder(t);
    const before = process.umask(0o077);
    try {
      await replaceFile(join(folder, "new"), "text", { mode: 0o644 });
    } finally {
      process.umask(before);
    }
    assert.equal((await stat(join(folder, "new"))).mode & 0o777, 0o644);
  });

  it("is the one that a link leads to", async (t) => {
    const folder = tempFolder(t);
    await mkdir(join(folder, "elsewhere"));
    await writeFile(join(folder, "elsewhere", "file"), "old");
    await symlink(join(folder, "elsewhere", "file"), join(folder, "link"));
    await replaceFile(join(folder, "link"), "new");
    assert.equal(await readFile(join(folder, "elsewhere", "file"), "utf8"), "new");
    assert.deepEqual(await readdir(join(folder, "elsewhere")), ["file"]);
  });

  it("stays as it was where the new one cannot be written, and the error names it", async (t) => {
    const folder = tempFolder(t);
    const file = join(folder, "a.json");
    await writeFile(file, "old");
    const fails = async (temporary: string): Promise<void> => {
      await appendFile(temporary, "half");
      throw new Error("enough");
    };
    await assert.rejects(replaceFile(file, fails), /enough/);
    assert.equal(await readFile(file, "utf8"), "old");
    assert.deepEqual(await readdir(folder), ["a.json"]);
    const missing = join(folder, "none", "a.json");
    await assert.rejects(
      replaceFile(missing, "x"),
      (error) => error instanceof Error && "path" in error && error.path === missing,
    );
  });

  it("has the text that was given last, whatever takes longer", async (t) => {
    const file = join(tempFolder(t), "a");
    const slow = async (temporary: string): Promise<void> => {
      for (let n = 0; n < 50; n += 1) await appendFile(temporary, "first");
    };
    await Promise.all([replaceFile(file, slow), replaceFile(file, "second"), replaceFile(file, "third")]);
    assert.equal(await readFile(file, "utf8"), "third");
  });
});
