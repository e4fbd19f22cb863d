import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { compiledFile, compiledProgram, projectFile } from "../../support/project.js";

const run = promisify(execFile);
const bundled = "scripts/bench/bundled.mjs";

/**
 * Tests that start the real program and load what only some need: its commands, storage in a package of its own. Tests in which the
 * gateway is part of their own process run what was compiled anyway. run.test.ts goes through channels, tools and MCP.
 */
const files = ["e2e/cli/cli.test.js", "e2e/faults/storage.test.js"];

/** Of the two, the one that tests do not run anyway. */
const isBundleRun = process.env.MAXCLAW_TEST_PROGRAM !== undefined;
const [name, other] = isBundleRun ? ["compiled program", compiledProgram] : ["bundle", bundled];

describe(`the ${name} passes what the other one passes`, { timeout: 900_000 }, () => {
  // Who tests the bundle has made it, and other tests run it at this moment.
  if (!isBundleRun) before(() => run(process.execPath, [projectFile("scripts/bundle.mjs")]));

  for (const file of files)
    it(file, async () => {
      const { NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
      const env = { ...inherited, MAXCLAW_TEST_PROGRAM: projectFile(other) };
      const args = ["--test", "--test-reporter=spec", compiledFile(`test/${file}`)];
      const { stdout } = await run(process.execPath, args, { env, maxBuffer: 10_000_000 }).catch((error) =>
        assert.fail(String(error.stdout).slice(-4000)),
      );
      assert.match(stdout, /\bpass [1-9]/);
    });
});
