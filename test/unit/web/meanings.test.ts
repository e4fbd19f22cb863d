import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { isPlatformName, wordsOf } from "../../../src/channels/platforms.js";
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
    // A channel says it beside its section.
    const own = new Map(names.map((name) => [name, chinese(name)]));
    const others = names.filter((name) => own.get(name) === undefined);
    assert.deepEqual(Object.keys(meanings).sort(), others.sort());
    assert.ok(others.every((name) => !name.startsWith("channels.")));
    for (const name of names) {
      const text = String(own.get(name) ?? meanings[name]);
      assert.match(text, /\p{Script=Han}/u, name);
      assert.equal(text.split("`").length % 2, 1, name);
      assert.ok(meaningOf(name), name);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

function chinese(name: string): string | undefined {
  const [first, platform = "", ...key] = name.split(".");
  return first === "channels" && isPlatformName(platform) ? wordsOf(platform, key.join(".")).meaning : undefined;
}
