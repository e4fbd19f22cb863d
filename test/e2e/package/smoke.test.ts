import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { compiledFile, compiledProgram, projectFile } from "../../support/project.js";

const run = promisify(execFile);
const bundled = "scripts/bench/bundled.mjs";

/**
 * Tests that start the real program and load what only some need: its commands, storage in a package of its own. Tests in which the
 * gateway is part of their own process run what was compiled anyway. run.test.ts goes through channels, tools and MCP. Of each file those
 * that begin in another place of the program.
 */
const files = [
  {
    file: "e2e/cli/cli.test.js",
    names: ["says READY on stdout", "comes up with the page alone", "prints the answer", "asks the gateway that runs"],
  },
  { file: "e2e/faults/storage.test.js", names: ["with Redis as storage"] },
];

/** Of the two, the one that tests do not run anyway. */
const isBundleRun = process.env.MAXCLAW_TEST_PROGRAM !== undefined;
const [name, other] = isBundleRun ? ["compiled program", compiledProgram] : ["bundle", bundled];

describe(`the ${name} passes what the other one passes`, { timeout: 900_000 }, () => {
  // Who tests the bundle has made it, and other tests run it at this moment.
  if (!isBundleRun) before(() => run(process.execPath, [projectFile("scripts/bundle.mjs")]));

  for (const { file, names } of files)
    it(`${file}: ${names.join(", ")}`, async () => {
      const { NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
      const env = { ...inherited, MAXCLAW_TEST_PROGRAM: projectFile(other) };
      const args = ["--test", "--test-reporter=spec", ...names.map((name) => `--test-name-pattern=${name}`)];
      const { stdout } = await run(process.execPath, [...args, compiledFile(`test/${file}`)], {
        env,
        maxBuffer: 10_000_000,
      }).catch((error) => assert.fail(String(error.stdout).slice(-4000)));
      assert.match(stdout, new RegExp(`\\bpass ${names.length}\\b`));
    });
});
