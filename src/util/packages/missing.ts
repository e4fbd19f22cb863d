import { findPackage } from "./folder.js";
import { type PackageOption, packageOptions } from "./options.js";

/** What to run so that all packages of this option are there, as a sentence; undefined: they are, or it needs none. */
export function whatToAdd(
  option: string | undefined,
  home: string | undefined,
  options: Readonly<Record<string, PackageOption>> = packageOptions,
): string | undefined {
  if (option === undefined) return undefined;
  const packages = options[option]?.packages ?? [];
  const missing = packages.filter((name) => findPackage(name, home) === undefined);
  if (missing.length === 0) return undefined;
  const what = missing.length === 1 ? "the package" : "the packages";
  return `${what} ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not installed. Run: maxclaw add ${option}, then restart the gateway`;
}
