import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { makeFolder } from "../util/files/make-folder.js";
import { replaceFile } from "../util/files/replace-file.js";
import { systemSentence } from "../util/files/system-fault.js";
import {
  type CurrentPackages,
  currentName,
  loaderName,
  loaderSource,
  packagesFolder,
  readCurrent,
} from "../util/packages/folder.js";
import { packageOptions, whyNodeTooOld } from "../util/packages/options.js";
import { removeLeftover } from "../util/packages/remove-leftover.js";
import { assertHeld, claimPackages } from "./claim.js";
import { PackageError } from "./error.js";
import { lockFor, readLock } from "./lock.js";
import { installLocked } from "./npm.js";

const claimName = "changing";

/**
 * Installs the packages of an option into the home, beside those that are there. Until everything is on disk, the home uses what it
 * used before; so does anyone who is cut off. `isInUse`: a gateway runs, so what it has opened stays where it is.
 *
 * @throws {PackageError} in words; the home is as it was
 */
export async function addOption(
  home: string,
  name: string,
  isInUse: boolean,
  node = process.versions.node,
): Promise<void> {
  assertOption(name);
  assertNode(name, node);
  await changing(home, async (folder, before, assertHeld) => {
    const options = [...new Set([...(before?.options ?? []).filter(isKnown), name])].sort();
    const { package: own, lock } = lockFor(packagesOf(options), readLock());
    const made = `p${randomBytes(6).toString("hex")}`;
    const target = join(folder, made);
    try {
      await mkdir(target, { mode: 0o700 });
      await writeFile(join(target, "package.json"), `${JSON.stringify(own, null, 2)}\n`);
      await writeFile(join(target, "package-lock.json"), `${JSON.stringify(lock, null, 2)}\n`);
      await writeFile(join(target, loaderName), loaderSource);
      await installLocked(target);
      await assertHeld();
      await replaceFile(join(folder, currentName), `${JSON.stringify({ folder: made, options })}\n`, { mode: 0o600 });
    } catch (error) {
      await removeLeftover(target);
      throw error;
    }
    await sweep(folder, isInUse && before !== undefined ? [made, before.folder] : [made]);
  });
}

/** Takes the packages of an option away that no other one needs. Needs no network. @throws {PackageError} in words */
export async function removeOption(home: string, name: string): Promise<void> {
  await changing(home, async (folder, before) => {
    if (before === undefined || !before.options.includes(name)) throw new PackageError(`${name} was not added here.`);
    const options = before.options.filter((one) => one !== name && isKnown(one));
    if (options.length === 0) {
      await rm(join(folder, currentName));
      return await sweep(folder, []);
    }
    await replaceFile(join(folder, currentName), `${JSON.stringify({ ...before, options })}\n`, { mode: 0o600 });
    await prune(join(folder, before.folder), options);
    await sweep(folder, [before.folder]);
  });
}

const lockShape = z.looseObject({ packages: z.record(z.string(), z.looseObject({})) });

/** Deletes the packages in a folder that these options do not need, by the lock that they were installed from. */
async function prune(folder: string, options: readonly string[]): Promise<void> {
  const installed = lockShape.parse(JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")));
  const { package: own, lock } = lockFor(packagesOf(options), installed.packages);
  const wanted = new Set(Object.keys(lockShape.parse(lock).packages));
  for (const place of Object.keys(installed.packages))
    if (!wanted.has(place)) await rm(join(folder, place), { recursive: true, force: true });
  await writeFile(join(folder, "package.json"), `${JSON.stringify(own, null, 2)}\n`);
  await writeFile(join(folder, "package-lock.json"), `${JSON.stringify(lock, null, 2)}\n`);
}

type Work = (folder: string, before: CurrentPackages | undefined, assertHeld: () => Promise<void>) => Promise<void>;

async function changing(home: string, work: Work): Promise<void> {
  const folder = join(home, packagesFolder);
  try {
    await makeFolder(folder);
    const file = join(folder, claimName);
    await using claim = await claimPackages(file);
    await work(folder, currentOf(home), () => assertHeld(claim, file));
  } catch (error) {
    throw inWords(error, folder);
  }
}

/** A file that cannot be read is put right by the next change. */
function currentOf(home: string): CurrentPackages | undefined {
  try {
    return readCurrent(home);
  } catch {
    return undefined;
  }
}

function inWords(error: unknown, folder: string): unknown {
  if (error instanceof PackageError || !(error instanceof Error) || !("code" in error)) return error;
  const why = systemSentence(error) ?? `The packages in ${folder} could not be changed: ${error.message}.`;
  return new PackageError(`${why} Nothing was changed.`, { cause: error });
}

/** Deletes what earlier changes have left. */
async function sweep(folder: string, kept: readonly string[]): Promise<void> {
  for (const name of await readdir(folder))
    if (/^p[0-9a-f]{12}$/.test(name) && !kept.includes(name)) await removeLeftover(join(folder, name));
}

/** @throws {PackageError} this Node cannot run it */
function assertNode(name: string, node: string): void {
  const option = packageOptions[name];
  const why = option === undefined ? undefined : whyNodeTooOld(option, node);
  if (why !== undefined) throw new PackageError(`${name} was not added. ${why}`);
}

function packagesOf(options: readonly string[]): readonly string[] {
  return [...new Set(options.flatMap((name) => packageOptions[name]?.packages ?? []))].sort();
}

function isKnown(name: string): boolean {
  return Object.hasOwn(packageOptions, name);
}

/** @throws {PackageError} there is nothing of that name to add */
export function assertOption(name: string): void {
  if (isKnown(name)) return;
  throw new PackageError(`${name} cannot be added. There is: ${Object.keys(packageOptions).join(", ")}.`);
}
