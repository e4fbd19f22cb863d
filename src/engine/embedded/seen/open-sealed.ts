import * as fs from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { blockBytes, decodeHead, namesIn, numberOf, type SealedInfo } from "./format.js";
import { SealedFile } from "./sealed-file.js";
import type { SeenIds } from "./seen-ids.js";

/** What follows from ids that are lost; nothing else does. */
const effect = "A message that its platform delivers again may be answered a second time.";

/** Opens a sealed file; what is damaged in it is logged, and stays among the problems of `ids`. */
export function openSealed(folder: string, info: SealedInfo, ids: SeenIds, log: Logger): SealedFile {
  return SealedFile.open(folder, info, (message) => logOnce(`${message}. ${effect}`, info, ids, log));
}

/**
 * Opens all files that the journal names. One that is gone or cannot be read is told and left out: without it a message
 * may be taken twice, and without a start none would be taken.
 */
export function openAll(folder: string, ids: SeenIds, log: Logger): void {
  for (const info of ids.files) {
    try {
      ids.attach(openSealed(folder, info, ids, log));
    } catch (error) {
      logOnce(`${join(folder, info.name)} could not be opened: ${messageOf(error)}. ${effect}`, info, ids, log);
    }
  }
}

/** What is wrong with these files, as sentences. Reads all of them. */
export function checkSealed(folder: string, files: readonly SealedInfo[]): readonly string[] {
  const problems: string[] = [];
  for (const info of files) {
    try {
      const file = SealedFile.open(folder, info, (message) => problems.push(message));
      file.check();
      file.close();
    } catch (error) {
      problems.push(`${join(folder, info.name)} could not be read: ${messageOf(error)}`);
    }
  }
  return problems;
}

/** All files in the folder that have a good head, oldest first: for a journal that has lost their names. */
export function findSealed(folder: string): readonly SealedInfo[] {
  return namesIn(folder)
    .filter((name) => numberOf(name) !== undefined)
    .flatMap((name) => {
      const fd = fs.openSync(join(folder, name), "r");
      try {
        const bytes = Buffer.alloc(blockBytes);
        const head = decodeHead(bytes.subarray(0, fs.readSync(fd, bytes, 0, blockBytes, 0)));
        return head?.name === name ? [{ name, count: head.count, until: head.until }] : [];
      } finally {
        fs.closeSync(fd);
      }
    });
}

function logOnce(message: string, info: SealedInfo, ids: SeenIds, log: Logger): void {
  if (ids.problems.get(info.name) === undefined) log.error(message);
  ids.problems.set(info.name, message);
}
