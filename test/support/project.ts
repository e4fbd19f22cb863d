import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of a file of the project, from wherever the tests were compiled to. */
export function projectFile(path: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("The project's package.json was not found above the tests");
    folder = parent;
  }
  return join(folder, path);
}

/** The folder of an installed package: one that the program is made with, or one that only its tests need. */
export function packageFolder(name: string): string {
  const ofTests = projectFile(join("test", "node_modules", name));
  return existsSync(ofTests) && !existsSync(projectFile(join("node_modules", name)))
    ? ofTests
    : projectFile(join("node_modules", name));
}

/** The program out of what was compiled, as a checkout runs it. */
export const compiledProgram = "bin/maxclaw.js";

/**
 * The file that runs the program. `MAXCLAW_TEST_PROGRAM` names another one: `npm test` names the bundle, which is what
 * people run, and starts in half the time.
 */
export function programFile(): string {
  return process.env.MAXCLAW_TEST_PROGRAM ?? projectFile(compiledProgram);
}

/**
 * A compiled file of the tests that is started as a process of its own. `MAXCLAW_TEST_CHILDREN` names the folder where
 * `scripts/bundle-tests.mjs` has put them with all that they import: they start in half the time.
 */
export function childFile(path: string): string {
  const folder = process.env.MAXCLAW_TEST_CHILDREN;
  return folder === undefined ? compiledFile(`test/${path}`) : join(folder, basename(path));
}

/** Absolute path of a compiled file, e.g. `src/cli/main.js`, beside the tests that run. */
export function compiledFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
