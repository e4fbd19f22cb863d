import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { Claim } from "../../../src/util/processes/claim.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { compiledFile } from "../../support/project.js";

const source = pathToFileURL(compiledFile("src/util/processes/claim.js")).href;

function start(body: string) {
  const program = `
    import { readFile, writeFile } from "node:fs/promises";
    const { Claim } = await import(${JSON.stringify(source)});
    ${body}`;
  return spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Adds one to the number in a file, so often. */
const adding = (file: string, times: number): string => `
  const file = ${JSON.stringify(file)};
  for (let n = 0; n < ${times}; n++) {
    const claim = await Claim.wait(file + ".lock", 10_000);
    await writeFile(file, String(Number(await readFile(file, "utf8")) + 1));
    await claim[Symbol.asyncDispose]();
  }`;

describe("a claim", () => {
  it("is of one process at a time, also where one that had it was killed", { timeout: 60_000 }, async (t) => {
    const folder = tempFolder(t);
    const file = join(folder, "number");
    await writeFile(file, "0");
    const killed = start(`
      await Claim.wait(${JSON.stringify(`${file}.lock`)}, 10_000);
      console.log("has it");
      setInterval(() => {}, 1000);`);
    await once(killed.stdout, "data");
    const others = [1, 2, 3, 4].map(() => start(adding(file, 40)));
    killed.kill("SIGKILL");
    for (const code of await Promise.all(others.map(async (child) => (await once(child, "close"))[0])))
      assert.equal(code, 0);
    assert.equal(await readFile(file, "utf8"), "160");
    assert.deepEqual(await readdir(folder), ["number"]);
  });

  it("is refused while a process that lives has it, who is named", async (t) => {
    const path = join(tempFolder(t), "lock");
    const first = await Claim.take(path);
    assert.ok(first);
    assert.equal(await Claim.take(path), undefined);
    assert.equal(await Claim.holder(path), process.pid);
    await first[Symbol.asyncDispose]();
    assert.ok(await Claim.take(path));
  });

  it("is taken over from who stands still or is not known, and who had it sees that", async (t) => {
    const path = join(tempFolder(t), "lock");
    const first = await Claim.wait(path, 100);
    const second = await Claim.wait(path, 100);
    assert.equal(await first.isHeld(), false);
    await first[Symbol.asyncDispose]();
    assert.equal(await second.isHeld(), true, "the first one's end leaves it alone");
    await writeFile(path, "1 abc another-machine");
    assert.equal(await Claim.take(path), undefined);
    assert.equal(await Claim.holder(path), undefined);
    const third = await Claim.wait(path, 100);
    assert.equal(await third.isHeld(), true);
    await writeFile(path, "");
    assert.ok(await Claim.take(path), "a full disk left an empty one");
  });
});
