import { rm } from "node:fs/promises";
import { join } from "node:path";
import { configOfBackup } from "../../config/document/config-of-backup.js";
import { makeBackup } from "../../offline/backup.js";
import { inspectBackup, restoreBackup } from "../../offline/restore.js";
import type { DataPort } from "../../update/update.js";
import type { CommandContext } from "../context.js";
import { withFiles } from "../gateway/with-files.js";

/** Files of the config, the journal and the conversations: not what people have in the workspace, which may be large. */
const state = /^(?:home\/|workspace\/\.sessions\/)/;

/** The data of a home, also while its gateway runs. */
export function dataOf(context: CommandContext, version: string): DataPort {
  return {
    async backup(file) {
      // It stays in the home, which holds the same secrets: with them it brings all of it back.
      const { config, placeholders } = await configOfBackup(context.loaded.path, true);
      await withFiles(
        context,
        (files, signal, release) =>
          makeBackup(
            files,
            { file, maxclaw: version, config, placeholders, hasSecrets: true, onStateDone: release },
            signal,
          ),
        "files",
      );
    },
    async copyInto(folder, file) {
      const { signal } = new AbortController();
      const inspected = await inspectBackup(file, signal);
      await rm(folder, { recursive: true, force: true });
      await restoreBackup(
        {
          ...{ file, inspected, home: folder, workspace: join(folder, "workspace") },
          ...{ force: false, wants: (path: string) => state.test(path) },
        },
        signal,
      );
    },
  };
}
