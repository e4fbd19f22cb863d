import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { NpmError, type NpmOptions, runNpm } from "../util/npm.js";
import { UpdateError } from "./error.js";
import { isVersion } from "./version-order.js";

const name = "maxclaw";
const lookLimitMs = 30_000;

/** The newest version that the registry of npm has. @throws {UpdateError} */
export async function newestVersion(signal: AbortSignal): Promise<string> {
  // Where the registry cannot be reached npm would give what it has kept of an older look.
  const cache = await mkdtemp(join(tmpdir(), "maxclaw-look-"));
  const asked = ["view", `${name}@latest`, "version", "--cache", cache, "--prefer-online"];
  // Not in the current folder: its .npmrc would say which registry is asked, and what it is sent.
  const said = await run(asked, { limitMs: lookLimitMs, signal, folder: cache }).finally(() =>
    rm(cache, { recursive: true, force: true }),
  );
  const version = said.trim();
  if (isVersion(version)) return version;
  throw new UpdateError(
    "The package registry names no version of maxclaw. Look at which registry npm uses (npm config get registry).",
  );
}

/** What to install: a version from the registry, or a packed file. */
export type Origin = { readonly version: string } | { readonly file: string };

/**
 * Has npm install maxclaw into a folder, without running any script of a package. What came from a registry has the hash that the
 * registry names.
 *
 * @throws {UpdateError} also where it names none
 */
export async function installInto(folder: string, origin: Origin, signal: AbortSignal): Promise<void> {
  const wanted = "file" in origin ? origin.file : `${name}@${origin.version}`;
  const how = ["--omit=dev", "--engine-strict", "--install-strategy=hoisted", "--no-save", "--prefer-online"];
  await run(["install", ...how, wanted], { signal, folder });
  await assertHashes(folder);
}

const installed = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      inBundle: z.boolean().optional(),
    }),
  ),
});

/** npm checks what it downloads by the hash that the registry names, and takes it unchecked where there is none. */
async function assertHashes(folder: string): Promise<void> {
  const text = await readFile(join(folder, "node_modules", ".package-lock.json"), "utf8");
  for (const [place, { resolved = "", integrity = "", inBundle }] of Object.entries(
    installed.parse(JSON.parse(text)).packages,
  ))
    if (!resolved.startsWith("file:") && inBundle !== true && !/\bsha(?:512|384|256)-/.test(integrity))
      throw new UpdateError(
        `The package registry names no hash of ${place.replace(/^.*node_modules\//, "")}, so what was downloaded cannot be checked. Use another registry, or a file that you have checked yourself: maxclaw update --from FILE.`,
      );
}

async function run(args: readonly string[], options: NpmOptions): Promise<string> {
  try {
    return await runNpm(args, options);
  } catch (error) {
    if (error instanceof NpmError) throw new UpdateError(error.message, { cause: error });
    throw error;
  }
}
