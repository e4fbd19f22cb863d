import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { whatToAdd } from "../../../src/util/packages/missing.js";

const options = { parrot: { packages: ["zod", "no-such-parrot"], about: "a channel" } };

test("a channel whose packages are missing says which ones and what to run, until they are in the home", async () => {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-missing-"));
  try {
    assert.equal(whatToAdd(undefined, home, options), undefined);
    assert.equal(
      whatToAdd("parrot", home, options),
      "the package no-such-parrot is not installed. Run: maxclaw add parrot, then restart the gateway",
    );
    const folder = join(home, "packages", "p1", "node_modules", "no-such-parrot");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), "{}");
    await writeFile(join(home, "packages", "current.json"), JSON.stringify({ folder: "p1", options: ["parrot"] }));
    assert.equal(whatToAdd("parrot", home, options), undefined);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
