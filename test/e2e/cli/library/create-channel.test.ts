import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createChannel } from "../../../../src/cli/create/channel.js";
import { projectFile } from "../../../support/project.js";

const run = promisify(execFile);

test("create channel writes a channel whose tests pass as they are, and over nothing that is there", async () => {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-create-"));
  try {
    const files = await createChannel("water-cooler", folder);
    const names = ["README.md", "water-cooler.mjs", "water-cooler.test.mjs"];
    assert.deepEqual(
      files,
      names.map((name) => join(folder, "water-cooler", name)),
    );
    assert.deepEqual((await readdir(join(folder, "water-cooler"))).sort(), names);
    for (const file of files) assert.doesNotMatch(await readFile(file, "utf8"), /my-?chat/i);
    // As npm installs it, with what was compiled.
    const installed = join(folder, "node_modules", "maxclaw");
    await mkdir(installed, { recursive: true });
    await writeFile(join(installed, "package.json"), '{ "type": "module", "exports": "./index.js" }');
    const compiled = pathToFileURL(projectFile("dist/src/index.js")).href;
    await writeFile(join(installed, "index.js"), `export * from ${JSON.stringify(compiled)};`);
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    await run(process.execPath, ["--test", join(folder, "water-cooler", "water-cooler.test.mjs")], {
      env,
      timeout: 30_000,
    }).catch((error) => assert.fail(String(error.stdout)));
    await assert.rejects(createChannel("water-cooler", folder), /is there already/);
    await assert.rejects(createChannel("telegram", folder), /There is a channel telegram already/);
    for (const name of ["../up", "Big", "", "a b", "-x", "x-"])
      await assert.rejects(createChannel(name, folder), /a-z/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
