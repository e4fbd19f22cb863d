import { constants, existsSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join } from "node:path";
import { markName } from "../engine/embedded/damage/journal-mark.js";
import { homeFormatName } from "../engine/embedded/home-format.js";
import { journalFolder, listSegments } from "../engine/embedded/journal/segment.js";
import { gatewayLogName, logsMarkPath } from "../sessions/file-names.js";
import { indexName } from "../sessions/list/index-file.js";
import { isGone, notPlain } from "../util/error-code.js";
import type { GatewayFiles } from "./events.js";

export interface UnusableFile {
  readonly path: string;
  /** As the system says it. */
  readonly error: unknown;
  /** No gateway starts with it. */
  readonly isNeeded: boolean;
}

const { R_OK, W_OK } = constants;

/** The files in a home, and beside its session logs, that are there and that this account cannot use: folders, pipes, those of others. */
export async function findUnusable({ home, workspace }: GatewayFiles): Promise<readonly UnusableFile[]> {
  const sessions = join(workspace, ".sessions");
  const journal = journalFolder(home);
  const segments = existsSync(journal) ? listSegments(journal).map(({ path }) => path) : [];
  // These are replaced, and not written to.
  const read = [join(home, homeFormatName), join(home, "gateway.lock"), join(sessions, ".lock")];
  const needed = [...read, join(home, "reserve.tmp"), ...segments];
  const others = [
    ...[join(home, gatewayLogName), join(home, markName), join(home, "logs", "gateway.log")],
    ...[logsMarkPath(sessions), join(sessions, indexName)],
  ];
  const found = await Promise.all(
    [...needed, ...others].map(async (path) => {
      const error = await whyUnusable(path, read.includes(path) ? R_OK : R_OK | W_OK);
      return error === undefined ? [] : [{ path, error, isNeeded: needed.includes(path) }];
    }),
  );
  return found.flat();
}

async function whyUnusable(path: string, mode: number): Promise<unknown> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return notPlain(path, found);
    await access(path, mode);
    return undefined;
  } catch (error) {
    return isGone(error) ? undefined : error;
  }
}
