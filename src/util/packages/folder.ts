import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { readPlain } from "../files/real-path.js";

/** Below the home: what `maxclaw add` has installed. */
export const packagesFolder = "packages";
/** In it: which of its folders is in use. It is replaced as a whole, so that what it names is complete at any moment. */
export const currentName = "current.json";
/** In a folder with packages: imports one of them as if it had been asked for there. */
export const loaderName = "load.mjs";
export const loaderSource = "export const load = (specifier) => import(specifier);\n";

const current = z.object({
  /** A name below `packages`. */
  folder: z.string().regex(/^[a-z0-9_]+$/),
  /** The names that were given to `maxclaw add`. */
  options: z.array(z.string()),
});
export type CurrentPackages = z.output<typeof current>;

/** What is in use of a home's packages; undefined where nothing was added. @throws what the file system or JSON says about a broken file */
export function readCurrent(home: string): CurrentPackages | undefined {
  const file = join(home, packagesFolder, currentName);
  if (!existsSync(file)) return undefined;
  return current.parse(JSON.parse(readPlain(file).toString()));
}

/** The folder that holds `node_modules` with the home's packages; undefined where there is none that can be read. */
export function homePackages(home: string | undefined): string | undefined {
  if (home === undefined) return undefined;
  try {
    const found = readCurrent(home);
    return found === undefined ? undefined : join(home, packagesFolder, found.folder);
  } catch {
    // `maxclaw status` tells what is wrong with it; here its packages are not there.
    return undefined;
  }
}

/** Where Node looks for packages from a folder on. */
function foldersAbove(folder: string): readonly string[] {
  const above = dirname(folder);
  return [join(folder, "node_modules"), ...(above === folder ? [] : foldersAbove(above))];
}

/** Where an optional package is: beside the program, or in the home. Undefined: nowhere. Loads nothing. */
export function findPackage(name: string, home: string | undefined): string | undefined {
  const roots = foldersAbove(dirname(fileURLToPath(import.meta.url)));
  const own = homePackages(home);
  const places = own === undefined ? roots : [...roots, join(own, "node_modules")];
  return places.map((root) => join(root, name)).find((folder) => existsSync(join(folder, "package.json")));
}
