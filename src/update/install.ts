import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../errors.js";
import { makeFolder } from "../util/files/make-folder.js";
import { syncPath } from "../util/files/sync-path.js";
import { removeLeftover } from "../util/packages/remove-leftover.js";
import { versionsFolder } from "./current.js";
import { UpdateError } from "./error.js";
import { installInto, type Origin } from "./npm.js";
import { isVersion } from "./version-order.js";

/** A version that was downloaded and is not in its place yet. */
export interface Staged {
  readonly version: string;
  readonly folder: string;
}

const unfinished = ".installing-";

const packageFile = z.object({ name: z.literal("maxclaw"), version: z.string().refine(isVersion) });

/** Removes what updates before have left halfway, unless it is still written to. Nobody else updates meanwhile. */
export async function removeUnfinished(home: string): Promise<void> {
  const folder = versionsFolder(home);
  const names = await readdir(folder).catch(() => []);
  for (const name of names)
    if (name.startsWith(unfinished) || name.startsWith(".current-")) await removeLeftover(join(folder, name));
}

/** Downloads a version beside all others. What is left of a failure is removed. @throws {UpdateError} */
export async function stage(home: string, origin: Origin, signal: AbortSignal): Promise<Staged> {
  const folder = join(versionsFolder(home), `${unfinished}${randomBytes(6).toString("hex")}`);
  try {
    await makeFolder(folder);
    await installInto(folder, origin, signal);
    const { version } = packageFile.parse(
      JSON.parse(await readFile(join(folder, "node_modules", "maxclaw", "package.json"), "utf8")),
    );
    if ("version" in origin && origin.version !== version)
      throw new UpdateError(`The package registry gave ${version} instead of ${origin.version}.`);
    return { version, folder };
  } catch (error) {
    await removeLeftover(folder);
    if (signal.aborted || error instanceof UpdateError) throw error;
    const what = error instanceof z.ZodError || error instanceof SyntaxError ? "it is not maxclaw" : messageOf(error);
    throw new UpdateError(`The new version could not be installed: ${what}.`, { cause: error });
  }
}

/** Gives a version that was tried its place, and returns it. One that was there before under its name is replaced. */
export async function settle(home: string, { version, folder }: Staged): Promise<string> {
  const place = join(versionsFolder(home), version);
  await rm(place, { recursive: true, force: true });
  await rename(folder, place);
  await syncPath(versionsFolder(home));
  return place;
}

/** Removes all versions but these. */
export async function removeOthers(home: string, keep: readonly (string | undefined)[]): Promise<void> {
  const folder = versionsFolder(home);
  for (const name of await readdir(folder).catch(() => []))
    if (isVersion(name) && !keep.includes(name)) await rm(join(folder, name), { recursive: true, force: true });
}
