import { NpmError, runNpm } from "../util/npm.js";
import { PackageError } from "./error.js";

/**
 * Installs what the package-lock.json of a folder names, and nothing else: each package is checked against its hash there, and none
 * of their scripts is run.
 *
 * @throws {PackageError} in words, with what to do
 */
export async function installLocked(folder: string): Promise<void> {
  try {
    await runNpm(["ci", "--omit=dev", "--include=optional", "--install-strategy=hoisted"], { folder });
  } catch (error) {
    if (!(error instanceof NpmError)) throw error;
    throw new PackageError(`${error.happened} Nothing was changed. ${error.todo}`.trim(), { cause: error });
  }
}
