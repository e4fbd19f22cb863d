import { lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where compiled code is kept. Not in the folder for temporary files: there another user of the machine could put code. */
export function codeFolder(home: string): string {
  return join(home, "cache", "code");
}

/** Whether a home is there, and only this account can write in it and in its folder for code, so far as that exists. */
export function isSafeFolder(home: string): boolean {
  const folder = codeFolder(home);
  const real = realFolder(home);
  return real !== undefined && isOwn(real) === true && [dirname(folder), folder].every((path) => isOwn(path) !== false);
}

/** Whether it is a folder in which only this account writes. Undefined: it does not exist. */
function isOwn(folder: string): boolean | undefined {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.isDirectory() && isOnlyOurs(found);
}

/** Of a file or folder: nobody else can change it. False on systems without accounts of this kind. */
export function isOnlyOurs({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  return uid === process.getuid?.() && (mode & 0o022) === 0;
}

/** The home may be a link to where it is. */
function realFolder(home: string): string | undefined {
  try {
    return realpathSync(home);
  } catch {
    return undefined;
  }
}
