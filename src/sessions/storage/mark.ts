import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../util/files/make-folder.js";
import { readOnly } from "../../util/files/real-path.js";
import { replaceFile } from "../../util/files/replace-file.js";

/**
 * Remembers beside the session logs which storage has all their documents, so that a start needs to look only at
 * sessions of the last hours, and a storage that was away or is another one than before is compared as a whole.
 */
export interface StorageMark {
  /** True when this storage had every document at last. */
  isCurrent(): Promise<boolean>;
  /** This storage has every document now. */
  set(): Promise<void>;
  /** Some document is behind, and anyone who starts next has to find out which. */
  clear(): Promise<void>;
}

const markName = ".storage";

/** `id` tells one storage from another; undefined for the files, which are marked by there being no mark. */
export function createStorageMark(dir: string, id: string | undefined): StorageMark {
  const path = join(dir, markName);
  const read = (): Promise<string | undefined> =>
    readFile(path, { encoding: "utf8", flag: readOnly }).catch(() => undefined);
  const remove = (): Promise<void> => rm(path, { force: true });
  if (id === undefined)
    return { isCurrent: async () => (await read()) === undefined, set: remove, clear: async () => {} };
  const write = async (text: string): Promise<void> => {
    await makeFolder(dir, 0o777);
    await replaceFile(path, `${text}\n`, { sync: false, mode: 0o600 });
  };
  return {
    isCurrent: async () => (await read()) === `${id}\n`,
    set: () => write(id),
    // Not removed: for the files that would mean that they have everything.
    clear: () => write("behind"),
  };
}
