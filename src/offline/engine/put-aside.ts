import { existsSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { markName } from "../../engine/embedded/damage/journal-mark.js";
import { journalFolder } from "../../engine/embedded/journal/segment.js";
import {
  createSessionFiles,
  documentSuffix,
  gatewayLogName,
  logSuffix,
  logsMarkPath,
  sessionFileName,
} from "../../sessions/file-names.js";
import { makeFolderSync } from "../../util/files/make-folder.js";
import { namesIn } from "../files.js";

/** Lists and indexes beside the documents, which are made again from these. */
const madeAgain = /^\.(index|stale|folds|search|storage)/;

/**
 * Moves what the embedded engine has in a home and its workspace into a folder of each, so that no gateway finds it any more and
 * people still do. The folders of chats stay. May be called again after it was cut off. Gives the folders.
 */
export function putAside(home: string, sessionsDir: string, stamp: string): readonly string[] {
  const name = `before-postgres-${stamp}`;
  const isOfSessions = (file: string): boolean =>
    file.endsWith(logSuffix) || madeAgain.test(file) || (file.endsWith(documentSuffix) && !file.startsWith("."));
  const ofHome = [
    journalFolder(home),
    join(home, markName),
    join(home, gatewayLogName),
    join(home, `${gatewayLogName}.1`),
  ];
  const ofSessions = namesIn(sessionsDir).filter(isOfSessions);
  return [
    ...moveInto(join(home, name), ofHome),
    ...moveInto(join(sessionsDir, `.${name}`), [
      logsMarkPath(sessionsDir),
      ...ofSessions.map((file) => join(sessionsDir, file)),
    ]),
  ];
}

/**
 * Gives the folders of chats the names that every node finds by itself: those of the Go maxclaw's chats, and of some with names that
 * were taken, go by the documents beside them.
 */
export function useUsualFolders(sessionsDir: string, keys: readonly string[]): void {
  const files = createSessionFiles(sessionsDir);
  for (const key of keys) {
    const usual = sessionFileName(key);
    for (const [from, to] of [
      [files.folder(key), join(sessionsDir, usual)],
      [files.kept(key), join(sessionsDir, ".kept", usual)],
    ] as const)
      if (from !== to && existsSync(from) && !existsSync(to)) renameSync(from, to);
  }
}

function moveInto(folder: string, paths: readonly string[]): readonly string[] {
  const there = paths.filter((path) => existsSync(path));
  if (there.length === 0) return [];
  makeFolderSync(folder);
  for (const path of there) renameSync(path, join(folder, basename(path)));
  return [folder];
}
