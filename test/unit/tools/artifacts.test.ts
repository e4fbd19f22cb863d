import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { test } from "node:test";
import { createArtifacts } from "../../../src/tools/chat/artifacts.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { keepLog } from "../../support/log.js";
import { writeFiles } from "../../support/worlds/old-homes.js";

test("a file for people keeps what its name can keep, however long it is and whatever is in it", async (t) => {
  const home = tempFolder(t);
  await writeFiles(home, { "a.txt": "hello" });
  const artifacts = createArtifacts({
    keptOf: () => join(home, ".kept/session"),
    folderOf: () => join(home, "session"),
    log: keepLog(),
  });
  const names = [`${"报".repeat(110)}.pdf`, "../.hidden\u202efdp.exe", "a/b\\c: d.txt", "🦀".repeat(80), ".."];
  for (const [index, name] of names.entries()) {
    const { filename } = artifacts.describe(join(home, "a.txt"), name);
    const kept = await artifacts.keep("webui:a", `art_${index}`, { path: join(home, "a.txt"), filename });
    assert.ok("path" in kept, `${name}: ${"sentence" in kept ? kept.sentence : ""}`);
    assert.deepEqual([basename(kept.path), kept.sizeBytes], [filename, 5]);
    assert.doesNotMatch(filename, /^\.|[\p{Cc}\p{Cf}:/\\]/u);
    assert.ok(Buffer.byteLength(filename) <= 200 && filename.isWellFormed());
  }
  assert.match(artifacts.describe("x", names[0]).filename, /^报{50,}\.pdf$/);
  assert.match(artifacts.describe("x", names[2]).filename, /^c_+ d\.txt$/);
});
