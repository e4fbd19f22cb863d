import path from "node:path";
import { keptFolderOf } from "../policy/locations/zones.js";
import { PathChangedError, resolveReal } from "../util/files/real-path.js";
import { writeReal } from "../util/files/write-real.js";
import type { ToolContext } from "./tool.js";

/**
 * Keeps a file for the session where tools and commands can read it and none can change it. `name` is below what is
 * kept of the session. Resolves with its absolute path.
 *
 * @throws errors of the file system
 */
export async function keepFile(
  name: string,
  data: string | Uint8Array,
  context: Pick<ToolContext, "folder" | "files">,
): Promise<string> {
  const full = await context.files.whyFull();
  if (full !== undefined) throw Object.assign(new Error(`This chat's folder ${full}.`), { code: "EDQUOT" });
  const kept = keptFolderOf(context.folder);
  const root = await resolveReal(kept);
  if (!root.ok) throw new PathChangedError(kept);
  const file = path.join(root.path, name);
  await writeReal(file, data, { mode: 0o600, folderMode: 0o700 });
  await context.files.wrote(file);
  return file;
}
