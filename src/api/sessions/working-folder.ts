import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { RequestError } from "../../errors.js";

/**
 * Where the commands of a session should begin: as it was given, when it is a folder of the workspace.
 *
 * @throws {RequestError} 400 otherwise: commands could not begin there, and the assistant would be told that they do
 */
export async function checkWorkingFolder(cwd: string, workspace: string): Promise<void> {
  const refuse = (why: string): never => {
    throw new RequestError(`cwd: ${why}. Name a folder in the workspace ${workspace}.`, {
      status: 400,
      code: "bad_request",
    });
  };
  const named = path.resolve(workspace, cwd);
  const [root, folder] = await Promise.all([realpath(workspace), realpath(named).catch(() => undefined)]);
  if (folder === undefined) return refuse(`${named} does not exist`);
  if (!isIn(root, folder)) return refuse(`${named} is outside the workspace`);
  if (!(await stat(folder)).isDirectory()) return refuse(`${named} is not a folder`);
}

function isIn(root: string, folder: string): boolean {
  return folder === root || folder.startsWith(`${root}${path.sep}`);
}
