import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isNotInstalled } from "../not-installed.js";
import { homePackages, loaderName } from "./folder.js";

/**
 * Imports a package that is not part of the program: the one beside it, else the one in the home.
 *
 * @throws what `isNotInstalled` knows, where there is none
 */
export async function loadPackage(specifier: string, home: string | undefined): Promise<unknown> {
  try {
    return await import(specifier);
  } catch (error) {
    const folder = homePackages(home);
    if (!isNotInstalled(error) || folder === undefined) throw error;
    const loader: unknown = await import(pathToFileURL(join(folder, loaderName)).href);
    return await loadOf(loader)(specifier);
  }
}

function loadOf(module: unknown): (specifier: string) => Promise<unknown> {
  const load: unknown = typeof module === "object" && module !== null ? Reflect.get(module, "load") : undefined;
  if (typeof load !== "function") throw new TypeError("The packages of the home cannot be loaded. Add them again.");
  return (specifier) => load(specifier);
}
