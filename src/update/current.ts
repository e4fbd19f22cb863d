import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { rename, rm, symlink } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { makeFolder } from "../util/files/make-folder.js";
import { syncPath } from "../util/files/sync-path.js";
import { compareVersions, isVersion } from "./version-order.js";

/** Where versions are that were installed by updates, each in a folder of its own name. */
export function versionsFolder(home: string): string {
  return join(home, "versions");
}

/** The program in a folder that npm has installed into. */
export function programIn(folder: string): string {
  return join(folder, "node_modules", "maxclaw", "bin", "maxclaw.js");
}

/** The version that an update has chosen for this home; undefined where none has. Reads one link. */
export function readCurrent(home: string): string | undefined {
  try {
    const name = readlinkSync(join(versionsFolder(home), "current"));
    return isVersion(name) ? name : undefined;
  } catch {
    // No update has been made here.
    return undefined;
  }
}

/** What a program of version `own` is to do with a home: go on by itself, hand over, or go on though the chosen one is damaged. */
export type Chosen =
  | { readonly kind: "own" }
  | { readonly kind: "other"; readonly program: string }
  | { readonly kind: "gone"; readonly version: string }
  | { readonly kind: "foreign"; readonly version: string; readonly path: string };

/** Only what is newer is chosen: a program that was installed again since then goes before an old update. */
export function chooseProgram(home: string, own: string): Chosen {
  const version = readCurrent(home);
  if (version === undefined || compareVersions(version, own) <= 0) return { kind: "own" };
  const program = programIn(join(versionsFolder(home), version));
  if (!existsSync(program)) return { kind: "gone", version };
  const path = findForeign(home, program);
  return path === undefined ? { kind: "other", program } : { kind: "foreign", version, path };
}

/** What on the way from the home to a program another account may have put there. Root runs only what is root's. */
function findForeign(home: string, program: string): string | undefined {
  const own = process.getuid?.();
  if (own === undefined) return undefined;
  const isForeign = (uid: number): boolean => uid !== own && uid !== 0;
  const current = join(versionsFolder(home), "current");
  if (isForeign(lstatSync(current).uid)) return current;
  // The home itself may be a link to where it is; below it nothing is one.
  const names = relative(home, program).split(sep);
  const below = names.map((_, index) => join(home, ...names.slice(0, index + 1)));
  return [realpathSync(home), ...below].find((path) => {
    const found = lstatSync(path);
    return isForeign(found.uid) || found.isSymbolicLink() || (found.mode & (own === 0 ? 0o022 : 0o002)) !== 0;
  });
}

/** Has each start from now on run this version, or without one the program that was started. One rename, or one removal. */
export async function switchTo(home: string, version: string | undefined): Promise<void> {
  const folder = versionsFolder(home);
  const current = join(folder, "current");
  await makeFolder(folder);
  if (version === undefined) await rm(current, { force: true });
  else {
    const next = join(folder, `.current-${randomBytes(6).toString("hex")}`);
    await symlink(version, next);
    try {
      await rename(next, current);
    } catch (error) {
      await rm(next, { force: true });
      throw error;
    }
  }
  await syncPath(folder);
}
