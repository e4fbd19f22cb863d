import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readLock } from "../../engine/embedded/locking/lock.js";
import { ConfigError } from "../../errors.js";
import { logsIn } from "../../sessions/file-names.js";
import { codeOf } from "../../util/error-code.js";
import { readPlain } from "../../util/files/real-path.js";

/** In a home and in a workspace whose conversations are in a database: which cluster they belong to. */
const markName = ".cluster.json";
const markShape = z.object({ cluster: z.string(), schema: z.string() });
type Mark = z.output<typeof markShape>;

/** The cluster that the folder belongs to; undefined for one that has not been in any. @throws {ConfigError} */
export function readClusterMark(folder: string): Mark | undefined {
  const path = join(folder, markName);
  if (!existsSync(path)) return undefined;
  try {
    return markShape.parse(JSON.parse(readPlain(path).toString()));
  } catch (error) {
    throw new ConfigError(`${path} cannot be read. It says which cluster this folder belongs to: put it back.`, {
      cause: error,
    });
  }
}

/** The engine of files finds none of what the database holds. @throws {ConfigError} */
export function assertNoCluster(folders: readonly string[]): void {
  for (const folder of folders) {
    const mark = readClusterMark(folder);
    if (mark === undefined) continue;
    throw new ConfigError(
      `The conversations of ${folder} are in a database (schema ${mark.schema}), and engine.kind is embedded. Set engine.kind to postgres again, or bring them back into files with: maxclaw engine migrate --to embedded. To begin without them, delete ${join(folder, markName)}.`,
    );
  }
}

/** The engine on a database finds none of what files hold. @throws {ConfigError} */
export function assertNoConversations(sessionsDir: string): void {
  const [log] = logsIn(sessionsDir);
  if (log === undefined) return;
  throw new ConfigError(
    `${sessionsDir} holds conversations of the embedded engine, e.g. ${log}, which the database does not have. Bring them into it with: maxclaw engine migrate --to postgres. To begin without them, set another agents.defaults.workspace and another home.`,
  );
}

/**
 * Notes that the folders belong to the cluster. An embedded engine takes its lock first and looks for the note then; here
 * it is the other way round, so that of two that start at the same time at least one is refused.
 *
 * @throws {ConfigError}
 */
export async function markCluster(
  folders: { readonly home: string; readonly sessionsDir: string },
  mark: Mark,
): Promise<void> {
  for (const folder of [folders.sessionsDir, folders.home]) claim(folder, mark);
  const holder = await readLock(join(folders.sessionsDir, ".lock"));
  if (holder === undefined) return;
  rmSync(join(folders.sessionsDir, markName), { force: true });
  throw new ConfigError(
    `A gateway with the embedded engine (pid ${holder.pid}) works in ${folders.sessionsDir}. Stop it, or set another agents.defaults.workspace.`,
  );
}

function claim(folder: string, mark: Mark): void {
  const path = join(folder, markName);
  try {
    writeFileSync(path, `${JSON.stringify(mark)}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    const there = readClusterMark(folder);
    if (there?.cluster === mark.cluster) return;
    throw new ConfigError(
      `${folder} belongs to the cluster ${there?.cluster} (schema ${there?.schema}), and engine.url leads to the cluster ${mark.cluster}. Each cluster has a workspace and a schema of its own.`,
    );
  }
}

/** The folders belong to no cluster any more. */
export function forgetCluster(folders: readonly string[]): void {
  for (const folder of folders) rmSync(join(folder, markName), { force: true });
}
