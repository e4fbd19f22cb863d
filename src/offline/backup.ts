import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { createBackup } from "../backup/create.js";
import type { Manifest } from "../backup/manifest.js";
import { EngineError } from "../errors.js";
import { partOf, removeParts } from "./backup-parts.js";
import type { GatewayFiles } from "./events.js";
import { isInside, lockFiles } from "./files.js";

export type { Manifest } from "../backup/manifest.js";

export interface BackupRequest {
  /** The archive; must not exist. */
  readonly file: string;
  readonly maxclaw: string;
  /** The config as it should be in the backup. */
  readonly config: { readonly name: string; readonly content: Buffer } | undefined;
  readonly placeholders: readonly string[];
  readonly hasSecrets: boolean;
  /** What belongs to the gateway and is in no file of this machine, with why. */
  readonly elsewhere?: Readonly<Manifest["leftOut"]> | undefined;
  /** The gateway's files need not be still any longer. */
  readonly onStateDone: () => void;
}

/**
 * Writes a backup of a home and its workspace. Where no gateway holds the files still, none may run until it is done.
 *
 * @throws {EngineError} `locked` when a gateway runs after all, `persistence` when something cannot be read or written
 */
export async function makeBackup(files: GatewayFiles, request: BackupRequest, signal: AbortSignal): Promise<Manifest> {
  const { home, workspace, segment } = files;
  const file = resolve(request.file);
  if (existsSync(file))
    throw new EngineError(`${file} exists already. Name another file, or move it away.`, { kind: "persistence" });
  const [realHome, realWorkspace] = await Promise.all([readRealPath(home), readRealPath(workspace)]);
  if (isInside(realHome, realWorkspace))
    throw new EngineError(
      `The workspace ${workspace} holds the home ${home}, so they cannot be told apart. Set agents.defaults.workspace to a folder of its own.`,
      { kind: "persistence" },
    );
  const unfinished = partOf(file);
  const folder = await readRealPath(dirname(file));
  await removeParts(folder);
  const inHome = relative(realHome, realWorkspace);
  const held = segment === undefined ? undefined : { ...segment, sinceMs: Date.now() };
  const locks = segment === undefined ? await lockFiles(home, workspace) : [];
  try {
    return await createBackup(
      {
        home,
        workspace,
        config: request.config,
        hasSecrets: request.hasSecrets,
        held,
        exclude: [join(folder, basename(file)), join(folder, basename(unfinished))],
      },
      {
        file,
        unfinished,
        about: {
          maxclaw: request.maxclaw,
          createdAt: new Date().toISOString(),
          home,
          workspace,
          ...(isInside(realWorkspace, realHome) ? { workspaceInHome: inHome } : {}),
          placeholders: [...request.placeholders],
        },
        elsewhere: request.elsewhere ?? [],
        onStateDone: request.onStateDone,
        signal,
      },
    );
  } finally {
    for (const lock of locks) lock.release();
  }
}

async function readRealPath(path: string): Promise<string> {
  return await realpath(path).catch(() => resolve(path));
}
