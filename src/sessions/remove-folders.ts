import { join, relative } from "node:path";
import { removeFolder } from "../util/files/held-folder.js";
import { resolveReal } from "../util/files/real-path.js";
import type { SessionFiles } from "./file-names.js";

/** Commands may still be at work in the session's own folder, and make links of its folders meanwhile. */
export async function removeFolders(files: SessionFiles, key: string): Promise<void> {
  const dir = await resolveReal(files.foldersDir);
  if (!dir.ok) return;
  const folders = [files.folder(key), files.kept(key)].map((folder) =>
    join(dir.path, relative(files.foldersDir, folder)),
  );
  const outcomes = await Promise.allSettled(folders.map((folder) => removeFolder(folder)));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
