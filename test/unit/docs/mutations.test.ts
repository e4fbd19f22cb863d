import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { projectFile } from "../../support/project.js";

test("each mutation of scripts/mutations fits the source that it breaks, and names a test that there is", () => {
  const script = projectFile("scripts/mutate.mjs");
  const { stdout, status } = spawnSync(process.execPath, [script, "--list", "--all"], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
