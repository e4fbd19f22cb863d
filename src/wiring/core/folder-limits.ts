import type { Config } from "../../config/schema.js";
import type { FolderLimits } from "../../tools/folder-usage.js";

/** What a session's folder may hold, no matter who fills it. */
export function folderLimitsOf({ tools: { exec } }: Config): FolderLimits {
  return { maxBytes: exec.maxFolderMegabytes * 1024 ** 2, maxFiles: exec.maxFolderFiles };
}
