import { constants } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../util/error-code.js";
import { makeFolder } from "../util/files/make-folder.js";
import { readOnly } from "../util/files/real-path.js";
import { workspaceTemplates } from "./workspace.js";

/**
 * Creates what a workspace lacks: the template files, `skills/` and `memory/`. With `overwrite` files that differ are
 * replaced, each after a copy beside it (`SOUL.md.bak`, `.bak2`, …). What is new is readable by its owner only. Resolves
 * with the paths that were written, relative to the workspace.
 */
export async function writeTemplates(
  workspace: string,
  options: { readonly overwrite: boolean },
): Promise<readonly string[]> {
  for (const folder of ["memory", "skills/example"]) await makeFolder(path.join(workspace, folder));
  const written: string[] = [];
  for (const [name, text] of Object.entries(workspaceTemplates)) {
    const file = path.join(workspace, name);
    if ((await createFile(file, text)) || (options.overwrite && (await replaceFile(file, text)))) written.push(name);
  }
  return written;
}

async function createFile(file: string, text: string): Promise<boolean> {
  return writeFile(file, text, { flag: "wx", mode: 0o600 }).then(() => true, orIfExists);
}

async function replaceFile(file: string, text: string): Promise<boolean> {
  if ((await readFile(file, { encoding: "utf8", flag: readOnly })) === text) return false;
  for (let copy = 1; !(await backUp(file, `${file}.bak${copy === 1 ? "" : copy}`)); copy++);
  await writeFile(file, text);
  return true;
}

async function backUp(file: string, copy: string): Promise<boolean> {
  return copyFile(file, copy, constants.COPYFILE_EXCL).then(() => true, orIfExists);
}

function orIfExists(error: unknown): false {
  if (codeOf(error) === "EEXIST") return false;
  throw error;
}
