import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { meaningOf, valuePaths } from "../../../src/config/shape.js";
import { projectFile } from "../../support/project.js";

test("the page says in Chinese what each setting means, with the values that it can have", async () => {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-meanings-"));
  try {
    const bundle = await rolldown({ input: projectFile("src/web/panes/settings/meanings-zh.ts") });
    await bundle.write({ dir: folder, entryFileNames: "meanings.mjs" });
    await bundle.close();
    const { meanings } = await import(pathToFileURL(join(folder, "meanings.mjs")).href);
    const names = valuePaths().map((path) => path.join("."));
    assert.deepEqual(Object.keys(meanings).sort(), [...names].sort());
    for (const name of names) {
      const text = String(meanings[name]);
      assert.match(text, /\p{Script=Han}/u, name);
      assert.equal(text.split("`").length % 2, 1, name);
      assert.ok(meaningOf(name), name);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
