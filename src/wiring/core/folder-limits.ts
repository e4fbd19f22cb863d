import type { Config } from "../../config/schema.js";
import type { FolderLimits } from "../../tools/folder-usage.js";

/** What a session's folder may hold, no matter who fills it, as the config says it at each look. */
export function folderLimitsOf(config: () => Config): FolderLimits {
  return {
    get maxBytes() {
      return config().tools.exec.maxFolderMegabytes * 1024 ** 2;
    },
    get maxFiles() {
      return config().tools.exec.maxFolderFiles;
    },
  };
}
